// Random tables on random values: the look-up gives what trying all entries gives, and
// runs the same user code on the way.
// SPDX-License-Identifier: MIT
//
// GUARDTREE_TEST_CASES=<n> look-ups instead of a few thousand; GUARDTREE_TEST_SEED=<n>
// repeats a run.
#include <gtest/gtest.h>

#include "../../guards/lookup/lookup.h"
#include "../support/random_tree.h"

namespace guardtree::tests {
namespace {

/// What a look-up did: the entry found, errors kept, user code run.
struct Trace {
    const Entry* found = nullptr;
    std::vector<uint64_t> errors;
    std::string calls;

    friend bool operator==(const Trace&, const Trace&) = default;
};

class RandomTables : public Oracle {
protected:
    void SetUp() override {
        Oracle::SetUp();
        names.run(
            "calls, box = [], [0]\n"
            "def remembers(value):\n"
            "  calls.append(short(value)); return len(calls) % 7 == 0\n"
            "def short(value): return type(value).__name__\n"
            "def changes(value):\n"
            "  calls.append('box'); box[0] = (box[0] + 1) % 3; return False\n"
            "class Mortal: pass\n"
            "mortals = [Mortal() for _ in range(12)]\n");
    }

    static int below(std::mt19937& random, int limit) {
        return std::uniform_int_distribution(0, limit - 1)(random);
    }

    static const std::string& any(std::mt19937& random,
                                  const std::vector<std::string>& of) {
        return of[static_cast<size_t>(below(random, static_cast<int>(of.size())))];
    }

    /// Guards that tables like to ask about, on paths that entries share.
    void add_keyed(Guards& guards, std::mt19937& random) {
        static const std::vector<std::string> kinds = [] {
            std::vector<std::string> calls;
            append_calls<TypeMatch>(calls);
            append_calls<Equals>(calls);
            append_calls<IdMatch>(calls);
            append_calls<IsNone>(calls);
            append_calls<IsTrue>(calls);
            append_calls<Length>(calls);
            append_calls<OneOf>(calls);
            append_calls<TensorMatch>(calls);
            return calls;
        }();
        static const std::vector<std::string> steps = {"list_item(0)", "tuple_item(1)",
                                                       "type()", "dict_item('a')",
                                                       "instance_attr('a')"};
        if (below(random, 3) == 0) {
            const std::string number = std::to_string(below(random, mortal_count));
            guards.check(guards.node({"local('x')"}),
                         "id_match(mortals[" + number + "])");
            return;
        }
        for (int row = below(random, 2) ? 1 : 3; row > 0; --row) {
            NodeId node = guards.node({any(random, {"local('x')", "local('y')"})});
            Diagnostic problem;
            if (below(random, 3) == 0)
                guards.tree.child(node, guards.op(any(random, steps)), node, problem);
            guards.check(node, any(random, kinds));
        }
        if (below(random, 8) == 0) {
            guards.check(guards.node({"local('x')"}),
                         below(random, 2) ? "python(remembers)" : "python(changes)");
        }
        if (below(random, 8) == 0) {
            guards.check(guards.node({"global('box')", "list_item(0)"}),
                         any(random, {"equals(0)", "equals(1)", "equals(2)"}));
        }
    }

    Program any_program(std::mt19937& random) {
        Guards guards(names);
        if (below(random, 3))
            add_keyed(guards, random);
        else
            RandomTree(guards, random);
        Program program;
        Diagnostic problem;
        if (!Program::compile(guards.tree, guards.code(), program, problem))
            throw PythonError(problem.message);
        return program;
    }

    Shared<Table> any_table(std::mt19937& random) {
        auto table = make_shared_counted<Table>();
        for (int left = 1 + below(random, 60); left > 0; --left) {
            table = table->with(
                make_shared_counted<Entry>(any_program(random), Owned<>(), Owned<>()));
        }
        return table;
    }

    Owned<> any_locals(std::mt19937& random) {
        std::uniform_int_distribution<Py_ssize_t> any(0, value_count - 1);
        Owned<> x = Owned<>::share(value(any(random)));
        if (below(random, 3) == 0) {
            const std::string number = std::to_string(below(random, mortal_count));
            x = names.eval("mortals[" + number + "]");
        }
        return locals({x.get(), value(any(random)), value(any(random))});
    }

    /// What entries are about dies, and others take its place, its memory too.
    void kill_some(std::mt19937& random) {
        const std::string first = std::to_string(below(random, mortal_count));
        names.run("for i in range(" + first + ", min(" + first +
                  " + 3, len(mortals))): mortals[i] = None\n"
                  "mortals[:] = [each or Mortal() for each in mortals]\n");
    }

    Trace trace_of(const Table& table, const View& view, bool scans) {
        names.run("calls.clear(); box[0] = 0");
        for (const auto& entry : table.entries()) entry->errors = 0;
        const auto mode = scans ? Lookup::Mode::user_code : Lookup::mode_of(table);
        auto room = scratch(Lookup::room(table, view, mode));
        Trace trace;
        Lookup lookup(table, view, room.data(), mode);
        trace.found = scans ? lookup.find_by_scan() : lookup.find();
        if (PyErr_Occurred()) throw PythonError(taken_error_text());
        for (const auto& entry : table.entries()) trace.errors.push_back(entry->errors);
        trace.calls = text_of_str(names.eval("' '.join(calls)").get());
        return trace;
    }

    void expect_the_same(const Table& table, PyObject* locals) {
        std::vector<SlotName> wanted;
        for (const auto& entry : table.entries()) {
            const auto more = entry->program.names();
            wanted.insert(wanted.end(), more.begin(), more.end());
        }
        const MappingScene scene(scope_.scope(), locals, wanted);
        const Trace expected = trace_of(table, scene.view(), true);
        const Trace found = trace_of(table, scene.view(), false);
        ASSERT_EQ(found, expected)
            << described(table, expected.found) << "instead of\n"
            << described(table, found.found) << "locals: " << short_repr(locals);
        decided_ += table.decision() != nullptr;
        hits_ += found.found != nullptr;
        for (const uint64_t each : found.errors) errors_ += each != 0;
    }

    static std::string described(const Table& table, const Entry* entry) {
        for (size_t i = 0; i < table.entries().size(); ++i) {
            if (table.entries()[i].get() != entry) continue;
            std::string text = "entry " + std::to_string(i) + "\n";
            const Program& program = entry->program;
            for (size_t op = 0; op < program.ops().size(); ++op) {
                if (program.ops()[op].is_internal()) continue;
                text += "  " + program.claim_text(op) + "\n";
            }
            return text;
        }
        return "no entry\n";
    }

    static constexpr int mortal_count = 12;

    Guards scope_{names};
    unsigned long decided_ = 0;
    unsigned long hits_ = 0;
    unsigned long errors_ = 0;
    unsigned long dead_ = 0;
};

TEST_F(RandomTables, find_what_trying_all_entries_finds) {
    const auto seed =
        static_cast<unsigned>(setting("GUARDTREE_TEST_SEED", std::random_device()()));
    const unsigned long cases = setting("GUARDTREE_TEST_CASES", 6000) / 4;
    std::printf("GUARDTREE_TEST_SEED=%u repeats these %lu look-ups\n", seed, cases);
    SCOPED_TRACE("GUARDTREE_TEST_SEED=" + std::to_string(seed));
    constexpr unsigned long lookups_of_a_table = 50;
    std::mt19937 random(seed);
    for (unsigned long done = 0; done < cases; done += lookups_of_a_table) {
        const Shared<Table> table = any_table(random);
        for (unsigned long i = 0; i < lookups_of_a_table; ++i) {
            if (i % 20 == 19) kill_some(random);
            dead_ += table->has_dead();
            expect_the_same(*table, any_locals(random).get());
            if (HasFatalFailure()) return;
        }
    }
    EXPECT_GT(decided_, cases / 8) << "tables without a decision show nothing";
    EXPECT_GT(hits_, cases / 40);
    EXPECT_GT(errors_, 0u);
    EXPECT_GT(dead_, cases / 8);
}

}  // namespace
}  // namespace guardtree::tests
