// Kinds that remember a state: dict_version, type_version, function_match. What changes
// it is noticed, what does not is not, and what each is blind to is written down here.
// SPDX-License-Identifier: MIT
#include <Python.h>

#include <gtest/gtest.h>

#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class Snapshot : public Interpreter {
protected:
    void SetUp() override { names.run("from collections import OrderedDict"); }

    /// The verdict of `kind` on `value` after the statements.
    bool passes_after(const std::string& setup, const std::string& kind,
                      const std::string& change, const std::string& value) {
        names.run(setup);
        Guards guards(names);
        guards.guard({"local('x')", kind});
        EXPECT_EQ(guards.verdict("{'x': " + value + "}"), Verdict::pass) << setup;
        names.run(change);
        return guards.verdict("{'x': " + value + "}") == Verdict::pass;
    }

    bool dict_passes_after(const std::string& change) {
        return passes_after("a, b = object(), object()\nd = {'a': a, 'b': b, 3: 4}",
                            "dict_version(d)", change, "d");
    }

    /// An instance's dict, made before or after attributes are stored.
    bool instance_dict_passes_after(const std::string& change) {
        return passes_after("class C: pass\nc = C()\nc.a, c.b = 1, 2\nd = c.__dict__",
                            "dict_version(d)", change, "d");
    }

    std::string refusal(const std::string& kind) {
        try {
            Guards(names).guard({"local('x')", kind});
        } catch (const PythonError& error) {
            return error.what();
        }
        return "accepted";
    }

    Namespace names;
};

TEST_F(Snapshot, a_dict_that_changed_does_not_match) {
    for (const char* change :
         {"d['c'] = 1", "d['a'] = object()", "d['a'] = b", "del d['a']", "d.pop('a')",
          "d.popitem()", "d.clear()", "d.update(c=1)", "d.update(a=b)",
          "d.setdefault('c', 1)", "d |= {'c': 1}", "d.__init__(c=1)",
          "d.__init__({'a': b})", "dict.__setitem__(d, 'a', 0)",
          "x = d.pop('a'); d['a'] = x", "d.clear(); d.update(b=b)", "d[True] = 1",
          "exec('a = 0', {}, d)", "exec('a = 0', d)"}) {
        EXPECT_FALSE(dict_passes_after(change)) << change;
    }
}

TEST_F(Snapshot, an_empty_dict_that_is_filled_does_not_match) {
    for (const char* change : {"d['a'] = 1", "d.update(a=1)", "d |= {'a': 1}",
                               "d.update({'a': 1, 'b': 2})", "d.setdefault('a')"}) {
        EXPECT_FALSE(passes_after("d = {}", "dict_version(d)", change, "d")) << change;
    }
}

TEST_F(Snapshot, a_dict_that_did_not_change_matches) {
    for (const char* change :
         {"d['a']", "d['a'] = a", "d.get('x')", "d.setdefault('a')", "d.pop('x', 0)",
          "d.update()", "list(d.items())", "d.copy().clear()", "d == {}", "3 in d",
          "d.__init__()", "d |= {}"}) {
        EXPECT_TRUE(dict_passes_after(change)) << change;
    }
}

TEST_F(Snapshot, attribute_stores_change_an_instances_dict) {
    for (const char* change :
         {"c.a = 5", "c.z = 1", "del c.a", "setattr(c, 'a', 7)",
          "for i in range(99): c.a = [i]", "d['a'] = 5", "d.clear()",
          "object.__setattr__(c, 'b', 0)", "c.__dict__.update(q=1)",
          "for i in range(40): setattr(c, f'n{i}', i)"}) {
        EXPECT_FALSE(instance_dict_passes_after(change)) << change;
    }
    EXPECT_TRUE(instance_dict_passes_after("c.a"));
    // The object has another dict then; the guard is about the old one.
    EXPECT_TRUE(instance_dict_passes_after("c.__dict__ = {}; c.a = 3"));
}

TEST_F(Snapshot, a_dict_is_told_by_identity_and_blind_to_what_values_hold) {
    EXPECT_FALSE(
        passes_after("d = {'a': 1}", "dict_version(d)", "e = d\nd = dict(d)", "d"));
    EXPECT_TRUE(
        passes_after("d = {'a': []}", "dict_version(d)", "d['a'].append(1)", "d"));
    EXPECT_TRUE(
        passes_after("d = {'a': {}}", "dict_version(d)", "d['a']['b'] = 1", "d"));
}

TEST_F(Snapshot, a_dict_that_was_put_back_may_match_or_not) {
    // 3.11 compares versions and says no; later ones compare what is there.
    dict_passes_after("d['a'] = b; d['a'] = a");
    EXPECT_FALSE(dict_passes_after("d['a'] = b; d['a'] = a; d['c'] = 1"));
}

TEST_F(Snapshot, only_exact_dicts_are_taken) {
    EXPECT_EQ(refusal("dict_version(OrderedDict(a=1))").substr(0, 78),
              "dict_version(expected): expected a dict (not of a subclass), found "
              "OrderedDict");
    EXPECT_NE(refusal("dict_version([])"), "accepted");
}

TEST_F(Snapshot, a_type_that_changed_does_not_match) {
    const char* setup =
        "class A: pass\nclass B(A):\n  x = 1\n  def f(self): return 1\nB.x";
    for (const char* change :
         {"B.x = 1", "B.y = 2", "del B.x", "A.z = 3", "del B.f", "B.f = lambda self: 2",
          "A.x = 5", "class D: pass\nB.__bases__ = (D,)"}) {
        EXPECT_FALSE(passes_after(setup, "type_version(B)", change, "B")) << change;
        // A look-up gives the type a new tag; never the old one.
        EXPECT_FALSE(
            passes_after(setup, "type_version(B)",
                         std::string(change) + "\nhasattr(B, 'x')\nB().__doc__", "B"))
            << change;
    }
    EXPECT_TRUE(passes_after(setup, "type_version(B)", "b = B(); b.x = 2; B.x", "B"));
    EXPECT_TRUE(passes_after(setup, "type_version(B)", "class C(B): y = 1", "B"));
    EXPECT_FALSE(
        passes_after(setup, "type_version(B)", "B = type('B', (A,), {})", "B"));
}

TEST_F(Snapshot, a_type_that_died_never_matches) {
    names.run("class B: pass");
    Guards guards(names);
    guards.guard({"local('x')", "type_version(B)"});
    EXPECT_FALSE(guards.program().is_dead());
    names.run("del B\nimport gc; gc.collect()");
    EXPECT_TRUE(guards.program().is_dead());
    EXPECT_EQ(guards.verdict("{'x': None}"), Verdict::fail);
    EXPECT_EQ(guards.verdict("{'x': int}"), Verdict::fail);
}

TEST_F(Snapshot, a_type_that_ran_out_of_tags_is_refused) {
    // 3.13 and later give a type 1000; on others this one never runs out.
    names.run(
        "class B: pass\nb = B()\n"
        "for i in range(1200):\n  B.x = i\n  b.x");
    const std::string answer = refusal("type_version(B)");
    if (answer != "accepted") {
        EXPECT_NE(answer.find("expected a type that can have a version tag"),
                  std::string::npos)
            << answer;
    }
    EXPECT_EQ(refusal("type_version(3)"),
              "type_version(expected): expected a type, found 3 (int)");
}

TEST_F(Snapshot, a_function_whose_parts_changed_does_not_match) {
    const char* setup =
        "def make(v, w):\n"
        "  def fn(a=v, *, k=w): return v, w\n"
        "  return fn\n"
        "one, two = object(), object()\nfn = make(one, two)\nrecord = fn";
    for (const char* change :
         {"fn = make(one, one)", "fn = make(two, one)", "fn.__defaults__ = None",
          "fn.__defaults__ = (two,)", "fn.__kwdefaults__['k'] = one",
          "fn.__kwdefaults__ = None", "fn.__kwdefaults__['z'] = 1",
          "fn.__code__ = fn.__code__.replace(co_name='g')",
          "fn.__closure__[0].cell_contents = 3", "del fn.__closure__[0].cell_contents",
          "fn.__defaults__ = (one, one)", "fn = len", "fn = None", "fn = make"}) {
        EXPECT_FALSE(passes_after(setup, "function_match(fn)", change, "fn")) << change;
    }
    for (const char* change :
         {"fn = make(one, two)", "fn.__name__ = 'g'", "fn.attribute = 1",
          "fn = type(fn)(fn.__code__, {}, 'f', fn.__defaults__, fn.__closure__);"
          "fn.__kwdefaults__ = {'k': two}"}) {
        EXPECT_TRUE(passes_after(setup, "function_match(fn)", change, "fn")) << change;
    }
}

TEST_F(Snapshot, groups_of_parts_of_a_function_are_not_mixed_up) {
    names.run(
        "def make(v):\n  def fn(a=0): return v\n  return fn\n"
        "fn = make(7)\nfn.__defaults__ = None\n"
        "g = type(fn)(fn.__code__, {}, 'g', (7,), fn.__closure__)");
    EXPECT_TRUE(passes_after("", "function_match(fn)", "", "fn"));
    EXPECT_FALSE(passes_after("", "function_match(fn)", "fn = g", "fn"));
}

TEST_F(Snapshot, a_function_is_not_kept_alive) {
    names.run(
        "import weakref\n"
        "def make():\n  def fn(): return fn\n  return fn\n"
        "fn = make()\nalive = weakref.ref(fn)");
    Guards guards(names);
    guards.guard({"local('x')", "function_match(fn)"});
    EXPECT_EQ(guards.verdict("{'x': fn}"), Verdict::pass);
    names.run("del fn\nimport gc; gc.collect()");
    EXPECT_TRUE(names.is_true("alive() is None"));
    EXPECT_TRUE(guards.program().is_dead());
    EXPECT_EQ(guards.verdict("{'x': make()}"), Verdict::fail);
}

}  // namespace
}  // namespace guardtree::tests
