// Random guard trees over the values of the oracle.
// SPDX-License-Identifier: MIT
#pragma once
#include <cstdlib>
#include <random>

#include "oracle.h"

namespace guardtree::tests {

/// A number from the environment.
inline unsigned long setting(const char* name, unsigned long otherwise) {
    const char* chosen = std::getenv(name);
    return chosen ? std::strtoul(chosen, nullptr, 10) : otherwise;
}

/// Random trees over three locals, two globals, a builtin and f_locals.
class RandomTree {
public:
    RandomTree(Guards& guards, std::mt19937& random)
        : guards_(guards), random_(random) {
        // Where others are in front, hardly a walk comes to the last name or item.
        const int chosen = below(12);
        const bool is_of_items = chosen == 0;
        const bool is_of_names = chosen == 1 || chosen == 2;
        const int rows = is_of_names || is_of_items ? 0 : 1 + below(6);
        for (int row = 0; row < rows; ++row) grow();
        if (is_of_items || below(4) == 0) add_items();
        if (is_of_names || below(6) == 0) add_names();
        if (below(3) == 0) relate();
        guards.program();
    }

    /// Counts that put nodes and checks into any order.
    FailureCounts any_counts() {
        FailureCounts counts;
        counts.nodes.resize(guards_.tree.node_count());
        counts.checks.resize(guards_.tree.check_count());
        for (uint64_t& each : counts.nodes) each = random_() % 8;
        for (uint64_t& each : counts.checks) each = random_() % 8;
        return counts;
    }

private:
    int below(int limit) {
        return std::uniform_int_distribution(0, limit - 1)(random_);
    }

    const std::string& any(const std::vector<std::string>& of) {
        return of[static_cast<size_t>(below(static_cast<int>(of.size())))];
    }

    /// A node that is there; node 0 when there is none.
    NodeId any_node() {
        const auto present = static_cast<int>(guards_.tree.node_count());
        return present > 1 ? static_cast<NodeId>(1 + below(present - 1)) : 0;
    }

    NodeId any_root() {
        static const std::vector<std::string> roots = {
            "local('x')",     "local('x')",       "local('y')",     "local('z')",
            "global('user')", "global('absent')", "builtin('len')", "f_locals()"};
        return guards_.node({any(roots)});
    }

    void grow() {
        static const std::vector<std::string> kinds = all_kinds();
        static const std::vector<std::string> steps = all_value_steps();
        // Half of the paths go on from one that is there, so that nodes have several
        // users.
        NodeId node = below(2) ? any_node() : 0;
        if (node == 0) node = any_root();
        for (int depth = below(3); depth > 0; --depth) {
            Diagnostic problem;
            guards_.tree.child(node, guards_.op(any(steps)), node, problem);
        }
        // Checks that tend to pass, so that walks get somewhere.
        if (below(3))
            guards_.check(node, "is_not_none()");
        else
            guards_.check(node, any(kinds));
    }

    /// Runs of type matches: what the compiler makes blocks of.
    void add_items() {
        static const std::vector<std::string> types = {"int", "int", "str", "list"};
        static const std::vector<std::string> locals = {"local('x')", "local('y')",
                                                        "local('z')"};
        const NodeId parent = guards_.node({any(locals)});
        const bool is_list = below(2);
        for (int i = below(2); i < 2 + below(3); ++i) {
            const std::string step = std::string(is_list ? "list" : "tuple") +
                                     "_item(" + std::to_string(i) + ")";
            NodeId node = 0;
            Diagnostic problem;
            guards_.tree.child(parent, guards_.op(step), node, problem);
            guards_.check(node, "type_match(" + any(types) + ")");
        }
        if (below(2)) return;  // with the checks below, hardly any walk passes
        for (const std::string& local : locals) {
            if (below(2)) guards_.check(guards_.node({local}), "type_match(int)");
        }
    }

    /// Likewise runs of names. Most of these checks hold of most of NAMED.
    void add_names() {
        static const std::vector<std::vector<std::string>> checks = {
            {"type_match(int)", "equals(1)", "equals(1)", "equals(True)"},
            {"equals('a')", "equals('a')", "type_match(str)", "length(1)"},
            {"is_none()", "is_none()", "is_true()", "is_not_none()"},
            {"type_match(dict)", "type_match(dict)", "length(1)", "is_false()"}};
        const NodeId parent = any_root();
        const bool of_dict = below(2);
        const bool is_mixed = below(6) == 0;
        const size_t skipped = static_cast<size_t>(below(6));
        for (size_t i = 0; i < checks.size(); ++i) {
            if (i == skipped) continue;
            NodeId node = 0;
            Diagnostic problem;
            const bool other = is_mixed && below(2);
            std::string step = of_dict != other ? "dict_item('" : "instance_attr('";
            step += static_cast<char>('a' + i);
            guards_.tree.child(parent, guards_.op(step + "')"), node, problem);
            guards_.check(node, any(checks[i]));
            if (i + 1 < checks.size() || below(2)) continue;
            const bool has_length = below(2);  // with the type, a row of two checks
            if (has_length)
                guards_.check(node, "length(1)");
            else
                guards_.tree.child(node, guards_.op("dict_item('a')"), node, problem);
            if (has_length && below(2)) continue;
            guards_.check(node, below(2) ? "is_not_none()" : "equals(1)");
        }
    }

    void relate() {
        static const std::vector<std::string> relations = {
            "same_object()",
            "distinct_objects()",
            "integers('a < b + 2')",
            "integers('a * 3 - b == a // 2 or len(b) > a')",
            "overlapping_memory(())",
            "integers('a.shape[0] <= b.ndim + 1')",
            "integers('0 <= a < b')",
            "integers('len(a) == len(b) or not a % b < 1')",
            "integers('stride_of(a, 0) > b.shape[0]')"};
        const NodeId nodes[] = {any_node(), any_node()};
        Diagnostic problem;
        guards_.tree.relate(guards_.op(any(relations)), nodes, problem);
    }

    Guards& guards_;
    std::mt19937& random_;
};

}  // namespace guardtree::tests
