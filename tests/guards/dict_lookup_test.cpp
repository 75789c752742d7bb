// Looking keys up: as dict does, with remembered places, without user code.
// SPDX-License-Identifier: MIT
#include "../../guards/objects/dict_lookup.h"

#include <gtest/gtest.h>

#include "../../guards/objects/instance_attribute.h"
#include "../../guards/operands/operand.h"
#include "../support/allocations.h"
#include "../support/interpreter.h"
#include "../support/python.h"

namespace guardtree::tests {
namespace {

class DictLookup : public Interpreter {
protected:
    Key key(const std::string& text) {
        Key made;
        Diagnostic problem;
        if (!Key::read(names.eval(text).get(), made, keep, problem)) {
            throw PythonError(problem.message);
        }
        return made;
    }

    /// What is found, and with a place remembered from before.
    PyObject* find(PyObject* dict, const Key& wanted) {
        PyObject* plain = find_in_dict(dict, wanted).get();
        EXPECT_EQ(find_in_dict(dict, wanted, Remembered(place)).get(), plain);
        EXPECT_EQ(find_in_dict(dict, wanted, Remembered(place)).get(), plain);
        return plain;
    }

    Namespace names;
    References keep;
    uint16_t place = 0;
};

TEST_F(DictLookup, finds_what_dict_finds_in_tables_of_all_sizes) {
    for (const char* text :
         {"{}", "{'k%d' % i: i for i in range(7)}",
          "{'k%d' % i: i for i in range(300)}", "{'k%d' % i: i for i in range(70_000)}",
          "{i: i for i in range(50)}",
          "{**{'k%d' % i: i for i in range(50)}, 0: 0, (1, 'a'): 1}",
          "{i * 0.5: i for i in range(50)}", "{'k1': 0, b'k1': 1, None: 2, ...: 3}"}) {
        const Owned<> dict = names.eval(text);
        for (const char* wanted : {"'k1'", "'k6'", "'k299'", "'k69999'", "'absent'",
                                   "1", "1.0", "True", "2.5", "0j + 1", "(1, 'a')",
                                   "(1.0, 'a')", "None", "...", "b'k1'", "2**70"}) {
            SCOPED_TRACE(std::string(wanted) + " in " + text);
            const Key each = key(wanted);
            PyObject* expected = PyDict_GetItemWithError(dict.get(), each.value);
            EXPECT_EQ(find(dict.get(), each), expected);
        }
    }
}

TEST_F(DictLookup, follows_a_dict_that_changes) {
    names.run("d = {'a': 1, 'b': 2, 'c': 3}");
    const Owned<> dict = names.eval("d");
    const Key wanted = key("'c'");
    for (const char* change :
         {"pass", "d['c'] = 4", "del d['a']", "del d['c']", "d['c'] = 5",
          "d.update((str(i), i) for i in range(1000))", "d.clear()", "d['c'] = 6",
          "d[1] = 2", "d.pop('c')", "d.setdefault('c', 7)"}) {
        names.run(change);
        EXPECT_EQ(find(dict.get(), wanted),
                  PyDict_GetItemWithError(dict.get(), wanted.value))
            << change;
    }
}

TEST_F(DictLookup, finds_keys_that_are_equal_but_not_the_same_object) {
    names.run("d = {''.join(['ab', 'c', chr(0x20AC)]): 1}");
    EXPECT_NE(find(names.eval("d").get(), key("'abc\\u20ac'")), nullptr);
}

TEST_F(DictLookup, leaves_keys_of_users_types_alone) {
    names.run(
        "class K:\n  def __hash__(self): return hash('k')\n"
        "  def __eq__(self, other): raise SystemExit\n"
        "class S(str):\n  def __eq__(self, other): raise SystemExit\n"
        "  __hash__ = str.__hash__\n"
        "d = {K(): 1}; e = {'k': 1, 2: 3}; f = {S('k'): 1}; g = {S('j'): 1, 'k': 2}");
    EXPECT_EQ(find(names.eval("d").get(), key("'k'")), nullptr);
    EXPECT_NE(find(names.eval("e").get(), key("'k'")), nullptr);
    EXPECT_EQ(find(names.eval("f").get(), key("'k'")), nullptr);
    EXPECT_NE(find(names.eval("g").get(), key("'k'")), nullptr);
    EXPECT_EQ(find(names.eval("[]").get(), key("'k'")), nullptr);
    EXPECT_FALSE(PyErr_Occurred());
}

TEST_F(DictLookup, reads_attributes_without_making_a_dict) {
    names.run(
        "class C: pass\nc = C(); c.a = 1; c.b = 2\n"
        "d = C(); d.b = 3; d.a = 4; d.__dict__\n"
        "class L(list): pass\nl = L(); l.b = 5\n"
        "class I(int): pass\ni = I(7); i.b = 6\n"
        "class T(tuple): pass\nt = T((1, 2)); t.b = 7\n"
        "e = C(); e.__dict__ = {'b': 8}\n"
        "g = C(); g.b = 9; g.__dict__.pop('b'); g.__dict__['z'] = 1; g.b = 10\n"
        "def f(): pass\nf.b = 11\n"
        "import types; m = types.ModuleType('m'); m.b = 12\n"
        "x = ValueError(); x.b = 13\n"
        "class Big: pass\nbig = Big()\n"
        "for i_ in range(100): setattr(big, 'n%d' % i_, i_)\nbig.b = 14\n");
    const Key wanted = key("'b'");
    for (const char* name : {"c", "d", "l", "i", "t", "e", "g", "f", "m", "x", "big"}) {
        const Owned<> object = names.eval(name);
        const Owned<> expected = names.eval(std::string(name) + ".b");
        for (int round = 0; round < 2; ++round) {
            EXPECT_EQ(
                find_instance_attribute(object.get(), wanted, Remembered(place)).get(),
                expected.get())
                << name << round;
        }
    }
    const Owned<> plain = names.eval("c");
    EXPECT_NE(instance_values(plain.get(), Py_TYPE(plain.get())), nullptr);
    names.run("n = C(); k = C(); k.a = 1; s = 3; C.b = 1");
    for (const char* name : {"n", "k", "s", "C", "len", "None"}) {
        EXPECT_FALSE(
            find_instance_attribute(names.eval(name).get(), wanted, Remembered(place)))
            << name;
    }
}

TEST_F(DictLookup, allocates_nothing) {
    names.run("class C: pass\nc = C(); c.a = 1");
    const Owned<> object = names.eval("c");
    const Owned<> dict = names.eval("{'a': 1, 2: 3, (1, 2): 4}");
    const Key wanted = key("'a'");
    const Key tuple = key("(1, 2)");
    const Allocations made = allocations_of([&] {
        find_instance_attribute(object.get(), wanted, Remembered(place));
        find_in_dict(dict.get(), wanted, Remembered(place));
        find_in_dict(dict.get(), tuple, Remembered(place));
    });
    EXPECT_EQ(made.all(), 0u);
}

}  // namespace
}  // namespace guardtree::tests
