// Random trees written as text and as JSON and read again; Python evaluates the texts.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "../../dsl/json/reader.h"
#include "../../dsl/json/writer.h"
#include "../../dsl/text/text.h"
#include "../../guards/ops/named_op.h"
#include "../support/random_tree.h"

namespace guardtree::tests {
namespace {

class RandomText : public Oracle {
protected:
    void SetUp() override {
        Oracle::SetUp();
        const Owned<> rows = names.eval("ROWS");
#define X(type, stem) add_row(rows.get(), type::info, operands_of(code_of<type>));
        GUARDTREE_OPS(X)
#undef X
    }

    static void add_row(PyObject* rows, const Info& info,
                        std::span<const NamedOperand> operands) {
        auto list = Owned<>::steal(PyList_New(0));
        for (const NamedOperand& each : operands) {
            PyList_Append(list.get(), str(std::string(each.name)).get());
        }
        const auto operand_names = Owned<>::steal(PyList_AsTuple(list.get()));
        const Owned<> python = str(std::string(info.python));
        const Owned<> row = tuple_of({python.get(), operand_names.get()});
        PyDict_SetItem(rows, str(std::string(info.name)).get(), row.get());
    }

    Owned<> any_locals(std::mt19937& random) {
        std::uniform_int_distribution<Py_ssize_t> any(0, value_count - 1);
        PyObject* z = random() % 4 ? value(any(random)) : nullptr;
        return locals({value(any(random)), value(any(random)), z});
    }

    static Owned<> given_of(const GuardText& text) {
        auto given = Owned<>::steal(PyDict_New());
        for (const auto& [name, object] : text.names) {
            PyDict_SetItemString(given.get(), name.c_str(), object.get());
        }
        return given;
    }

    bool passes_in_python(const GuardText& text, PyObject* given, PyObject* locals) {
        const Owned<> source = str(text.text);
        const Owned<> arguments = tuple_of(
            {source.get(), given, locals, names.dict(), Namespace::builtins()});
        const auto answer = Owned<>::steal(
            PyObject_CallObject(names.eval("text_passes").get(), arguments.get()));
        if (!answer) throw PythonError(taken_error_text());
        return answer.get() == Py_True;
    }

    void expect_round_trip(const Guards& guards, const GuardText& text,
                           PyObject* given) {
        Tree read;
        Diagnostic problem;
        ASSERT_TRUE(parse_guards(text.text, {guards.scope(), given}, read, problem))
            << problem.message << "\n"
            << guards.tree.text();
        ASSERT_TRUE(same_tree(guards.tree, read)) << text.text << "\n"
                                                  << guards.tree.text() << read.text();
    }

    /// What can be written as JSON is read as the same bytes, and the same tree when
    /// that is all of it.
    void expect_json_round_trip(const Tree& tree) {
        std::string text;
        std::string again;
        std::vector<std::string> dropped;
        std::vector<std::string> none;
        Diagnostic problem;
        ASSERT_TRUE(to_json(tree, {.drop_unportable = true}, text, dropped, problem))
            << problem.message;
        Tree read;
        ASSERT_TRUE(from_json(text, {.allow_calls = true}, read, problem))
            << problem.message << "\n"
            << text;
        ASSERT_TRUE(to_json(read, {}, again, none, problem)) << problem.message;
        ASSERT_EQ(text, again);
        if (dropped.empty()) {
            ASSERT_TRUE(same_tree(tree, read)) << tree.text() << read.text();
            ++whole_in_json_;
        }
    }

    /// Python evaluates a path again for each claim, the tree fetches it once: where a
    /// step makes another object each time (the oracle's type_dict copies), identities
    /// differ. Those of variables do not.
    static bool may_differ(const Tree& tree) {
        const auto makes_objects = [&](NodeId id) { return tree.node(id).parent != 0; };
        return std::ranges::any_of(tree.relations(), [&](const RelationCheck& each) {
            return each.relation.code() != code_of<Integers> &&
                   std::ranges::any_of(each.nodes, makes_objects);
        });
    }

    void run(unsigned long cases, unsigned seed) {
        constexpr unsigned long values_of_a_tree = 3;
        std::mt19937 random(seed);
        for (unsigned long done = 0; done < cases; ++done) {
            Guards guards(names);
            const RandomTree tree(guards, random);
            const GuardText text = text_of(guards.tree, guards.scope());
            const Owned<> given = given_of(text);
            expect_round_trip(guards, text, given.get());
            expect_json_round_trip(guards.tree);
            if (HasFatalFailure()) return;
            if (may_differ(guards.tree)) continue;
            for (unsigned long i = 0; i < values_of_a_tree; ++i) {
                if (HasFatalFailure()) return;
                const Owned<> chosen = any_locals(random);
                ASSERT_EQ(guards.verdict(chosen.get()) == Verdict::pass,
                          passes_in_python(text, given.get(), chosen.get()))
                    << text.text << "\n"
                    << guards.tree.text() << "locals: " << short_repr(chosen.get());
            }
            if (text.text.find("guard.") != std::string::npos) ++explicit_count_;
        }
        std::printf("of %lu trees %lu have words of their own, %lu are whole in JSON\n",
                    cases, explicit_count_, whole_in_json_);
        EXPECT_GT(whole_in_json_, cases / 10);
    }

    unsigned long explicit_count_ = 0;
    unsigned long whole_in_json_ = 0;
};

TEST_F(RandomText, is_read_as_the_tree_that_it_was_written_of) {
    const auto seed =
        static_cast<unsigned>(setting("GUARDTREE_TEST_SEED", std::random_device()()));
    // A tree takes many times as long as a case of the other random tests.
    const unsigned long cases = setting("GUARDTREE_TEST_CASES", 6000) / 50;
    std::printf("GUARDTREE_TEST_SEED=%u repeats these %lu trees\n", seed, cases);
    SCOPED_TRACE("GUARDTREE_TEST_SEED=" + std::to_string(seed));
    run(cases, seed);
}

}  // namespace
}  // namespace guardtree::tests
