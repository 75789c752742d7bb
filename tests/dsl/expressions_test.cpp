// The DSL in C++: what operands may be, integer claims, objects, refusals. Its words
// are in words_test.cpp, what must not compile in does_not_compile/.
// SPDX-License-Identifier: MIT
#include "../../dsl/cpp/expressions.h"

#include <gtest/gtest.h>

#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

using namespace guardtree::dsl;

// A tree of literals and placeholders is a constant.
constexpr auto expected_type = placeholder<0>;
constexpr auto sample =
    tree(local("x").type_match(expected_type).equals(3),
         local("y").attr("training").is_true(), same_object(local("y"), local("z")),
         local("z").length(2).item(0).type_match(&PyFloat_Type),
         local("x") % 8 == 3 && length(local("z")) > 1);

static_assert(has_role<std::remove_const_t<decltype(sample)>, Role::claim>);
static_assert(std::remove_cvref_t<decltype(words_of(sample))>::placeholders == 1);
static_assert(std::is_trivially_copyable_v<decltype(sample)>);
static_assert(has_role<decltype(local("x").attr("y")), Role::path>);
static_assert(has_role<decltype(local("x").size(0)), Role::dimension>);
static_assert(has_role<decltype(local("x").stride(0)), Role::dimension>);
static_assert(has_role<decltype(local("x").size(placeholder<0>)), Role::path>);
static_assert(has_role<decltype(local("x").size(0).is_none()), Role::checked>);
static_assert(has_role<decltype(length(local("x")) + 1), Role::number>);
static_assert(has_role<decltype(1 < local("x")), Role::integer_claim>);
static_assert(!std::is_constructible_v<bool, decltype(local("x") == 3)>);
static_assert(!std::is_constructible_v<bool, decltype(local("x").is_none())>);

// The operand types of this room below, as what they may be written as.
static_assert(shape_of<Name> == Shape::text && shape_of<Text> == Shape::text);
static_assert(shape_of<IntegerText> == Shape::text);
static_assert(shape_of<Int> == Shape::integer && shape_of<Divisor> == Shape::integer);
static_assert(shape_of<Sign> == Shape::integer && shape_of<Index> == Shape::integer);
static_assert(shape_of<Count> == Shape::integer && shape_of<Key> == Shape::hashable);
static_assert(shape_of<Constant> == Shape::constant);
static_assert(shape_of<TensorOperand> == Shape::constant);
static_assert(shape_of<Constants> == Shape::tuple &&
              shape_of<OverlapPairs> == Shape::tuple);
static_assert(shape_of<ConstantSet> == Shape::set);
static_assert(shape_of<InnerKind> == Shape::kind &&
              shape_of<InnerKinds> == Shape::kinds);
static_assert(shape_of<Identity> == Shape::object && shape_of<Held> == Shape::object);
static_assert(shape_of<TypeIdentity> == Shape::object);
static_assert(shape_of<Callable> == Shape::object);
static_assert(shape_of<DictSnapshot> == Shape::object);
static_assert(shape_of<RangeOperand> == Shape::object);

class Expressions : public Interpreter {
protected:
    using Paths = std::initializer_list<Guards::Path>;

    /// The tree that the claim builds, as text.
    template <class T, class... Objects>
    static std::string built(const T& claim, const Objects&... objects) {
        Tree made;
        Diagnostic problem;
        if (!build(claim, made, problem, objects...)) return problem.message;
        return made.text();
    }

    /// The tree of these calls: paths that end in a check.
    std::string written(Paths paths) const {
        Guards guards(names);
        for (const Guards::Path path : paths) guards.guard(path);
        return guards.tree.text();
    }

    /// Why the claim is refused.
    template <class T, class... Objects>
    static std::string refusal(const T& claim, const Objects&... objects) {
        Tree made;
        Diagnostic problem;
        EXPECT_FALSE(build(claim, made, problem, objects...)) << made.text();
        EXPECT_FALSE(PyErr_Occurred());
        EXPECT_TRUE(problem.exception);
        return problem.message;
    }

    /// An integer claim: its text, and the paths of its names.
    template <class T, class... Objects>
    static std::string integers_of(const T& claim, const Objects&... objects) {
        Tree made;
        Diagnostic problem;
        if (!build(claim, made, problem, objects...)) return problem.message;
        const RelationCheck& relation = made.relations().at(0);
        std::string text = relation.relation.as<Integers>().expression.value->source();
        for (const NodeId node : relation.nodes) text += "; " + made.path_text(node);
        return text;
    }

    Namespace names;
};

TEST_F(Expressions, build_the_tree_that_they_read_like) {
    Guards guards(names);
    guards.guard({"local('x')", "type_match(int)"});
    guards.guard({"local('x')", "equals(3)"});
    guards.guard({"local('y')", "attr('training')", "is_true()"});
    guards.relate("same_object()", {{"local('y')"}, {"local('z')"}});
    guards.guard({"local('z')", "length(2)"});
    guards.guard({"local('z')", "item(0)", "type_match(float)"});
    guards.relate("integers('a % 8 == 3 and len(b) > 1')",
                  {{"local('x')"}, {"local('z')"}});
    EXPECT_EQ(built(sample, &PyLong_Type), guards.tree.text());
}

TEST_F(Expressions, add_to_trees_that_compile_and_answer) {
    Guards guards(names);
    Diagnostic problem;
    ASSERT_TRUE(build(tree(local("x").type_match(&PyLong_Type),
                           local("x") % 4 == 3 || local("y") == 0),
                      guards.tree, problem))
        << problem.message;
    EXPECT_EQ(guards.verdict("{'x': 7, 'y': 1}"), Verdict::pass);
    EXPECT_EQ(guards.verdict("{'x': -1, 'y': 1}"), Verdict::pass);  // Python's modulo
    EXPECT_EQ(guards.verdict("{'x': 8, 'y': 1}"), Verdict::fail);
    EXPECT_EQ(guards.verdict("{'x': 8, 'y': 0}"), Verdict::pass);
    EXPECT_EQ(guards.verdict("{'x': 7.0, 'y': 0}"), Verdict::fail);
}

TEST_F(Expressions, share_equal_paths_and_keep_equal_checks_once) {
    Tree made;
    Diagnostic problem;
    ASSERT_TRUE(
        build(tree(local("x").attr("a").is_true(), local("x").attr("b").is_true(),
                   local("x").attr("a").is_true()),
              made, problem));
    EXPECT_EQ(made.node_count(), 4u);
    EXPECT_EQ(made.check_count(), 2u);
}

TEST_F(Expressions, take_literals_as_python_would) {
    EXPECT_EQ(built(local("x")
                        .equals(3)
                        .equals(true)
                        .equals(3.0)
                        .equals("a\xc3\xa9")
                        .equals(nullptr)
                        .equals(18446744073709551615u)
                        .equals(-1L)),
              written({{"local('x')", "equals(3)"},
                       {"local('x')", "equals(True)"},
                       {"local('x')", "equals(3.0)"},
                       {"local('x')", "equals('a\\xe9')"},
                       {"local('x')", "equals(None)"},
                       {"local('x')", "equals(2**64 - 1)"},
                       {"local('x')", "equals(-1)"}}));
    EXPECT_EQ(built(local("x").dict_item(1).dict_item("k").dict_item(false).is_none()),
              written({{"local('x')", "dict_item(1)", "dict_item('k')",
                        "dict_item(False)", "is_none()"}}));
    const std::string kept = "kept";
    EXPECT_EQ(
        built(local("x").str_prefix(std::string_view(kept)).has_attr(kept.c_str())),
        written({{"local('x')", "str_prefix('kept')"},
                 {"local('x')", "has_attr('kept')"}}));
}

TEST_F(Expressions, take_tuples_sets_and_dicts_of_literals) {
    EXPECT_EQ(built(local("x")
                        .equals(dsl::tuple_of(1, dsl::tuple_of("a", nullptr)))
                        .equals(set_of(1))
                        .equals(dict_of("a", 1, "b", dsl::tuple_of()))),
              written({{"local('x')", "equals((1, ('a', None)))"},
                       {"local('x')", "equals({1})"},
                       {"local('x')", "equals({'a': 1, 'b': ()})"}}));
    EXPECT_EQ(built(local("x").tensor_match(
                  dict_of("dtype", "float32", "shape", dsl::tuple_of(2, nullptr)))),
              written({{"local('x')",
                        "tensor_match({'dtype': 'float32', 'shape': (2, None)})"}}));
}

TEST_F(Expressions, take_the_items_of_an_only_tuple_or_set_one_by_one) {
    EXPECT_EQ(built(local("x")
                        .one_of(1, "a")
                        .one_of(2)
                        .one_of(dsl::tuple_of(3, 4))
                        .set_equals(1)
                        .dict_keys("a", dsl::tuple_of(1))),
              written({{"local('x')", "one_of((1, 'a'))"},
                       {"local('x')", "one_of((2,))"},
                       {"local('x')", "one_of((3, 4))"},
                       {"local('x')", "set_equals({1})"},
                       {"local('x')", "dict_keys(('a', (1,)))"}}));
    EXPECT_EQ(built(local("x")
                        .any_of(kinds::is_none(), kinds::type_match(&PyLong_Type))
                        .any_of(kinds::not_(kinds::one_of(1, 2)))),
              written({{"local('x')", "any_of((('is_none',), ('type_match', int)))"},
                       {"local('x')", "any_of((('not_', ('one_of', (1, 2))),))"}}));
}

TEST_F(Expressions, write_integer_claims_as_python_does) {
    const auto a = local("x");
    const auto b = local("y").attr("n");
    EXPECT_EQ(integers_of(a == 3), "a == 3; x");
    EXPECT_EQ(integers_of(3 < b), "3 < a; y.n");
    EXPECT_EQ(integers_of(b != a), "a != b; y.n; x");
    EXPECT_EQ(integers_of(a <= a), "a <= a; x");
    EXPECT_EQ(integers_of(a + b * 2 >= -a), "a + b * 2 >= -a; x; y.n");
    EXPECT_EQ(integers_of((a + b) * 2 > -3), "(a + b) * 2 > -3; x; y.n");
    EXPECT_EQ(integers_of(a - (b - 1) == -(a - 1)), "a - (b - 1) == -(a - 1); x; y.n");
    EXPECT_EQ(integers_of(a - b - 1 == -(-a)), "a - b - 1 == --a; x; y.n");
    EXPECT_EQ(integers_of(floor_div(a, 2) % 3 == a * (b % 2)),
              "a // 2 % 3 == a * (b % 2); x; y.n");
    EXPECT_EQ(integers_of(a == 1 || (a == 2 && b == 3)),
              "a == 1 or a == 2 and b == 3; x; y.n");
    EXPECT_EQ(integers_of((a == 1 || a == 2) && !(b == 3)),
              "(a == 1 or a == 2) and not b == 3; x; y.n");
    EXPECT_EQ(integers_of(!(a == 1 && b == 2)), "not (a == 1 and b == 2); x; y.n");
}

TEST_F(Expressions, read_lengths_sizes_strides_and_ranks_where_they_lie) {
    const auto x = local("x");
    EXPECT_EQ(integers_of(length(x) % 8 == 0), "len(a) % 8 == 0; x");
    EXPECT_EQ(integers_of(x.size(0) == x.size(-1) * rank(x)),
              "a.shape[0] == a.shape[-1] * a.ndim; x");
    EXPECT_EQ(integers_of(x.item(0).size(2u) == 1), "a.shape[2] == 1; x[0]");
    EXPECT_EQ(integers_of(x.stride(0) * 2 > x.stride(-1)),
              "stride_of(a, 0) * 2 > stride_of(a, -1); x");
    // Without a literal dimension it is the step, whose result is an int.
    const auto two = Owned<>::steal(PyLong_FromLong(2));
    EXPECT_EQ(integers_of(x.size(placeholder<0>) == 1, two),
              "a == 1; tensor(x).shape[2]");
}

TEST_F(Expressions, write_integers_of_all_sizes) {
    const auto x = local("x");
    EXPECT_EQ(integers_of(x > INT64_MAX), "a > 9223372036854775807; x");
    EXPECT_EQ(integers_of(x > INT64_MIN), "a > -9223372036854775808; x");
    EXPECT_EQ(integers_of(x > uint64_t{INT64_MAX}), "a > 9223372036854775807; x");
    const std::string reason =
        "integers(expression): expected a number that fits in 64 bits, found "
        "18446744073709551615";
    EXPECT_EQ(refusal(x > UINT64_MAX), reason);
    EXPECT_EQ(refusal(x.size(UINT64_MAX) > 1), reason);
}

TEST_F(Expressions, refuse_claims_whose_text_could_not_be_read) {
    const auto x = local("x");
    const auto twice = [](const auto& term) { return -(-term); };
    const auto eight = [&](const auto& term) {
        return twice(twice(twice(twice(term))));
    };
    const auto many = [&](const auto& term) {
        return eight(eight(eight(eight(term))));
    };
    EXPECT_TRUE(integers_of(many(many(x)) == 0).ends_with("--a == 0; x"));
    EXPECT_EQ(refusal(-many(many(x)) == 0),
              "integers(expression): expected less nesting");
    // The sign of a literal is one more.
    EXPECT_EQ(refusal(many(many(x)) == many(many(x - 1) - -1)),
              "integers(expression): expected less nesting");
    EXPECT_EQ(refusal(x.size(INT64_MIN) == 1),
              "integers(expression): expected a dimension of a tensor, found the least "
              "int");
}

TEST_F(Expressions, name_as_many_values_as_there_are) {
    const auto x = local("x");
    EXPECT_EQ(
        integers_of(x.item(0) + x.item(1) + x.item(2) + x.item(3) + x.item(4) +
                        x.item(5) + x.item(6) + x.item(7) + x.item(8) + x.item(9) +
                        x.item(10) + x.item(11) + x.item(12) + x.item(13) + x.item(14) +
                        x.item(15) + x.item(16) + x.item(17) + x.item(18) + x.item(19) +
                        x.item(20) + x.item(21) + x.item(22) + x.item(23) + x.item(24) +
                        x.item(25) + x.item(26) ==
                    0)
            .substr(100, 12),
        "z + a1 == 0;");
}

TEST_F(Expressions, join_any_claims) {
    const auto x = local("x");
    EXPECT_EQ(built(x.is_none() && (x == 1) && same_object(x, local("y"))),
              built(all(x.is_none(), x == 1, all(same_object(x, local("y"))))));
    EXPECT_EQ(built(tree()), "guard tree\n");
}

TEST_F(Expressions, give_relations_their_operands_first) {
    Guards guards(names);
    guards.relate("overlapping_memory(((0, 1),))", {{"local('x')"}, {"local('y')"}});
    guards.relate("integers('p == q')", {{"local('x')"}, {"local('y')"}});
    EXPECT_EQ(built(tree(overlapping_memory(dsl::tuple_of(dsl::tuple_of(0, 1)),
                                            local("x"), local("y")),
                         integers("p == q", local("x"), local("y")))),
              guards.tree.text());
}

TEST_F(Expressions, hold_objects_by_the_tree_only) {
    const Owned<> held = names.eval("object()");
    const Py_ssize_t before = Py_REFCNT(held.get());
    {
        Tree made;
        Diagnostic problem;
        ASSERT_TRUE(build(tree(local("x").id_match_held(placeholder<1>),
                               local("x").id_match_held(held.get()),
                               local("x").type_match(placeholder<0>)),
                          made, problem, &PyBaseObject_Type, held));
        EXPECT_EQ(made.check_count(), 2u);
        EXPECT_GT(Py_REFCNT(held.get()), before);
    }
    EXPECT_EQ(Py_REFCNT(held.get()), before);
}

TEST_F(Expressions, say_which_claim_is_refused) {
    const Owned<> three = names.eval("3");
    EXPECT_EQ(refusal(tree(local("x").is_none(),
                           local("y").attr("n").type_match(placeholder<0>)),
                      three),
              "y.n: type_match(expected): expected a type, found 3 (int)");
    EXPECT_EQ(refusal(local("x").length(-1)),
              "x: length(expected): expected an int >= 0, found -1");
    EXPECT_EQ(refusal(local(placeholder<0>).is_none(), three),
              "local(name): expected a name (str), found 3 (int)");
    EXPECT_EQ(refusal(same_object(local("x"))),
              "same_object needs at least two values");
    EXPECT_NE(refusal(integers("a ==", local("x"))).find("integers(expression)"),
              std::string::npos);
}

TEST_F(Expressions, refuse_literals_that_are_no_objects) {
    EXPECT_EQ(refusal(local("x").id_match(static_cast<PyObject*>(nullptr))),
              "x: id_match(expected): expected an object, found a null pointer");
    EXPECT_EQ(refusal(local("x").id_match(placeholder<0>), Owned<>()),
              "x: id_match(expected): expected an object, found a null pointer");
    EXPECT_NE(refusal(local("\xff").is_none()).find("local(name): UnicodeDecodeError"),
              std::string::npos);
    EXPECT_NE(refusal(local("x").equals(set_of(set_of(1)))).find("unhashable"),
              std::string::npos);
}

}  // namespace
}  // namespace guardtree::tests
