// Random trees on random values against the oracle: in the order of their making and
// fail-first, evaluated and explained; and nothing is left behind.
// SPDX-License-Identifier: MIT
//
// GUARDTREE_TEST_CASES=<n> cases (a tree on a value) instead of a few thousand;
// GUARDTREE_TEST_SEED=<n> repeats a run.
#include <gtest/gtest.h>

#include "../../guards/run/evaluate.h"
#include "../support/random_tree.h"

namespace guardtree::tests {
namespace {

class RandomTrees : public Oracle {
protected:
    Owned<> any_locals(std::mt19937& random) {
        const auto any = [&] {
            const Py_ssize_t count = random() % 4 ? value_count : named_count;
            return value(
                std::uniform_int_distribution<Py_ssize_t>(0, count - 1)(random));
        };
        PyObject* x = any();
        PyObject* y = any();
        return locals({x, y, random() % 4 ? any() : nullptr});
    }

    void expect_agreement_in_any_order(Guards& guards, const Printed& printed,
                                       RandomTree& tree, PyObject* locals) {
        expect_agreement(guards, printed, locals);
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
            const Printed as_text = printed(guards);
            for (unsigned long i = 0; i < values_of_a_tree; ++i) {
                const Owned<> chosen = any_locals(random);
                expect_agreement_in_any_order(guards, as_text, tree, chosen.get());
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
            "del each; code_of.cache_clear(); code_beyond.cache_clear(); gc.collect()");
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
    // NumPy, and CPython 3.15, are slow to fill caches. What leaks grows every time.
    long growth = 0;
    for (int attempt = 0; attempt < 12; ++attempt) {
        const long before = blocks();
        for (int i = 0; i < 3; ++i) run(cases, seed);
        growth = blocks() - before;
        if (growth < 60) return;
    }
    FAIL() << growth << " more blocks of memory after each 3600 cases";
}

}  // namespace
}  // namespace guardtree::tests
