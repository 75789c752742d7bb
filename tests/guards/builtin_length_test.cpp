// builtin_length: len() of builtin containers, and of nothing that could run user code.
// SPDX-License-Identifier: MIT
#include "../../guards/objects/builtin_length.h"

#include <gtest/gtest.h>

#include "../support/interpreter.h"
#include "../support/python.h"

namespace guardtree::tests {
namespace {

class BuiltinLength : public Interpreter {
protected:
    Py_ssize_t length(const std::string& text) {
        return builtin_length(names.eval(text).get());
    }

    Namespace names;
};

TEST_F(BuiltinLength, the_first_use_in_a_process_runs_no_user_code) {
    names.run(
        "import builtins\nran = []\noriginal = builtins.__import__\n"
        "class Sized:\n  def __len__(self): ran.append('len'); return 1\n"
        "sized = Sized()\n"
        "def spy(*arguments, **keywords):\n"
        "  ran.append('import'); return original(*arguments, **keywords)\n"
        "builtins.__import__ = spy");
    const Py_ssize_t found = builtin_length(names.eval("sized").get());
    names.run("builtins.__import__ = original");
    EXPECT_EQ(found, -1);
    EXPECT_TRUE(names.is_true("ran == []")) << "an import ran inside a check";
}

TEST_F(BuiltinLength, is_len_of_every_builtin_container) {
    set_up_builtin_length();
    names.run("from collections import *");
    for (const char* text :
         {"[1, 2]", "(1,)", "{'a': 1}", "{1, 2, 3}", "frozenset({1})", "'abcd'", "''",
          "b'ab'", "bytearray(b'abc')", "range(7)", "range(0)", "deque([1, 2])",
          "OrderedDict(a=1)", "defaultdict(list)", "Counter('abc')",
          "namedtuple('P', 'x y')(1, 2)"}) {
        const Owned<> value = names.eval(text);
        EXPECT_EQ(builtin_length(value.get()), PyObject_Size(value.get())) << text;
    }
}

TEST_F(BuiltinLength, is_len_of_subclasses_that_keep_it) {
    names.run(
        "class L(list): pass\nclass D(dict): pass\nclass S(str): pass\n"
        "class Below(L):\n  def __getitem__(self, i): return 0");
    EXPECT_EQ(length("L([1, 2])"), 2);
    EXPECT_EQ(length("D(a=1)"), 1);
    EXPECT_EQ(length("S('abc')"), 3);
    EXPECT_EQ(length("Below([1])"), 1);
}

TEST_F(BuiltinLength, is_nothing_where_user_code_would_run) {
    names.run(
        "class L(list):\n  def __len__(self): raise KeyboardInterrupt\n"
        "class D(dict):\n  def __len__(self): return 1\n"
        "class Late(list): pass\nlate = Late([1])\n");
    EXPECT_EQ(length("L([1])"), -1);
    EXPECT_EQ(length("D(a=1)"), -1);
    EXPECT_EQ(length("late"), 1);
    names.run("Late.__len__ = lambda self: 1");
    EXPECT_EQ(length("late"), -1);
    names.run("del Late.__len__");
    EXPECT_EQ(length("late"), 1);
}

TEST_F(BuiltinLength, is_nothing_for_other_values) {
    for (const char* text : {"1", "None", "memoryview(b'ab')", "{}.keys()", "int",
                             "iter([1])", "__import__('array').array('i', [1])"}) {
        EXPECT_EQ(length(text), -1) << text;
    }
}

TEST_F(BuiltinLength, is_nothing_for_a_range_longer_than_a_word) {
    EXPECT_EQ(length("range(2**70)"), -1);
    EXPECT_FALSE(PyErr_Occurred());
}

}  // namespace
}  // namespace guardtree::tests
