// Views over mappings: what they look up, own, and say where a name is missing.
// SPDX-License-Identifier: MIT
#include <Python.h>

#include <array>

#include <gtest/gtest.h>

#include "../../framelocals/views/view.h"
#include "../support/interpreter.h"
#include "../support/python.h"

namespace guardtree::tests {
namespace {

class MappingViewTest : public Interpreter {
protected:
    void SetUp() override {
        names.run(
            "def g(p=1, q=2):\n  def f(x, y): z = 3; return p, q, z\n  return f\n"
            "f = g()");
        code = names.code("pass");
        closure = names.eval("f.__closure__");
        for (int slot = 0; slot < code.get()->co_nlocalsplus; ++slot) {
            wanted.push_back(
                {slot, PyTuple_GET_ITEM(code.get()->co_localsplusnames, slot)});
        }
    }

    /// A view's scope outlives it: this one lives as long as the test.
    const Scope& scope() {
        scope_ = {
            .code = code.get(), .globals = names.dict(), .closure = closure.get()};
        return scope_;
    }

    /// The long that a value is; -1 for null.
    static long number(Borrowed<> value) {
        return value ? PyLong_AsLong(value.get()) : -1;
    }

    Namespace names;
    Owned<PyCodeObject> code;
    Owned<> closure;
    std::vector<SlotName> wanted;
    std::array<SlotWord, 8> storage{};

private:
    Scope scope_;
};

TEST_F(MappingViewTest, gives_values_by_slot_and_null_where_a_name_is_missing) {
    MappingView view(scope(), storage);
    const Owned<> mapping = names.eval("{'x': 10, 'z': 30, 'other': 0}");
    ASSERT_TRUE(view.fill(mapping.get(), wanted));
    EXPECT_EQ(number(view.local(0)), 10);
    EXPECT_FALSE(view.local(1));
    EXPECT_EQ(number(view.local(2)), 30);
}

TEST_F(MappingViewTest, looks_up_only_what_is_wanted) {
    names.run(
        "class Spy(dict):\n  def __getitem__(self, key):\n    asked.append(key)\n"
        "    return dict.__getitem__(self, key)\nasked = []\nspy = Spy(x=1, y=2)");
    MappingView view(scope(), storage);
    ASSERT_TRUE(view.fill(names.eval("spy").get(), std::span(wanted).first(1)));
    EXPECT_TRUE(names.is_true("asked == ['x']"));
    EXPECT_FALSE(view.local(1));
}

TEST_F(MappingViewTest, takes_any_mapping_and_owns_its_temporaries) {
    names.run("class Maker:\n  def __getitem__(self, key): return [key] * 3");
    MappingView view(scope(), storage);
    ASSERT_TRUE(view.fill(names.eval("Maker()").get(), wanted));
    EXPECT_EQ(PyList_Size(view.local(1).get()), 3);
    EXPECT_EQ(Py_REFCNT(view.local(1).get()), 1);
}

TEST_F(MappingViewTest, releases_what_it_owned) {
    const Owned<> value = names.eval("['value']");
    const Py_ssize_t before = Py_REFCNT(value.get());
    {
        names.set("value", value.get());
        MappingView view(scope(), storage);
        ASSERT_TRUE(view.fill(names.eval("{'x': value, 'y': value}").get(), wanted));
        names.run("del value");
        EXPECT_EQ(Py_REFCNT(value.get()), before + 2);
    }
    EXPECT_EQ(Py_REFCNT(value.get()), before);
}

TEST_F(MappingViewTest, passes_on_what_the_mapping_raises) {
    names.run("class Raises:\n  def __getitem__(self, key): raise ValueError(key)");
    MappingView view(scope(), storage);
    EXPECT_FALSE(view.fill(names.eval("Raises()").get(), wanted));
    EXPECT_EQ(taken_error_text(), "ValueError: x");
}

TEST_F(MappingViewTest, reads_free_variables_from_their_cells) {
    MappingView view(scope(), storage);
    ASSERT_TRUE(view.fill(names.eval("{'x': 1}").get(), wanted));
    EXPECT_EQ(number(view.free_variable(0)), 1);
    EXPECT_EQ(number(view.free_variable(1)), 2);
    EXPECT_EQ(number(view.value(first_free_slot(code.get()) + 1)), 2);
}

TEST_F(MappingViewTest, a_mapping_speaks_for_the_free_variables_it_has) {
    MappingView view(scope(), storage);
    ASSERT_TRUE(view.fill(names.eval("{'p': 10, 'q': 20}").get(), wanted));
    EXPECT_EQ(number(view.free_variable(0)), 10);
    EXPECT_EQ(number(view.free_variable(1)), 20);
}

TEST_F(MappingViewTest, only_the_free_variables_a_mapping_lacks_come_from_cells) {
    MappingView view(scope(), storage);
    ASSERT_TRUE(view.fill(names.eval("{'p': 10}").get(), wanted));
    EXPECT_EQ(number(view.free_variable(0)), 10);
    EXPECT_EQ(number(view.free_variable(1)), 2);
}

TEST_F(MappingViewTest, an_empty_cell_is_unbound) {
    names.run("import types\ncells = (types.CellType(), types.CellType(5))");
    closure = names.eval("cells");
    MappingView view(scope(), storage);
    ASSERT_TRUE(view.fill(names.eval("{}").get(), wanted));
    EXPECT_FALSE(view.free_variable(0));
    EXPECT_EQ(number(view.free_variable(1)), 5);
}

TEST_F(MappingViewTest, f_locals_is_the_mapping_itself_and_no_dict_is_built) {
    MappingView view(scope(), storage);
    const Owned<> mapping = names.eval("{'x': 1}");
    ASSERT_TRUE(view.fill(mapping.get(), wanted));
    const uint64_t before = dicts_built();
    EXPECT_EQ(view.f_locals().get(), mapping.get());
    EXPECT_EQ(view.dicts_built(), 0);
    EXPECT_EQ(dicts_built(), before);
}

TEST_F(MappingViewTest, slots_are_found_by_name) {
    const auto slot = [&](const char* name) {
        return find_slot(code.get(), Owned<>::steal(PyUnicode_FromString(name)).get());
    };
    EXPECT_EQ(slot("x"), 0);
    EXPECT_EQ(slot("z"), 2);
    EXPECT_EQ(slot("q"), first_free_slot(code.get()) + 1);
    EXPECT_EQ(slot("nope"), -1);
}

}  // namespace
}  // namespace guardtree::tests
