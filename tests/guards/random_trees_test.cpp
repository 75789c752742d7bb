// Random trees on random values against the oracle: in the order of their making and
// fail-first, evaluated and explained; and nothing is left behind.
// SPDX-License-Identifier: MIT
//
// GUARDTREE_TEST_CASES=<n> cases (a tree on a value) instead of a few thousand;
// GUARDTREE_TEST_SEED=<n> repeats a run.
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "../../guards/evaluate.h"
#include "../support/oracle.h"

namespace guardtree::tests {
namespace {

unsigned long setting(const char* name, unsigned long otherwise) {
    const char* chosen = std::getenv(name);
    return chosen ? std::strtoul(chosen, nullptr, 10) : otherwise;
}

/// Random trees over three locals, two globals, a builtin and f_locals.
class RandomTree {
public:
    RandomTree(Guards& guards, std::mt19937& random)
        : guards_(guards), random_(random) {
        const int rows = 1 + below(6);
        for (int row = 0; row < rows; ++row) grow();
        if (below(4) == 0) add_items();
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
        const NodeId parent = any_root();
        const bool is_list = below(2);
        for (int i = below(2); i < 2 + below(3); ++i) {
            const std::string step = std::string(is_list ? "list" : "tuple") +
                                     "_item(" + std::to_string(i) + ")";
            NodeId node = 0;
            Diagnostic problem;
            guards_.tree.child(parent, guards_.op(step), node, problem);
            guards_.check(node, "type_match(" + any(types) + ")");
        }
        for (const char* local : {"local('x')", "local('y')", "local('z')"}) {
            if (below(2)) guards_.check(guards_.node({local}), "type_match(int)");
        }
    }

    void relate() {
        static const std::vector<std::string> relations = {
            "same_object()",          "distinct_objects()",
            "integers('a < b + 2')",  "integers('a * 3 - b == a // 2 or len(b) > a')",
            "overlapping_memory(())", "integers('a.shape[0] <= b.ndim + 1')",
            "integers('0 <= a < b')", "integers('len(a) == len(b) or not a % b < 1')"};
        const NodeId nodes[] = {any_node(), any_node()};
        Diagnostic problem;
        guards_.tree.relate(guards_.op(any(relations)), nodes, problem);
    }

    Guards& guards_;
    std::mt19937& random_;
};

class RandomTrees : public Oracle {
protected:
    Owned<> any_locals(std::mt19937& random) {
        std::uniform_int_distribution<Py_ssize_t> any(0, value_count - 1);
        PyObject* z = random() % 4 ? value(any(random)) : nullptr;
        return locals({value(any(random)), value(any(random)), z});
    }

    void expect_agreement_in_any_order(Guards& guards, RandomTree& tree,
                                       PyObject* locals) {
        expect_agreement(guards, locals);
        Program program;
        Diagnostic problem;
        const FailureCounts counts = tree.any_counts();
        ASSERT_TRUE(
            Program::compile(guards.tree, guards.code(), program, problem, &counts));
        const MappingScene scene(guards.scope(), locals, program.names());
        auto values = scratch(program.value_count());
        Owned<> error;
        const Verdict verdict = evaluate(program, scene.view(), values.data(), error);
        ASSERT_EQ(text(verdict), text(guards.verdict(locals)))
            << "another order, another answer\n"
            << guards.tree.text() << "locals: " << short_repr(locals);
    }

    void run(unsigned long cases, unsigned seed) {
        constexpr unsigned long values_of_a_tree = 6;
        std::mt19937 random(seed);
        for (unsigned long done = 0; done < cases; done += values_of_a_tree) {
            Guards guards(names);
            RandomTree tree(guards, random);
            for (unsigned long i = 0; i < values_of_a_tree; ++i) {
                const Owned<> chosen = any_locals(random);
                expect_agreement_in_any_order(guards, tree, chosen.get());
                if (HasFatalFailure()) return;
            }
        }
    }

    /// Blocks of memory in use, but for tracebacks: an exception that is raised again
    /// and again, as some values' are, gathers them.
    long blocks() {
        names.run(
            "import gc, sys\n"
            "for each in gc.get_objects():\n"
            "  if isinstance(each, BaseException):\n"
            "    each.__traceback__ = each.__context__ = None\n"
            "del each; code_of.cache_clear(); gc.collect()");
        return PyLong_AsLong(names.eval("sys.getallocatedblocks()").get());
    }
};

TEST_F(RandomTrees, agree_with_the_oracle_in_any_order) {
    const auto seed =
        static_cast<unsigned>(setting("GUARDTREE_TEST_SEED", std::random_device()()));
    const unsigned long cases = setting("GUARDTREE_TEST_CASES", 6000);
    std::printf("GUARDTREE_TEST_SEED=%u repeats these %lu cases\n", seed, cases);
    SCOPED_TRACE("GUARDTREE_TEST_SEED=" + std::to_string(seed));
    run(cases, seed);
}

TEST_F(RandomTrees, leave_nothing_behind) {
    constexpr unsigned seed = 7;
    constexpr unsigned long cases = 1200;
    run(cases, seed);  // fills caches of the oracle and of CPython
    blocks();          // the first look at all objects makes some, on 3.15
    // NumPy is slow to fill its caches. What leaks grows every time.
    long growth = 0;
    for (int attempt = 0; attempt < 4; ++attempt) {
        const long before = blocks();
        for (int i = 0; i < 3; ++i) run(cases, seed);
        growth = blocks() - before;
        if (growth < 60) return;
    }
    FAIL() << growth << " more blocks of memory after each 3600 cases";
}

}  // namespace
}  // namespace guardtree::tests
