// Reading private parts of objects: iterators, dict versions, instance dicts.
// SPDX-License-Identifier: MIT
#include <Python.h>

#include <gtest/gtest.h>

#include "../../framelocals/attributes.h"
#include "../../framelocals/iterators.h"
#include "../support/interpreter.h"
#include "../support/python.h"

namespace guardtree::tests {
namespace {

class Objects : public Interpreter {
protected:
    RangeLeft range_left(const std::string& text) {
        RangeLeft left;
        EXPECT_TRUE(read_range_iterator(names.eval(text).get(), left)) << text;
        return left;
    }

    Namespace names;
};

TEST_F(Objects, a_range_iterator_is_read_at_every_step) {
    EXPECT_GE(PyRangeIter_Type.tp_basicsize,
              static_cast<Py_ssize_t>(sizeof(PyObject) + 3 * sizeof(long)));
    names.run("it = iter(range(10, 0, -3))");
    for (const long start : {10L, 7L, 4L, 1L}) {
        const RangeLeft left = range_left("it");
        EXPECT_EQ(left.start, start);
        EXPECT_EQ(left.step, -3);
        EXPECT_EQ(left.length, (start + 2) / 3);
        names.run("next(it)");
    }
    EXPECT_EQ(range_left("it").length, 0);
    names.run("next(it, None)");
    EXPECT_EQ(range_left("it").length, 0);
    RangeLeft left;
    EXPECT_FALSE(read_range_iterator(names.eval("iter([1])").get(), left));
    EXPECT_FALSE(read_range_iterator(names.eval("iter(range(2**70))").get(), left));
}

TEST_F(Objects, a_tuple_iterator_is_read_at_every_step) {
    names.run("it = iter(('a', 'b'))");
    TupleLeft left;
    for (const char* next : {"'a'", "'b'"}) {
        ASSERT_TRUE(read_tuple_iterator(names.eval("it").get(), left));
        ASSERT_GE(left.length, 1);
        EXPECT_EQ(left.items[0], names.eval(next).get());
        names.run("next(it)");
    }
    ASSERT_TRUE(read_tuple_iterator(names.eval("it").get(), left));
    EXPECT_EQ(left.length, 0);
    names.run("next(it, None)");
    ASSERT_TRUE(read_tuple_iterator(names.eval("it").get(), left));
    EXPECT_EQ(left.length, 0);
    EXPECT_FALSE(read_tuple_iterator(names.eval("(1, 2)").get(), left));
    EXPECT_FALSE(read_tuple_iterator(names.eval("iter([1])").get(), left));
}

TEST_F(Objects, a_dict_version_is_new_after_each_change_where_there_is_one) {
    const Owned<> dict = names.eval("{'a': 1}");
    names.set("d", dict.get());
    const uint64_t first = dict_version(dict.get());
    names.run("d['b'] = 2");
    const uint64_t second = dict_version(dict.get());
    names.run("del d['b']");
    const uint64_t third = dict_version(dict.get());
    if (first == 0) {
        EXPECT_EQ(second, 0u);
        EXPECT_EQ(third, 0u);
    } else {
        EXPECT_TRUE(first != second && second != third && third != first);
    }
}

TEST_F(Objects, an_instance_attribute_is_found_without_a_dict) {
    names.run("class C: pass\nc = C(); c.a = 'here'");
    const Owned<> object = names.eval("c");
    const Owned<> name = Owned<>::steal(PyUnicode_InternFromString("a"));
    const Owned<> other = Owned<>::steal(PyUnicode_InternFromString("b"));
    EXPECT_EQ(find_in_instance(object.get(), name.get()).get(),
              names.eval("'here'").get());
    EXPECT_FALSE(find_in_instance(object.get(), other.get()));
    EXPECT_FALSE(find_in_instance(names.eval("3").get(), name.get()));
    names.run("c.__dict__['b'] = 4");
    EXPECT_TRUE(find_in_instance(object.get(), other.get()));
    EXPECT_TRUE(find_in_instance(object.get(), name.get()));
}

}  // namespace
}  // namespace guardtree::tests
