// User code that takes away what a walk is looking at. AddressSanitizer with
// PYTHONMALLOC=malloc sees what a plain run may survive.
// SPDX-License-Identifier: MIT
#include <Python.h>

#include <gtest/gtest.h>

#include "../support/frames.h"
#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class Ownership : public Interpreter {
protected:
    void SetUp() override {
        names.run(
            "class Fresh(list): pass\n"
            "class Robber:\n"
            "  def __init__(self, act): self.act = act\n"
            "  @property\n"
            "  def a(self): self.act(); return 1\n"
            "def rob(act):\n"
            "  def predicate(value): act(); return True\n"
            "  return predicate\n"
            "class EvilKey:\n"
            "  'Hashes as k; being compared acts.'\n"
            "  def __init__(self, act, answer): self.act, self.answer = act, answer\n"
            "  def __hash__(self): return hash('k')\n"
            "  def __eq__(self, other): self.act(); return self.answer\n");
    }

    Namespace names;
    Guards guards{names};
};

TEST_F(Ownership, an_item_outlives_the_list_that_a_property_clears) {
    names.run("x = [Fresh([1])]; y = Robber(x.clear)");
    guards.guard({"local('x')", "list_item(0)", "type_match(Fresh)"});
    guards.node({"local('x')", "list_item(0)"});
    names.run("x[0].append(y)");
    guards.guard(
        {"local('x')", "list_item(0)", "list_item(1)", "attr('a')", "equals(1)"});
    guards.guard({"local('x')", "list_item(0)", "list_item(0)", "equals(1)"});
    guards.guard({"local('x')", "list_item(0)", "length(2)"});
    EXPECT_EQ(guards.verdict("{'x': x}"), Verdict::pass);
    EXPECT_TRUE(names.is_true("x == []"));
}

TEST_F(Ownership, an_item_outlives_the_list_that_its_own_predicate_clears) {
    names.run("x = [Fresh([1, 2])]; predicate = rob(x.clear)");
    guards.guard({"local('x')", "list_item(0)", "python(predicate)"});
    guards.guard({"local('x')", "list_item(0)", "type_match(Fresh)"});
    guards.guard({"local('x')", "list_item(0)", "list_item(1)", "equals(2)"});
    EXPECT_EQ(guards.verdict("{'x': x}"), Verdict::pass);
}

TEST_F(Ownership, explain_outlives_the_list_that_a_predicate_clears) {
    names.run("x = [Fresh([1, 2])]; predicate = rob(x.clear)");
    guards.guard({"local('x')", "list_item(0)", "python(predicate)"});
    guards.guard({"local('x')", "list_item(0)", "type_match(int)"});
    const Explanation explanation = guards.explained("{'x': x}");
    ASSERT_EQ(explanation.failures.size(), 1u);
    EXPECT_EQ(explanation.failures[0].found, "[1, 2] (Fresh)");
}

TEST_F(Ownership, a_tuple_item_outlives_its_tuple) {
    names.run("x = [tuple([Fresh([5])])]; predicate = rob(x.clear)");
    guards.guard({"local('x')", "list_item(0)", "tuple_item(0)", "python(predicate)"});
    guards.guard({"local('x')", "list_item(0)", "tuple_item(0)", "length(1)"});
    EXPECT_EQ(guards.verdict("{'x': x}"), Verdict::pass);
}

TEST_F(Ownership, a_dict_outlives_a_key_that_clears_it_when_compared) {
    for (const char* answer : {"True", "False"}) {
        names.run(
            "x = [{}]\ndef act():\n  if x: x.pop().clear()\n"
            "x[0][EvilKey(act, " +
            std::string(answer) + ")] = Fresh([1])");
        Guards each(names);
        each.guard({"local('x')", "list_item(0)", "item('k')", "type_match(Fresh)"});
        each.guard({"local('x')", "list_item(0)", "is_not_none()"});
        EXPECT_NE(each.verdict("{'x': x}"), Verdict::error) << answer;
        EXPECT_TRUE(names.is_true("x == []"));
    }
}

TEST_F(Ownership, a_found_value_outlives_a_dict_that_only_the_walk_still_holds) {
    // The container is gone from everywhere else when the look-up returns.
    names.run("x = [{}]\nx[0][EvilKey(x.clear, True)] = Fresh([1])");
    guards.guard({"local('x')", "list_item(0)", "item('k')", "type_match(Fresh)"});
    guards.guard({"local('x')", "list_item(0)", "item('k')", "length(1)"});
    EXPECT_EQ(guards.verdict("{'x': x}"), Verdict::pass);
    EXPECT_TRUE(names.is_true("x == []"));
}

TEST_F(Ownership, a_key_of_a_users_type_is_not_asked_by_dict_item) {
    names.run(
        "asked = []\nx = {EvilKey(lambda: asked.append(1), True): 1}\n"
        "y = {3: 1, 'k': 2}");
    guards.guard({"local('x')", "dict_item('k')", "is_not_none()"});
    EXPECT_EQ(guards.verdict("{'x': x}"), Verdict::fail);
    EXPECT_EQ(guards.verdict("{'x': y}"), Verdict::pass);
    EXPECT_TRUE(names.is_true("asked == []"));
}

TEST_F(Ownership, a_dict_value_outlives_its_dict) {
    names.run("x = {'k': Fresh([1])}; predicate = rob(x.clear)");
    guards.guard({"local('x')", "dict_item('k')", "python(predicate)"});
    guards.guard({"local('x')", "dict_item('k')", "list_item(0)", "equals(1)"});
    EXPECT_EQ(guards.verdict("{'x': x}"), Verdict::pass);
}

TEST_F(Ownership, a_global_outlives_its_name) {
    names.run(
        "g = Fresh([1])\ndef drop(): globals().pop('g', None)\n"
        "predicate = rob(drop)");
    guards.guard({"global('g')", "python(predicate)"});
    guards.guard({"global('g')", "type_match(Fresh)"});
    EXPECT_EQ(guards.verdict("{}"), Verdict::pass);
    EXPECT_EQ(guards.verdict("{}"), Verdict::fail);
}

TEST_F(Ownership, a_type_outlives_a_class_that_its_instance_leaves) {
    names.run(
        "class Old: pass\nclass New: pass\nx = Old(); holder = [Old]; del Old\n"
        "def leave():\n  x.__class__ = New\n  holder.clear()\n"
        "predicate = rob(leave)");
    guards.guard({"local('x')", "type()", "python(predicate)"});
    guards.guard({"local('x')", "type()", "attr('__name__')", "equals('Old')"});
    EXPECT_EQ(guards.verdict("{'x': x}"), Verdict::pass);
}

TEST_F(Ownership, a_mapping_may_lose_its_values_during_the_walk) {
    names.run("d = {'x': Fresh([1]), 'y': Fresh([2])}; predicate = rob(d.clear)");
    guards.guard({"local('x')", "python(predicate)"});
    guards.guard({"local('x')", "list_item(0)", "equals(1)"});
    guards.guard({"local('y')", "list_item(0)", "equals(2)"});
    EXPECT_EQ(guards.verdict("d"), Verdict::pass);
    EXPECT_TRUE(names.is_true("d == {}"));
}

TEST_F(Ownership, a_cell_may_be_emptied_during_the_walk) {
    Guards closed(names,
                  "def g():\n  free = Fresh([1])\n  def drop():\n    nonlocal free\n"
                  "    free = None\n  def f(x): return free\n  return f, drop\n"
                  "f, drop = g(); predicate = rob(drop)");
    closed.closure = names.eval("f.__closure__");
    closed.guard({"closure('free')", "python(predicate)"});
    closed.guard({"closure('free')", "list_item(0)", "equals(1)"});
    EXPECT_EQ(closed.verdict("{}"), Verdict::pass);
    EXPECT_EQ(closed.verdict("{}"), Verdict::fail);
}

TEST_F(Ownership, defaults_may_be_replaced_during_the_walk) {
    Guards call(names,
                "def f(x, y=Fresh([1]), *, z=Fresh([2])): pass\n"
                "def drop(): f.__defaults__ = None; f.__kwdefaults__ = None\n"
                "predicate = rob(drop)");
    call.guard({"local('x')", "python(predicate)"});
    call.guard({"local('y')", "list_item(0)", "equals(1)"});
    call.guard({"local('z')", "list_item(0)", "equals(2)"});
    const Program& program = call.program();
    std::vector<SlotWord> storage(3);
    const Owned<> function = names.eval("f");
    ArgumentsView view(reinterpret_cast<PyFunctionObject*>(function.get()), storage);
    PyObject* const arguments[] = {Py_None};
    ASSERT_TRUE(view.bind(arguments, 1, nullptr));
    auto values = scratch(program.value_count());
    Owned<> error;
    EXPECT_EQ(evaluate(program, view, values.data(), error), Verdict::pass);
}

TEST_F(Ownership, a_frames_locals_outlive_what_a_predicate_does_to_f_locals) {
    Guards framed(names,
                  "def f(x, y): return x\n"
                  "def empty(f_locals): f_locals.clear(); return True");
    framed.guard({"f_locals()", "python(empty)"});
    framed.guard({"local('x')", "list_item(0)", "equals(1)"});
    framed.guard({"f_locals()", "length(0)"});
    const Program& program = framed.program();
    Verdict verdict = Verdict::fail;
    call_viewed(names.eval("f").get(), names.eval("(Fresh([1]), 2)").get(),
                [&](const View& view) {
                    auto values = scratch(program.value_count());
                    Owned<> error;
                    verdict = evaluate(program, view, values.data(), error);
                });
    EXPECT_EQ(verdict, Verdict::pass);
}

TEST_F(Ownership, a_walk_may_run_inside_a_walk_of_the_same_program) {
    names.run("depth = 0");
    guards.guard({"local('x')", "attr('a')", "equals(1)"});
    guards.guard({"local('x')", "attr('b')", "equals(2)"});
    static Guards* inner = nullptr;
    inner = &guards;
    static PyMethodDef method = {"nested",
                                 [](PyObject*, PyObject* locals) -> PyObject* {
                                     const Verdict verdict = inner->verdict(locals);
                                     return PyBool_FromLong(verdict == Verdict::pass);
                                 },
                                 METH_O, nullptr};
    names.set("nested", Owned<>::steal(PyCFunction_New(&method, nullptr)).get());
    names.run(
        "class Nesting:\n"
        "  b = 2\n"
        "  @property\n"
        "  def a(self):\n"
        "    global depth\n"
        "    depth += 1\n"
        "    return 1 if depth == 3 or nested({'x': self}) else 0\n");
    const Program& program = guards.program();
    const Owned<> locals = names.eval("{'x': Nesting()}");
    const MappingScene scene(guards.scope(), locals.get(), program.names());
    auto values = scratch(program.value_count());
    Owned<> error;
    EXPECT_EQ(evaluate(program, scene.view(), values.data(), error), Verdict::pass);
    EXPECT_TRUE(names.is_true("depth == 3"));
}

TEST_F(Ownership, values_that_nothing_needs_give_their_places_back) {
    names.run("class Values:\n  def __getitem__(self, i): return Fresh([i])");
    for (int i = 0; i < 16000; ++i) {
        const std::string number = std::to_string(i);
        guards.guard({"local('x')", "item(" + number + ")", "length(1)"});
    }
    EXPECT_EQ(guards.program().owned_count(), 1);
    EXPECT_EQ(guards.verdict("{'x': Values()}"), Verdict::pass);
}

TEST_F(Ownership, a_place_that_is_taken_over_drops_what_it_had) {
    names.run(
        "alive = []\n"
        "class Counted(list):\n"
        "  def __init__(self, i): super().__init__([i]); alive.append(i)\n"
        "  def __del__(self): alive.remove(self[0])\n"
        "most = 0\n"
        "class Values:\n"
        "  def __getitem__(self, i):\n"
        "    global most\n"
        "    most = max(most, len(alive)); return Counted(i)\n");
    for (int i = 0; i < 20; ++i) {
        const std::string number = std::to_string(i);
        guards.guard(
            {"local('x')", "item(" + number + ")", "list_item(0)", "type_match(int)"});
    }
    EXPECT_EQ(guards.verdict("{'x': Values()}"), Verdict::pass);
    EXPECT_TRUE(names.is_true("alive == [] and most == 1"));
    EXPECT_EQ(guards.explained("{'x': Values()}").verdict, Verdict::pass);
    EXPECT_TRUE(names.is_true("alive == [] and most == 1"));
}

TEST_F(Ownership, values_that_are_read_later_keep_their_places) {
    names.run(
        "class Values(list):\n"
        "  def __getitem__(self, i): return Values([i, Fresh([i])])\n"
        "  def __del__(self): self.clear()\n");
    guards.guard({"local('x')", "item(1)", "item(2)", "item(3)", "length(2)"});
    guards.guard(
        {"local('x')", "item(1)", "list_item(1)", "list_item(0)", "equals(1)"});
    guards.guard({"local('x')", "item(4)", "list_item(0)", "equals(4)"});
    guards.relate("distinct_objects()",
                  {{"local('x')", "item(5)"}, {"local('x')", "item(6)"}});
    for (const char* i : {"7", "8"})
        guards.guard({"local('x')", "item(" + std::string(i) + ")", "length(2)"});
    EXPECT_EQ(guards.verdict("{'x': Values([0])}"), Verdict::pass);
    EXPECT_EQ(guards.explained("{'x': Values([0])}").verdict, Verdict::pass);
}

TEST_F(Ownership, what_a_walk_owned_is_released_on_every_exit) {
    names.run(
        "import weakref\nclass C: pass\nclass Maker:\n"
        "  @property\n  def a(self):\n    made = C(); self.w = weakref.ref(made)\n"
        "    return made\n"
        "  @property\n  def boom(self): 1/0\n"
        "  @property\n  def stop(self): raise KeyboardInterrupt\n"
        "x = Maker()");
    for (const char* then : {"'__class__'", "'missing'", "'boom'", "'stop'"}) {
        Guards each(names);
        each.guard({"local('x')", "attr('a')", "is_not_none()"});
        each.guard({"local('x')", "attr(" + std::string(then) + ")", "is_not_none()"});
        each.verdict("{'x': x}");
        const std::string pending = taken_error_text();
        EXPECT_TRUE(pending.empty() || pending == "KeyboardInterrupt: ") << pending;
        each.error.reset();
        EXPECT_TRUE(names.is_true("x.w() is None")) << then;
    }
}

}  // namespace
}  // namespace guardtree::tests
