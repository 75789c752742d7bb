// Name blocks: where the compiler makes one, and that it answers as its ops do.
// SPDX-License-Identifier: MIT
#include "../../guards/ops/name_block.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "../../guards/assumptions/assumption.h"
#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class NameBlock : public Interpreter {
protected:
    NameBlock() : was_assuming_(set_assumptions(false)) {}

    ~NameBlock() override { set_assumptions(was_assuming_); }

    /// The number of ops that each block speaks for.
    std::vector<uint32_t> blocks() {
        std::vector<uint32_t> sizes;
        for (const Op& op : guards.program().ops()) {
            if (op.code() == OpCode::NameBlock) sizes.push_back(op.skip);
        }
        return sizes;
    }

    /// {'a': 1, 'b': '', 'c': None} by this step of x, and no more.
    void add_names(const std::string& step) {
        guards.guard({"local('x')", step + "('a')", "type_match(int)"});
        guards.guard({"local('x')", step + "('b')", "equals('text')"});
        guards.guard({"local('x')", step + "('c')", "is_none()"});
    }

    void expect(const std::string& value, Verdict verdict) {
        EXPECT_EQ(guards.verdict("{'x': " + value + "}"), verdict) << value;
    }

    const bool was_assuming_;
    Namespace names;
    Guards guards{names};
};

TEST_F(NameBlock, is_made_for_runs_of_names_of_a_dict) {
    add_names("dict_item");
    EXPECT_EQ(blocks(), (std::vector<uint32_t>{6}));
    for (int round = 0; round < 2; ++round) {
        expect("{'a': 1, 'b': 'text', 'c': None}", Verdict::pass);
        expect("{'c': None, 'b': ''.join(['te', 'xt']), 'a': 2}", Verdict::pass);
        expect("{'a': 1, 'b': 'text', 'c': 0}", Verdict::fail);
        expect("{'a': 1, 'b': 'other', 'c': None}", Verdict::fail);
        expect("{'a': True, 'b': 'text', 'c': None}", Verdict::fail);
        expect("{'b': 'text', 'c': None}", Verdict::fail);
        expect("{'a': 1, 'b': 'text'}", Verdict::fail);
        expect("{}", Verdict::fail);
        expect("[1]", Verdict::fail);
        expect("type('D', (dict,), {})(a=1, b='text', c=None)", Verdict::pass);
        expect("{'a': 1, 'b': 'text', 'c': None, 3: 4}", Verdict::pass);
        expect("{3: 4, 'a': 1, 'b': 'text'}", Verdict::fail);
    }
    EXPECT_EQ(guards.verdict("{}"), Verdict::fail);
}

TEST_F(NameBlock, is_made_for_runs_of_names_of_an_instance) {
    names.run(
        "class C:\n  def __init__(self, **names): self.__dict__.update(names)\n"
        "class D(C):\n  a = 1\n"
        "def inline(**names):\n"
        "  made = C()\n"
        "  for name, value in names.items(): setattr(made, name, value)\n"
        "  return made\n"
        "class Slots:\n  __slots__ = ('a', 'b', 'c', '__dict__')\n"
        "  def __init__(self): self.a = 1; self.b = 'text'; self.c = None");
    add_names("instance_attr");
    EXPECT_EQ(blocks(), (std::vector<uint32_t>{6}));
    for (int round = 0; round < 2; ++round) {
        expect("C(a=1, b='text', c=None)", Verdict::pass);
        expect("C(c=None, b='text', a=2)", Verdict::pass);
        expect("inline(a=1, b='text', c=None)", Verdict::pass);
        expect("inline(c=None, b='text', a=1)", Verdict::pass);
        expect("inline(a=1, b='text', c=0)", Verdict::fail);
        expect("C(a=1, b='text')", Verdict::fail);
        expect("D(b='text', c=None)", Verdict::fail);
        expect("Slots()", Verdict::fail);
        expect("C()", Verdict::fail);
        expect("3", Verdict::fail);
        expect("C", Verdict::fail);
        expect("{'a': 1, 'b': 'text', 'c': None}", Verdict::fail);
        // One whose dict lies where CPython does not manage it.
        expect("type('E', (BaseException,), {})()", Verdict::fail);
    }
    names.run("e = ValueError(); e.a, e.b, e.c = 1, 'text', None");
    expect("e", Verdict::pass);
    expect("e", Verdict::pass);
}

TEST_F(NameBlock, is_made_for_runs_of_globals) {
    names.run("a = 1; b = 'text'; c = None");
    guards.guard({"global('a')", "equals(1)"});
    guards.guard({"global('b')", "equals('text')"});
    guards.guard({"global('c')", "is_none()"});
    EXPECT_EQ(blocks(), (std::vector<uint32_t>{6}));
    EXPECT_EQ(guards.verdict("{}"), Verdict::pass);
    names.run("b = 'other'");
    EXPECT_EQ(guards.verdict("{}"), Verdict::fail);
    names.run("b = 'text'; del a; a = 1");
    EXPECT_EQ(guards.verdict("{}"), Verdict::pass);
    names.run("del c");
    EXPECT_EQ(guards.verdict("{}"), Verdict::fail);
}

TEST_F(NameBlock, does_not_reach_over_the_bounds_of_an_assumption) {
    set_assumptions(true);
    names.run("a = b = c = d = 1");
    guards.guard({"global('a')", "equals(1)"});
    guards.guard({"global('b')", "equals(1)"});
    guards.guard({"global('c')", "attr('real')", "equals(1)"});
    guards.guard({"global('d')", "equals(1)"});
    EXPECT_EQ(blocks(), (std::vector<uint32_t>{4}));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(guards.verdict("{}"), Verdict::pass);
    for (const char* name : {"a", "b", "c", "d"}) {
        names.run(std::string(name) + " = 2");
        EXPECT_EQ(guards.verdict("{}"), Verdict::fail) << name;
        names.run(std::string(name) + " = 1");
        EXPECT_EQ(guards.verdict("{}"), Verdict::pass) << name;
    }
}

TEST_F(NameBlock, knows_lengths) {
    names.run("from collections import OrderedDict");
    guards.guard({"local('x')", "dict_item('a')", "length(0)"});
    guards.guard({"local('x')", "dict_item('b')", "type_match(dict)"});
    guards.guard({"local('x')", "dict_item('b')", "length(1)"});
    EXPECT_EQ(blocks(), (std::vector<uint32_t>{5}));
    for (int round = 0; round < 2; ++round) {
        expect("{'a': OrderedDict(), 'b': {1: 2}}", Verdict::pass);
        expect("{'a': {}, 'b': {1: 2}}", Verdict::pass);
        expect("{'a': [], 'b': {1: 2}}", Verdict::pass);
        expect("{'a': '', 'b': {1: 2}}", Verdict::pass);
        expect("{'a': OrderedDict({1: 2}), 'b': {1: 2}}", Verdict::fail);
        expect("{'a': {3: 4}, 'b': {1: 2}}", Verdict::fail);
        expect("{'a': {}, 'b': OrderedDict({1: 2})}", Verdict::fail);
        expect("{'a': {}, 'b': {}}", Verdict::fail);
        expect("{'a': 0, 'b': {1: 2}}", Verdict::fail);
        expect("{'a': {}, 'b': [1]}", Verdict::fail);
    }
}

TEST_F(NameBlock, hands_its_last_value_on) {
    add_names("dict_item");
    guards.guard({"local('x')", "dict_item('d')", "dict_item('e')", "equals(3)"});
    guards.guard({"local('x')", "dict_item('f')", "equals(4)"});
    EXPECT_EQ(blocks(), (std::vector<uint32_t>{7}));
    const std::string rest = "'a': 1, 'b': 'text', 'c': None";
    for (int round = 0; round < 2; ++round) {
        expect("{" + rest + ", 'd': {'e': 3}, 'f': 4}", Verdict::pass);
        expect("{'d': {'e': 3}, 'f': 4, " + rest + "}", Verdict::pass);
        expect("{" + rest + ", 'd': {'e': 4}, 'f': 4}", Verdict::fail);
        expect("{" + rest + ", 'd': {'e': 3}, 'f': 3}", Verdict::fail);
        expect("{" + rest + ", 'd': 3, 'f': 4}", Verdict::fail);
        expect("{" + rest + ", 'f': 4}", Verdict::fail);
    }
}

TEST_F(NameBlock, keeps_its_last_value_alive_below_user_code) {
    names.run(
        "class Last:\n"
        "  @property\n  def p(self): d.clear(); return True\n"
        "def made():\n"
        "  global d\n"
        "  d = {'a': 1, 'b': 'text', 'c': None, 'd': Last()}\n"
        "  d['d'].q = 5\n"
        "  return d");
    add_names("dict_item");
    guards.guard({"local('x')", "dict_item('d')", "attr('p')", "is_true()"});
    guards.guard({"local('x')", "dict_item('d')", "instance_attr('q')", "equals(5)"});
    EXPECT_EQ(blocks(), (std::vector<uint32_t>{7}));
    for (int i = 0; i < 3; ++i) expect("made()", Verdict::pass);
}

TEST_F(NameBlock, leaves_out_values_that_others_read) {
    add_names("dict_item");
    guards.relate("same_object()", {{"local('x')", "dict_item('b')"}, {"local('y')"}});
    EXPECT_EQ(blocks(), (std::vector<uint32_t>{}));
    EXPECT_EQ(guards.verdict("{'x': {'a': 1, 'b': 'text', 'c': None}, 'y': 'text'}"),
              Verdict::pass);
    EXPECT_EQ(guards.verdict("{'x': {'a': 1, 'b': 'text', 'c': None}, 'y': None}"),
              Verdict::fail);
}

TEST_F(NameBlock, leaves_out_what_it_cannot_check) {
    names.run("class C: pass\nclass S(str): pass");
    guards.guard({"local('x')", "dict_item('a')", "type_match(C)"});
    guards.guard({"local('x')", "dict_item('b')", "is_not_none()"});
    guards.guard({"local('x')", "dict_item('c')", "length(2**40)"});
    guards.guard({"local('x')", "dict_item('d')", "length(1)"});
    guards.guard({"local('x')", "dict_item('d')", "type_match(list)"});
    guards.guard({"local('x')", "dict_item(1)", "is_none()"});
    guards.guard({"local('x')", "instance_attr('e')", "is_none()"});
    guards.guard({"local('x')", "dict_item('f')", "is_none()"});
    guards.guard({"local('x')", "instance_attr('g')", "is_none()"});
    EXPECT_EQ(blocks(), (std::vector<uint32_t>{}));
}

TEST_F(NameBlock, that_fails_is_explained_name_by_name) {
    add_names("dict_item");
    const Explanation explanation =
        guards.explained("{'x': {'a': '', 'b': 'text', 'c': 0}}");
    ASSERT_EQ(explanation.failures.size(), 2u);
    EXPECT_EQ(explanation.failures[0].path, "dict_item(x, 'a')");
    EXPECT_EQ(explanation.failures[1].path, "dict_item(x, 'c')");
    EXPECT_EQ(explanation.checks_run, 6u);
}

TEST_F(NameBlock, leaves_keys_of_users_types_alone) {
    names.run(
        "class K:\n  def __hash__(self): return hash('b')\n"
        "  def __eq__(self, other): raise SystemExit");
    add_names("dict_item");
    expect("{'a': 1, K(): 'text', 'c': None}", Verdict::fail);
    expect("{'a': 1, 'b': 'text', 'c': None}", Verdict::pass);
    EXPECT_FALSE(PyErr_Occurred());
}

}  // namespace
}  // namespace guardtree::tests
