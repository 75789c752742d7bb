// The C interface from inside: look-ups that allocate nothing, views that own nothing.
// SPDX-License-Identifier: MIT
#include "../../capi/c_api.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "../support/allocations.h"
#include "../support/interpreter.h"
#include "../support/python.h"

namespace guardtree::tests {
namespace {

class CApiTest : public Interpreter {
protected:
    CApiTest() {
        names.run("def f(a, b=2, k=3): pass");
        function = names.eval("f");
    }

    ~CApiTest() override { api->table_free(table); }

    /// Adds an entry with these guards.
    void add(const char* guards) {
        guardtree_tree* tree = api->tree_of_text(function.get(), guards, names.dict());
        if (!tree || !api->table_add(table = new_table(), tree, this, nullptr))
            throw PythonError(taken_error_text());
        api->tree_free(tree);
    }

    guardtree_table* new_table() {
        return table ? table : api->table_new(function.get());
    }

    /// Makes a view of a call with one argument, looks it up and ends it.
    int look_up(PyObject* argument) {
        if (api->view_of_call(&view, function.get(), &argument, 1, nullptr,
                              storage.data(), storage.size()) != GUARDTREE_HIT)
            return GUARDTREE_NO_VIEW;
        const int answer =
            api->lookup(table, &view, scratch.data(), scratch.size(), &found);
        api->view_end(&view);
        return answer;
    }

    const guardtree_api* api = c_api("test");
    Namespace names;
    Owned<> function;
    guardtree_table* table = nullptr;
    guardtree_view view = {};
    guardtree_found found = {};
    std::array<PyObject*, 16> storage{};
    std::array<PyObject*, 16> scratch{};
};

TEST_F(CApiTest, look_ups_allocate_nothing) {
    add("type(a) is list and type(a[0]) is int and b == 2");
    const Owned<> hit = names.eval("[10**6]");
    const Owned<> miss = names.eval("['x']");
    EXPECT_EQ(look_up(hit.get()), GUARDTREE_HIT);
    std::array<int, 2> answers{};
    const Allocations made = allocations_of([&] {
        answers = {look_up(hit.get()), look_up(miss.get())};
    });
    EXPECT_EQ(answers, (std::array<int, 2>{GUARDTREE_HIT, GUARDTREE_MISS}));
    EXPECT_EQ(made.all(), 0u);
    EXPECT_EQ(found.payload, this);
}

TEST_F(CApiTest, values_are_handed_over_without_an_allocation) {
    guardtree_tree* tree =
        api->tree_of_text(function.get(), "type(a) is list", nullptr);
    PyObject* const name = names.eval("'a'").new_reference();
    PyObject* const zero = names.eval("0").new_reference();
    const int64_t local = api->tree_step(tree, 0, "local", &name, 1);
    const std::array nodes{local, api->tree_step(tree, local, "list_item", &zero, 1)};
    table = new_table();
    ASSERT_EQ(api->table_add_capturing(table, tree, this, nullptr, nodes.data(), 2),
              1u);
    api->tree_free(tree);
    const Owned<> subject = names.eval("[10**6]");
    PyObject* argument = subject.get();
    ASSERT_EQ(api->view_of_call(&view, function.get(), &argument, 1, nullptr,
                                storage.data(), storage.size()),
              GUARDTREE_HIT);
    std::array<PyObject*, 2> values{};
    guardtree_captured captured{values.data(), values.size(), 0};
    int answer = GUARDTREE_MISS;
    const Allocations made = allocations_of([&] {
        answer = api->lookup_captured(table, &view, scratch.data(), scratch.size(),
                                      &found, &captured);
    });
    api->view_end(&view);
    EXPECT_EQ(answer, GUARDTREE_HIT);
    EXPECT_EQ(made.all(), 0u);
    EXPECT_EQ(captured.count, 2u);
    EXPECT_EQ(values[0], subject.get());
    EXPECT_EQ(values[1], PyList_GET_ITEM(subject.get(), 0));
    for (PyObject* each : {values[0], values[1], name, zero})
        Owned<>::steal(each).reset();
}

TEST_F(CApiTest, look_ups_and_views_keep_no_reference) {
    add("type(a) is list and len(a) == 1");
    const Owned<> subject = names.eval("[None]");
    const Owned<> mapping = names.eval("{'a': [None]}");
    const auto count = [&] {
        return Py_REFCNT(subject.get()) + Py_REFCNT(function.get()) +
               Py_REFCNT(mapping.get());
    };
    const Py_ssize_t before = count();
    EXPECT_EQ(look_up(subject.get()), GUARDTREE_HIT);
    ASSERT_EQ(api->view_of_mapping(&view, table, mapping.get(), storage.data(),
                                   storage.size()),
              GUARDTREE_HIT);
    EXPECT_EQ(api->lookup(table, &view, scratch.data(), scratch.size(), &found),
              GUARDTREE_HIT);
    api->view_end(&view);
    EXPECT_EQ(count(), before);
}

TEST_F(CApiTest, values_of_an_array_outlive_the_guards_that_end_their_owner) {
    names.run("dead = []\n"
              "class Value:\n"
              "    def __del__(self): dead.append(self)\n"
              "box = [Value(), Value(), Value()]\n"
              "def drop(value): box.clear(); return True\n"
              "def lives(value): return not dead\n");
    const Owned<> box = names.eval("box");
    std::array<PyObject*, 3> locals{};
    for (size_t i = 0; i < locals.size(); ++i)
        locals[i] = PyList_GET_ITEM(box.get(), static_cast<Py_ssize_t>(i));
    add("drop(a) and type(b) is Value and lives(b) and type(k) is Value");
    ASSERT_EQ(api->view_of_locals(&view, function.get(), locals.data(), locals.size()),
              GUARDTREE_HIT);
    EXPECT_EQ(api->lookup(table, &view, scratch.data(), scratch.size(), &found),
              GUARDTREE_HIT);
    EXPECT_EQ(PyList_GET_SIZE(names.eval("dead").get()), 3);
    api->view_end(&view);
}

TEST_F(CApiTest, foreign_operands_that_are_equal_are_one) {
    static int context = 0;
    const guardtree_foreign about{sizeof(guardtree_foreign),
                                  &context,
                                  nullptr,
                                  nullptr,
                                  [](void*) { return size_t{7}; },
                                  [](void*, void*) { return 1; }};
    const guardtree_check check = [](PyObject*, void*) { return 1; };
    const guardtree_check other = [](PyObject*, void*) { return 0; };
    const auto first = Owned<>::steal(api->check_operand(check, &about));
    const auto second = Owned<>::steal(api->check_operand(check, &about));
    const auto third = Owned<>::steal(api->check_operand(other, &about));
    const auto alone = Owned<>::steal(api->check_operand(check, nullptr));
    EXPECT_EQ(first.get(), second.get());
    EXPECT_NE(first.get(), third.get());
    EXPECT_NE(first.get(), alone.get());
}

}  // namespace
}  // namespace guardtree::tests
