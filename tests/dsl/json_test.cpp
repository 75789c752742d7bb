// Guard trees as JSON from C++: the canonical form, what is refused, limits.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "../../dsl/json/reader.h"
#include "../../dsl/json/writer.h"
#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class JsonTest : public Interpreter {
protected:
    void SetUp() override {
        names.run(
            "import gc, sys, types\n"
            "here = types.ModuleType('here')\n"
            "sys.modules['here'] = here\n"
            "exec('class P: pass\\ndef f(a=1): pass', here.__dict__)\n"
            "P = here.P\n"
            "def ask(value): return value\n"
            "nan = float('nan')\n");
    }

    /// The text of a tree, or why it has none.
    static std::string json(const Tree& tree, const JsonOptions& options = {}) {
        std::string text;
        std::vector<std::string> dropped;
        Diagnostic problem;
        if (!to_json(tree, options, text, dropped, problem)) return problem.message;
        return text;
    }

    std::string json() { return json(guards.tree); }

    /// The operands of one check on x.
    std::string operands(const std::string& call) {
        Guards one(names);
        one.guard({"local('x')", call});
        const std::string text = json(one.tree);
        const std::string begin = "\"operands\":[";
        const size_t from = text.find(begin);
        const size_t to = text.find("]}],\"operands\":[\"x\"]");
        if (from == text.npos || to == text.npos) return text;
        return text.substr(from + begin.size(), to - from - begin.size());
    }

    /// Why a text is refused; "read" when it is read, into `tree`.
    std::string refusal(const std::string& text, const JsonReading& reading = {}) {
        problem = {};
        if (from_json(text, reading, tree, problem)) return "read";
        return problem.message;
    }

    /// A text of one node with these operands of a kind.
    static std::string with_check(const std::string& kind,
                                  const std::string& operands) {
        return R"({"guardtree":1,"nodes":[{"parent":-1,"step":"local",)"
               R"("operands":["x"],"checks":[{"kind":")" +
               kind + R"(","operands":[)" + operands + R"(]}]}],"relations":[]})";
    }

    std::string refused_constant(const std::string& text,
                                 const JsonReading& reading = {}) {
        return refusal(with_check("equals", text), reading);
    }

    Namespace names;
    Guards guards{names};
    Tree tree;
    Diagnostic problem;
};

TEST_F(JsonTest, writes_nodes_in_preorder_and_relations_over_their_numbers) {
    guards.guard({"local('x')", "type_match(int)"});
    guards.guard({"local('y')", "is_none()"});
    guards.guard({"local('x')", "attr('a')", "int_range(-1, 2)"});
    guards.relate("integers('a < b')", {{"local('x')", "attr('a')"}, {"local('y')"}});
    EXPECT_EQ(
        json(),
        R"({"guardtree":1,"nodes":[)"
        R"({"checks":[{"kind":"type_match","operands":[{"ref":["builtins","int"]}]}],)"
        R"("operands":["x"],"parent":-1,"step":"local"},)"
        R"({"checks":[{"kind":"int_range","operands":[-1,2]}],)"
        R"("operands":["a"],"parent":0,"step":"attr"},)"
        R"({"checks":[{"kind":"is_none","operands":[]}],)"
        R"("operands":["y"],"parent":-1,"step":"local"}],)"
        R"("relations":[{"operands":["a < b"],"relation":"integers",)"
        R"("values":[1,2]}]})");
}

TEST_F(JsonTest, writes_each_constant_in_one_way) {
    const std::pair<const char*, const char*> cases[] = {
        {"equals(None)", "null"},
        {"equals(True)", "true"},
        {"equals(...)", R"({"ellipsis":true})"},
        {"equals(2**53 - 1)", "9007199254740991"},
        {"equals(-2**53)", R"({"int":"-0x20000000000000"})"},
        {"equals(1.5)", R"({"float":"0x1.8000000000000p+0"})"},
        {"equals(-0.0)", R"({"float":"-0x0.0p+0"})"},
        {"equals(float('-inf'))", R"({"float":"-inf"})"},
        {"equals(nan)", R"({"float_bits":"7ff8000000000000"})"},
        {"equals(1j)",
         R"({"complex":[{"float":"0x0.0p+0"},{"float":"0x1.0000000000000p+0"}]})"},
        {"equals('a\"\\\\\\n\\x7f\\u20ac\\U0001f600')",
         R"("a\"\\\n\u007f\u20ac\ud83d\ude00")"},
        {"equals('\\ud83d\\ude00')", R"({"str":"eda0bdedb880"})"},
        {"equals(b'\\x00\\xff')", R"({"bytes":"00ff"})"},
        {"equals([1, ()])", R"({"list":[1,{"tuple":[]}]})"},
        {"equals({'b': 1, 'a': {2, 1}})", R"({"dict":[["a",{"set":[1,2]}],["b",1]]})"},
        {"equals(frozenset({'b', 'a'}))", R"({"frozenset":["a","b"]})"},
        {"range_iterator(range(2, 7, 2))", R"({"range":[2,7,2]})"},
        {"range_iterator(range(2, 8, 2))", R"({"range":[2,7,2]})"},
        {"range_iterator(range(5, 0, -9))", R"({"range":[5,6,1]})"},
        {"range_iterator(range(9, 9))", R"({"range":[0,0,1]})"},
        {"id_match(sys)", R"({"ref":["sys",""]})"},
        {"type_match(type(None))", R"({"ref":["types","NoneType"]})"},
        {"instance_of(type(ask))", R"({"ref":["types","FunctionType"]})"},
        {"function_match(here.f)", R"({"ref":["here","f"]})"},
        {"not_(('any_of', (('is_none',), ('type_match', P))))",
         R"({"kind":"any_of","operands":[[{"kind":"is_none","operands":[]},)"
         R"({"kind":"type_match","operands":[{"ref":["here","P"]}]}]]})"},
        {"tensor_match({'shape': (2, None), 'ndim': 2})",
         R"({"ndim":2,"shape":{"tuple":[2,null]}})"},
    };
    for (const auto& [call, expected] : cases) EXPECT_EQ(operands(call), expected);
}

TEST_F(JsonTest, sets_and_dicts_made_in_another_order_are_the_same_text) {
    EXPECT_EQ(operands("equals({0, 8, 16})"), operands("equals({16, 8, 0})"));
    EXPECT_EQ(operands("equals({'a': 1, 'b': 2})"), operands("equals({'b':2, 'a':1})"));
}

TEST_F(JsonTest, reads_what_it_wrote) {
    guards.guard(
        {"local('x')", "attr('a')", "equals({(1, -0.0): [2**70, '\\ud800']})"});
    guards.guard({"local('x')", "any_of((('is_none',), ('id_match', len)))"});
    guards.guard({"global('g')", "dict_item(True)", "set_equals({1})"});
    guards.relate("distinct_objects()", {{"local('x')"}, {"global('g')"}});
    guards.tree.annotate_check(0, names.eval("'a note'"));
    guards.tree.annotate_relation(0, names.eval("'another \\ud800'"));
    const std::string text = json();
    EXPECT_EQ(refusal(text), "read");
    EXPECT_EQ(json(tree), text);
    EXPECT_EQ(tree.text(), guards.tree.text());
    EXPECT_NE(text.find(R"("note":"a note")"), text.npos);
    EXPECT_NE(text, json(tree, {.with_notes = false}));
}

TEST_F(JsonTest, a_note_that_is_no_str_is_left_out) {
    guards.guard({"local('x')", "is_none()"});
    const std::string text = json();
    guards.tree.annotate_check(0, names.eval("['a note']"));
    EXPECT_EQ(json(), text);
}

TEST_F(JsonTest, refuses_a_guard_without_a_form_and_names_it) {
    guards.guard({"local('x')", "attr('a')", "python(ask)"});
    EXPECT_EQ(json(),
              "ask(x.a): python has no form in JSON: its predicate is code of this "
              "process; guard it in another way, or leave it out "
              "(JsonOptions::drop_unportable, in Python to_portable_json)");
    EXPECT_NE(operands("id_match(object())").find("that no name leads to"),
              std::string::npos);
    EXPECT_NE(operands("dict_version({})").find("as it was when the guard was built"),
              std::string::npos);
    EXPECT_NE(operands("not_(('id_match', ask))").find("its expected is an object"),
              std::string::npos);
}

TEST_F(JsonTest, an_object_that_died_or_changed_is_not_written_as_another) {
    guards.guard({"local('x')", "not_(('id_match', P))"});
    Guards changed(names);
    changed.guard({"local('x')", "function_match(here.f)"});
    EXPECT_EQ(refusal(json()), "read");
    EXPECT_EQ(refusal(json(changed.tree)), "read");
    tree.clear();
    names.run("here.f.__defaults__ = ('other',)\ndel P, here.P\ngc.collect()");
    EXPECT_NE(json().find("has died or has changed"), std::string::npos) << json();
    EXPECT_NE(json(changed.tree).find("has died or has changed"), std::string::npos);
}

TEST_F(JsonTest, drops_what_has_no_form_and_lists_it) {
    guards.guard({"local('x')", "python(ask)"});
    guards.guard({"local('x')", "is_none()"});
    guards.guard({"local('y')", "compute(ask)", "attr('a')", "is_true()"});
    guards.relate("same_object()", {{"local('x')"}, {"local('y')", "compute(ask)"}});
    guards.relate("same_object()", {{"local('x')"}, {"local('y')"}});
    std::string text;
    std::vector<std::string> dropped;
    ASSERT_TRUE(
        to_json(guards.tree, {.drop_unportable = true}, text, dropped, problem));
    EXPECT_EQ(dropped, (std::vector<std::string>{"ask(x)", "ask(y)", "ask(y).a",
                                                 "ask(y).a is True", "x is ask(y)"}));
    EXPECT_EQ(refusal(text), "read");
    EXPECT_EQ(tree.node_count(), 3u);
    EXPECT_EQ(tree.check_count(), 1u);
    EXPECT_EQ(tree.relations().size(), 1u);
}

TEST_F(JsonTest, refuses_texts_and_says_where) {
    const std::string root = R"({"guardtree":1,"nodes":[],"relations":[]})";
    EXPECT_EQ(refusal(root), "read");
    EXPECT_EQ(refusal(""), "not JSON: Expecting value: line 1 column 1 (char 0)");
    EXPECT_EQ(refusal("[1]"),
              "this is no guard tree: expected an object with the key \"guardtree\"");
    EXPECT_EQ(refusal(R"({"guardtree":2})"),
              "version 2 is not read; this guardtree reads version 1");
    EXPECT_EQ(refusal(R"({"guardtree":1,"nodes":[],"nodes":[]})"),
              "not JSON: the key 'nodes' is twice in an object");
    EXPECT_EQ(refusal(with_check("is_nothing", "")),
              "nodes[0].checks[0]: there is no kind called 'is_nothing'");
    EXPECT_EQ(refusal(with_check("length", "-1")),
              "nodes[0].checks[0]: length(expected): expected an int >= 0, found -1");
    EXPECT_EQ(refusal(with_check("length", "1,2")),
              "nodes[0].checks[0].operands: length takes 1 operand(s), 2 given");
    EXPECT_EQ(refused_constant(R"({"tuple":[1,{"bytes":"0g"}]})"),
              "nodes[0].checks[0].operands[0].tuple[1].bytes: expected pairs of digits "
              "of hexadecimal, such as \"00ff\", found '0g'");
    EXPECT_EQ(problem.exception, PyExc_ValueError);
}

TEST_F(JsonTest, a_refused_text_leaves_the_tree_as_it_was) {
    ASSERT_EQ(refused_constant("3"), "read");
    const std::string before = tree.text();
    EXPECT_NE(refusal(with_check("equals", "3],\"operands\":[4")), "read");
    EXPECT_NE(refused_constant("[]"), "read");
    EXPECT_EQ(tree.text(), before);
}

TEST_F(JsonTest, limits_are_kept) {
    EXPECT_EQ(refused_constant("null", {.limits = {.bytes = 50}}),
              "the text is longer than 50 bytes");
    EXPECT_EQ(refused_constant("null", {.limits = {.nodes = 0}}),
              "nodes: there are more than 0");
    const std::string nested = R"({"list":[{"list":[{"list":[]}]}]})";
    EXPECT_EQ(refused_constant(nested, {.limits = {.depth = 3}}), "read");
    EXPECT_EQ(refused_constant(nested, {.limits = {.depth = 2}}),
              "nodes[0].checks[0].operands[0].list[0].list[0].list: constants nest at "
              "most 2 deep");
    EXPECT_EQ(
        refused_constant(R"({"set":["1","2","3"]})", {.limits = {.comparisons = 6}}),
        "read");
    EXPECT_NE(refused_constant(R"({"set":[1,2,3]})", {.limits = {.comparisons = 6}})
                  .find("too many to compare"),
              std::string::npos);
    EXPECT_NE(refusal(std::string(100000, '[')).find("nest deeper"), std::string::npos);
    EXPECT_NE(refusal(std::string(100000, '1')).find("digits"), std::string::npos);
}

TEST_F(JsonTest, variables_are_those_of_the_code) {
    const std::string text = with_check("is_none", "");
    EXPECT_EQ(refusal(text, {.code = guards.code()}), "read");
    const auto other = names.code("def f(y): pass");
    EXPECT_EQ(refusal(text, {.code = other.get()}),
              "nodes[0]: 'f' has no local 'x'; its locals are 'y' (for other names use "
              "global_, builtin or closure)");
    EXPECT_EQ(problem.exception, PyExc_NameError);
}

TEST_F(JsonTest, a_resolver_is_asked_first_and_its_exception_stays) {
    const std::string text = with_check("type_match", R"({"ref":["nowhere","T"]})");
    EXPECT_EQ(refusal(text),
              "nodes[0].checks[0].operands[0].ref: no module 'nowhere' is imported; "
              "import it first, or give a resolver");
    const Owned<> resolver =
        names.eval("lambda module, path: {'nowhere.T': int}[module + '.' + path]");
    EXPECT_EQ(refusal(text, {.resolver = resolver.get()}), "read");
    EXPECT_NE(tree.text().find("type_match(int)"), std::string::npos);
    const Owned<> raising = names.eval("lambda module, path: 1 // 0");
    EXPECT_EQ(refusal(text, {.resolver = raising.get()}), "");
    EXPECT_FALSE(problem);
    EXPECT_EQ(taken_error_text().substr(0, 17), "ZeroDivisionError");
}

TEST_F(JsonTest, a_pending_exception_stays_pending) {
    guards.guard({"local('x')", "equals((1.5, {2}))"});
    PyErr_SetString(PyExc_KeyError, "before");
    const std::string text = json();
    EXPECT_EQ(refusal(text), "read");
    EXPECT_NE(refusal("{"), "read");
    EXPECT_EQ(taken_error_text(), "KeyError: 'before'");
}

TEST_F(JsonTest, steps_that_call_what_they_find_are_for_those_who_allow_them) {
    guards.guard({"local('x')", "call()", "is_none()"});
    const std::string text = json();
    EXPECT_NE(refusal(text).find("calls what it finds"), std::string::npos);
    EXPECT_EQ(refusal(text, {.allow_calls = true}), "read");
    EXPECT_EQ(json(tree), text);
}

TEST_F(JsonTest, the_hash_is_that_of_the_bytes) {
    EXPECT_EQ(json_hash(""), 0xcbf29ce484222325u);
    EXPECT_EQ(json_hash("a"), 0xaf63dc4c8601ec8cu);
    EXPECT_EQ(json_hash("foobar"), 0x85944171f73967e8u);
}

}  // namespace
}  // namespace guardtree::tests
