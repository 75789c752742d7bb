// Relations: the same questions to each, asked with its own examples; and in trees.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

/// A case of a relation: its call, the values, the answer.
struct Case {
    std::string name;
    std::string call;
    std::string values;
    bool passes;
};

template <class... Rs>
std::vector<Case> cases_of(TypeList<Rs...>) {
    std::vector<Case> cases;
    const auto add = [&]<class R>(const R*) {
        for (const RelationExample& example : R::examples) {
            const std::string call =
                std::string(R::info.name) + "(" + std::string(example.operands) + ")";
            cases.push_back(
                {std::string(R::info.name), call, std::string(example.pass), true});
            cases.push_back(
                {std::string(R::info.name), call, std::string(example.fail), false});
        }
    };
    (add(static_cast<const Rs*>(nullptr)), ...);
    return cases;
}

class Relations : public Interpreter {
protected:
    void SetUp() override { names.load_oracle(); }

    /// The relation over the items of a tuple in local x.
    static NodeId item(Guards& guards, Py_ssize_t index) {
        return guards.node({"local('x')", "tuple_item(" + std::to_string(index) + ")"});
    }

    Namespace names;
};

TEST_F(Relations, answer_their_examples_as_documented_and_as_the_oracle) {
    for (const Case& each : cases_of(AllRelations{})) {
        SCOPED_TRACE(each.call + " over " + each.values);
        if (!can_run(each.values)) continue;
        const Owned<> values = names.eval(each.values);
        Guards guards(names);
        std::vector<NodeId> nodes;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(values.get()); ++i) {
            nodes.push_back(item(guards, i));
        }
        Diagnostic problem;
        ASSERT_TRUE(guards.tree.relate(guards.op(each.call), nodes, problem))
            << problem.message;
        const std::string locals = "{'x': " + each.values + "}";
        EXPECT_EQ(guards.verdict(locals), each.passes ? Verdict::pass : Verdict::fail);
        names.set("x", values.get());
        const std::string text = guards.tree.relation_text(0);
        EXPECT_EQ(
            names.is_true(
                "holds(" +
                text_of_str(
                    Owned<>::steal(
                        PyObject_Repr(
                            Owned<>::steal(PyUnicode_FromString(text.c_str())).get()))
                        .get()) +
                ", globals())"),
            each.passes)
            << text;
        const Explanation explanation = guards.explained(locals);
        EXPECT_EQ(explanation.verdict, each.passes ? Verdict::pass : Verdict::fail);
        if (each.passes) continue;
        ASSERT_EQ(explanation.failures.size(), 1u);
        EXPECT_EQ(explanation.failures[0].python, text);
        EXPECT_EQ(explanation.failures[0].kind, each.name);
    }
}

TEST_F(Relations, read_values_that_many_steps_apart_fetch) {
    Guards guards(names);
    guards.guard({"local('x')", "list_item(0)", "list_item(0)", "type_match(int)"});
    guards.guard({"local('y')", "list_item(0)", "list_item(1)", "type_match(int)"});
    guards.guard({"local('z')", "python(callable)"});
    guards.relate("same_object()",
                  {{"local('x')", "list_item(0)"}, {"local('y')", "list_item(0)"}});
    guards.relate("integers('a == b * 2')",
                  {{"local('x')", "list_item(0)", "list_item(0)"},
                   {"local('y')", "list_item(0)", "list_item(1)"}});
    names.run("p = [6, 3]; q = [6, 3]; r = [6, 4]");
    EXPECT_EQ(guards.verdict("{'x': [p], 'y': [p], 'z': len}"), Verdict::pass);
    EXPECT_EQ(guards.verdict("{'x': [p], 'y': [q], 'z': len}"), Verdict::fail);
    EXPECT_EQ(guards.verdict("{'x': [r], 'y': [r], 'z': len}"), Verdict::fail);
    EXPECT_EQ(guards.verdict("{'x': [], 'y': [q], 'z': len}"), Verdict::fail);
}

TEST_F(Relations, with_a_value_missing_are_explained_after_the_missing_path) {
    Guards guards(names);
    guards.relate("distinct_objects()",
                  {{"local('x')", "list_item(3)"}, {"local('y')"}});
    const Explanation explanation = guards.explained("{'x': [1], 'y': 2}");
    ASSERT_EQ(explanation.failures.size(), 2u);
    EXPECT_EQ(explanation.failures[0].kind, "list_item");
    EXPECT_EQ(explanation.failures[1].kind, "distinct_objects");
    EXPECT_EQ(explanation.failures[1].found,
              "list.__getitem__(x, 3) is missing, y = 2 (int)");
    EXPECT_EQ(guards.verdict("{'x': [1], 'y': 2}"), Verdict::fail);
    EXPECT_EQ(guards.explained("{'y': 2}").failures.size(), 2u);
}

TEST_F(Relations, of_distinct_objects_find_any_two_of_any_number) {
    for (const size_t count : {2u, 3u, 12u, 13u, 64u, 65u, 512u, 513u, 2000u}) {
        const Owned<> list = names.eval("[object() for _ in range(2000)]");
        const auto values = [&] {
            std::vector<PyObject*> all;
            for (size_t i = 0; i < count; ++i) {
                all.push_back(PyList_GET_ITEM(list.get(), static_cast<Py_ssize_t>(i)));
            }
            return all;
        };
        std::vector<PyObject*> distinct = values();
        EXPECT_TRUE(DistinctObjects{}.check(distinct)) << count;
        for (const size_t place : {size_t{0}, (count - 2) / 2, count - 2}) {
            std::vector<PyObject*> repeating = values();
            repeating[place] = repeating.back();
            EXPECT_FALSE(DistinctObjects{}.check(repeating)) << count << " " << place;
        }
    }
}

TEST_F(Relations, refuse_numbers_of_values_that_do_not_suit_them) {
    Guards guards(names);
    EXPECT_THROW(guards.relate("same_object()", {{"local('x')"}}), PythonError);
    EXPECT_THROW(guards.relate("integers('a < b')", {{"local('x')"}}), PythonError);
    Diagnostic problem;
    const NodeId root[] = {0, 0};
    EXPECT_FALSE(guards.tree.relate(guards.op("same_object()"), root, problem));
    EXPECT_EQ(problem.message, "same_object relates values; the root is none");
}

}  // namespace
}  // namespace guardtree::tests
