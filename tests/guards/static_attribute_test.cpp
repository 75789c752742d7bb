// Static look-ups: no user code runs, no dict is made, layouts are not mixed up. Steps
// that read functions, iterators and context variables: their corners.
// SPDX-License-Identifier: MIT
#include "../../guards/objects/static_attribute.h"

#include <gtest/gtest.h>

#include "../../framelocals/attributes.h"
#include "../support/allocations.h"
#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class StaticAttribute : public Interpreter {
protected:
    void SetUp() override {
        names.run(
            "import types\nran = []\n"
            "class Odd:\n"
            "  def __hash__(self): return hash('a')\n"
            "  def __eq__(self, other): ran.append('eq'); return True\n");
    }

    bool has(const std::string& value, const std::string& name = "a") {
        const Owned<> object = names.eval(value);
        PyObject* text = PyUnicode_InternFromString(name.c_str());
        const Owned<> held = Owned<>::steal(text);
        const bool found = has_static_attribute(object.get(), text);
        EXPECT_FALSE(PyErr_Occurred());
        return found;
    }

    Verdict verdict(Guards::Path ops, const std::string& value) {
        Guards guards(names);
        guards.guard(ops);
        return guards.verdict("{'x': " + value + "}");
    }

    Namespace names;
};

TEST_F(StaticAttribute, no_key_s_eq_runs) {
    names.run(
        "class C: pass\nc = C(); c.__dict__[Odd()] = 1\n"
        "d = C(); d.__dict__[Odd()] = 1; d.a = 2\n"
        "m = types.ModuleType('m'); m.__dict__[Odd()] = 1\n"
        "n = types.ModuleType('n'); n.__dict__['b'] = 1; n.__dict__[Odd()] = 1\n"
        "ran.clear()");
    EXPECT_FALSE(has("c"));
    EXPECT_FALSE(has("m"));
    EXPECT_TRUE(has("n", "b"));
    EXPECT_TRUE(names.is_true("ran == []"));
    // d.a replaced the odd key's value: Python takes both for one key.
    EXPECT_FALSE(has("d"));
    names.run("Odd.__eq__ = lambda *_: False\ne = C(); e.__dict__.update({Odd(): 1})");
    EXPECT_FALSE(has("e"));
    names.run("e.a = 2; Odd.__eq__ = lambda *_: ran.append('eq')");
    EXPECT_TRUE(has("e"));
    EXPECT_TRUE(names.is_true("ran == []"));
}

TEST_F(StaticAttribute, in_inline_values_a_name_is_found_while_it_has_a_value) {
    names.run(
        "class C:\n  def __init__(self): self.b = 1; self.a = 2\n"
        "c = C(); d = C(); del d.a; e = C(); vars(e)['z'] = 1");
    for (const char* each : {"c", "d", "e"}) EXPECT_TRUE(has(each, "b"));
    EXPECT_TRUE(has("c"));
    EXPECT_FALSE(has("d"));
    EXPECT_TRUE(has("e"));
    EXPECT_TRUE(has("e", "z"));
    EXPECT_FALSE(has("c", "z"));
}

// Each question is asked twice: the second answer may be a remembered one.
TEST_F(StaticAttribute, an_absence_ends_when_a_dict_gets_the_name) {
    names.run(
        "class C: pass\n"
        "empty = C(); vars(empty)\n"
        "shared = C(); shared.b = 1; vars(shared)\n"
        "own = C(); vars(own)[1] = 1\n"
        "class Dict(dict): pass\n"
        "given = C(); given.__dict__ = Dict()\n"
        "every = [empty, shared, own, given]");
    const auto expect_each = [&](bool is_there) {
        for (const char* each : {"empty", "shared", "own", "given"}) {
            EXPECT_EQ(has(each), is_there) << each;
            EXPECT_EQ(has(each), is_there) << each;
        }
    };
    expect_each(false);
    names.run("for each in every: each.a = 1");
    expect_each(true);
    names.run("for each in every: del each.a");
    expect_each(false);
    names.run("for each in every: each.__dict__ = {'a': 1}");
    expect_each(true);
    names.run("for each in every: del each.__dict__");
    expect_each(false);
    names.run("C.a = 1");
    expect_each(true);
}

TEST_F(StaticAttribute, an_odd_key_in_a_class_is_passed_over) {
    names.run(
        "class S(str):\n"
        "  def __eq__(self, other): ran.append('eq'); return True\n"
        "  def __hash__(self): return hash('a')\n"
        "C = type('C', (), {S('x'): 1, 'b': 2})\nc = C()\nran.clear()");
    EXPECT_FALSE(has("c"));
    EXPECT_TRUE(has("c", "b"));
    EXPECT_TRUE(names.is_true("ran == []"));
}

TEST_F(StaticAttribute, nothing_of_the_class_runs) {
    names.run(
        "class M(type):\n"
        "  def __getattribute__(self, name): ran.append(name); return 1\n"
        "  def mro(self): return type.mro(self)\n"
        "class C(metaclass=M):\n"
        "  @property\n"
        "  def a(self): ran.append('a')\n"
        "  def __getattr__(self, name): ran.append(name)\n"
        "  def __getattribute__(self, name): ran.append(name); return 2\n"
        "c = C()\nran.clear()");
    EXPECT_TRUE(has("c"));
    EXPECT_FALSE(has("c", "b"));
    EXPECT_TRUE(has("C"));
    EXPECT_TRUE(has("C", "mro"));
    EXPECT_FALSE(has("c", "mro"));
    EXPECT_TRUE(names.is_true("ran == []"));
}

TEST_F(StaticAttribute, every_home_of_an_instances_attribute_is_found) {
    names.run(
        "class C: pass\n"
        "def made(touch):\n"
        "  c = C()\n"
        "  c.a = 1\n"
        "  if touch: c.__dict__\n"
        "  return c\n"
        "inline, touched = made(False), made(True)\n"
        "swapped = C(); swapped.__dict__ = {'a': 1}\n"
        "deleted = made(False); del deleted.a\n"
        "many = C()\n"
        "for i in range(50): setattr(many, f'n{i}', i)\n"
        "many.a = 1\n"
        "grown = made(False); grown.__dict__[3] = 4\n"
        "class V(tuple): pass\n"
        "sized = V((1, 2, 3)); sized.a = 1\n"
        "class L(list): pass\n"
        "listed = L(); listed.a = 1\n"
        "class E(Exception): pass\n"
        "error = E(); error.a = 1\n"
        "class B(int): pass\n"
        "number = B(2**90); number.a = 1\n"
        "def function(): pass\n"
        "function.a = 1\n");
    for (const char* value : {"inline", "touched", "swapped", "many", "grown", "sized",
                              "listed", "error", "number", "function"}) {
        EXPECT_TRUE(has(value)) << value;
        EXPECT_FALSE(has(value, "absent")) << value;
    }
    EXPECT_FALSE(has("deleted"));
    EXPECT_FALSE(has("C()"));
    EXPECT_FALSE(has("V((1, 2))"));
    EXPECT_FALSE(has("(lambda: 0)"));
    EXPECT_FALSE(has("object()"));
}

TEST_F(StaticAttribute, a_name_that_is_not_interned_is_found) {
    names.run("class C: pass\nc = C(); c.__dict__.update({''.join(['a', 'b']): 1})");
    EXPECT_TRUE(has("c", "ab"));
}

TEST_F(StaticAttribute, no_dict_is_made) {
    names.run("class C:\n  def __init__(self): self.a = 1\nc = C()");
    const Owned<> value = names.eval("c");
    PyObject* text = PyUnicode_InternFromString("a");
    const Owned<> name = Owned<>::steal(text);
    bool found = false;
    const Allocations made =
        allocations_of([&] { found = has_static_attribute(value.get(), text); });
    EXPECT_TRUE(found);
    EXPECT_EQ(made.all(), 0u);
}

TEST_F(StaticAttribute, a_slot_of_another_class_is_not_read) {
    names.run(
        "class A: __slots__ = ('a',)\n"
        "class B:\n  a = A.__dict__['a']\n"
        "class D(A): pass\nb, d = B(), D(); d.a = 3");
    EXPECT_EQ(verdict({"local('x')", "slot('a')", "is_not_none()"}, "b"),
              Verdict::fail);
    EXPECT_EQ(verdict({"local('x')", "slot('a')", "equals(3)"}, "d"), Verdict::pass);
    EXPECT_EQ(verdict({"local('x')", "slot('real')", "is_not_none()"}, "1j"),
              Verdict::fail);
}

TEST_F(StaticAttribute, a_dict_is_found_where_builtin_types_keep_theirs) {
    for (const char* type :
         {"int", "type", "object", "Exception", "types.ModuleType"}) {
        EXPECT_EQ(
            verdict({"local('x')", "type_dict()", "dict_contains('__doc__')"}, type),
            Verdict::pass)
            << type;
    }
}

TEST_F(StaticAttribute, an_empty_cell_and_an_ended_iterator_give_nothing) {
    names.run(
        "def make():\n  def f(): return late\n  if 0: late = 1\n  return f\n"
        "fn = make()\nended = iter((1,)); list(ended)\n"
        "half = iter((1, 2, 3)); next(half)");
    EXPECT_EQ(verdict({"local('x')", "closure_cell(0)", "is_not_none()"}, "fn"),
              Verdict::fail);
    EXPECT_EQ(
        verdict({"local('x')", "tuple_iterator_item(0)", "is_not_none()"}, "ended"),
        Verdict::fail);
    EXPECT_EQ(verdict({"local('x')", "tuple_iterator_item(1)", "equals(3)"}, "half"),
              Verdict::pass);
    EXPECT_EQ(verdict({"local('x')", "tuple_iterator_item(2)", "is_none()"}, "half"),
              Verdict::fail);
    EXPECT_EQ(verdict({"local('x')", "tuple_iterator_length(2)"}, "half"),
              Verdict::pass);
    EXPECT_TRUE(names.is_true("next(half) == 2")) << "the iterator was advanced";
}

TEST_F(StaticAttribute, a_context_variable_is_read_in_the_current_context) {
    names.run(
        "import contextvars\nempty = contextvars.ContextVar('empty')\n"
        "full = contextvars.ContextVar('full'); full.set((1, 2))");
    EXPECT_EQ(verdict({"context_var(empty)", "is_none()"}, "1"), Verdict::fail);
    EXPECT_EQ(verdict({"context_var(full)", "tuple_item(1)", "equals(2)"}, "1"),
              Verdict::pass);
    names.run("full.set((1, 3))");
    EXPECT_EQ(verdict({"context_var(full)", "tuple_item(1)", "equals(2)"}, "1"),
              Verdict::fail);
    EXPECT_THROW(Guards(names).op("context_var('full')"), PythonError);
    const Owned<> value = names.eval("full.get()");
    const Py_ssize_t before = Py_REFCNT(value.get());
    verdict({"context_var(full)", "tuple_item(1)", "equals(2)"}, "1");
    EXPECT_EQ(Py_REFCNT(value.get()), before);
}

TEST_F(StaticAttribute, a_module_is_not_imported) {
    EXPECT_EQ(
        verdict({"module('sys')", "module_attr('maxsize')", "is_not_none()"}, "1"),
        Verdict::pass);
    EXPECT_EQ(verdict({"module('this')", "is_not_none()"}, "1"), Verdict::fail);
    EXPECT_TRUE(names.is_true("'this' not in __import__('sys').modules"));
}

}  // namespace
}  // namespace guardtree::tests
