// Tables: first match in insertion order, snapshots, dead entries, kept errors.
// SPDX-License-Identifier: MIT
#include "../../guards/lookup/table.h"

#include <gtest/gtest.h>

#include "../../guards/lookup/lookup.h"
#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class TableTest : public Interpreter {
protected:
    /// Adds an entry with these guards; its payload is the number of entries before.
    void add(std::initializer_list<Guards::Path> all) {
        Guards guards(names);
        for (const Guards::Path& path : all) guards.guard(path);
        Program program;
        Diagnostic problem;
        if (!Program::compile(guards.tree, guards.code(), program, problem)) {
            throw PythonError(problem.message);
        }
        const auto number = Owned<>::steal(PyLong_FromSize_t(table->entries().size()));
        table = table->with(
            make_shared_counted<Entry>(std::move(program), number, Owned<>()));
    }

    /// Payload of the entry that is found, -1 without one.
    long found(const std::string& locals_text) {
        const Owned<> locals = names.eval(locals_text);
        std::vector<SlotName> wanted;
        for (const auto& entry : table->entries()) {
            const auto more = entry->program.names();
            wanted.insert(wanted.end(), more.begin(), more.end());
        }
        const MappingScene scene(scope.scope(), locals.get(), wanted);
        const auto mode = Lookup::mode_of(*table);
        auto room = scratch(Lookup::room(*table, scene.view(), mode));
        const bool is_leaf = table->is_leaf();  // the look-up may replace the table
        Lookup lookup(*table, scene.view(), room.data(), mode);
        const Entry* entry = lookup.find();
        if (is_leaf) {  // both walks of such a table agree
            const SlotWord* slots = scene.view().slots();
            EXPECT_EQ(Lookup::in_slots(*table, slots), entry) << locals_text;
        }
        return entry ? PyLong_AsLong(entry->payload.get()) : -1;
    }

    Namespace names;
    Guards scope{names};
    Shared<Table> table = make_shared_counted<Table>();
};

TEST_F(TableTest, an_empty_table_finds_nothing) {
    EXPECT_EQ(found("{'x': 1}"), -1);
}

TEST_F(TableTest, the_first_entry_that_passes_in_insertion_order_is_found) {
    add({{"local('x')", "type_match(str)"}});
    add({{"local('x')", "type_match(int)"}});
    add({{"local('x')", "is_not_none()"}});
    add({{"local('x')", "type_match(int)"}, {"local('x')", "equals(1)"}});
    EXPECT_EQ(found("{'x': 'a'}"), 0);
    EXPECT_EQ(found("{'x': 1}"), 1);
    EXPECT_EQ(found("{'x': 1.0}"), 2);
    EXPECT_EQ(found("{'x': None}"), -1);
}

TEST_F(TableTest, an_entry_without_guards_always_matches) {
    add({});
    EXPECT_EQ(found("{}"), 0);
}

TEST_F(TableTest, adding_makes_a_new_table) {
    add({{"local('x')", "is_none()"}});
    const Shared<Table> before = table;
    add({{"local('x')", "is_true()"}});
    EXPECT_EQ(before->entries().size(), 1u);
    EXPECT_EQ(table->entries().size(), 2u);
    EXPECT_EQ(before->entries()[0].get(), table->entries()[0].get());
}

TEST_F(TableTest, entries_that_can_never_pass_again_are_dropped_in_order) {
    names.run("class C: pass\nc = C()");
    add({{"local('x')", "is_none()"}});
    add({{"local('x')", "id_match(c)"}});
    add({{"local('x')", "is_true()"}});
    EXPECT_FALSE(table->has_dead());
    names.run("del c");
    EXPECT_TRUE(table->has_dead());
    EXPECT_EQ(found("{'x': True}"), 2);
    const Shared<Table> live = table->without_dead();
    ASSERT_EQ(live->entries().size(), 2u);
    EXPECT_EQ(live->entries()[1].get(), table->entries()[2].get());
    add({{"local('x')", "is_false()"}});
    EXPECT_EQ(table->entries().size(), 3u);
    EXPECT_EQ(found("{'x': False}"), 3);
}

TEST_F(TableTest, an_error_is_kept_in_its_entry_and_the_search_goes_on) {
    names.run("def divide(value): return 1 / value");
    add({{"local('x')", "python(divide)"}});
    add({{"local('x')", "equals(0)"}});
    EXPECT_EQ(found("{'x': 0}"), 1);
    EXPECT_FALSE(PyErr_Occurred());
    const Entry& entry = *table->entries()[0];
    EXPECT_EQ(entry.errors, 1u);
    ASSERT_TRUE(entry.last_error);
    EXPECT_EQ(as_object(Py_TYPE(entry.last_error.get())), PyExc_ZeroDivisionError);
    EXPECT_EQ(table->entries()[1]->errors, 0u);
}

TEST_F(TableTest, a_kept_error_keeps_no_frames_alive) {
    names.run(
        "import weakref\nclass C: pass\n"
        "def fails(value):\n  global w\n  local = C(); w = weakref.ref(local)\n"
        "  1/0\n"
        "def chained(value):\n  try: fails(value)\n"
        "  except ZeroDivisionError: raise ValueError");
    add({{"local('x')", "python(fails)"}});
    found("{'x': 0}");
    EXPECT_TRUE(names.is_true("w() is None"));
    add({{"local('x')", "python(chained)"}});
    found("{'x': 0}");
    EXPECT_TRUE(names.is_true("w() is None"));
}

TEST_F(TableTest, an_interrupt_ends_the_search_and_stays_pending) {
    names.run("def stop(value): raise KeyboardInterrupt");
    add({{"local('x')", "python(stop)"}});
    add({});
    EXPECT_EQ(found("{'x': 0}"), -1);
    EXPECT_EQ(taken_error_text(), "KeyboardInterrupt: ");
    EXPECT_FALSE(table->entries()[0]->last_error);
}

TEST_F(TableTest, leaf_programs_are_found_by_slots_alone) {
    add({{"local('x')", "type_match(str)"}, {"local('y')", "is_true()"}});
    add({{"local('x')", "type_match(int)"}, {"local('y')", "id_match(len)"}});
    add({{"local('z')", "is_none()"}});
    ASSERT_TRUE(table->is_leaf());
    EXPECT_EQ(found("{'x': '', 'y': True}"), 0);
    EXPECT_EQ(found("{'x': 1, 'y': len}"), 1);
    EXPECT_EQ(found("{'x': 1, 'y': True, 'z': None}"), 2);
    EXPECT_EQ(found("{'x': 1}"), -1);
    add({{"local('x')", "length(1)"}});
    EXPECT_FALSE(table->is_leaf());
}

TEST_F(TableTest, its_needs_are_the_largest_of_its_entries) {
    add({{"local('x')", "type_match(int)"}});
    EXPECT_EQ(table->value_count(), 0);
    EXPECT_FALSE(table->calls_python());
    add({{"local('x')", "attr('a')", "attr('b')", "is_none()"}});
    EXPECT_EQ(table->value_count(), 2);
    EXPECT_TRUE(table->calls_python());
}

TEST_F(TableTest, a_lookup_keeps_its_table_while_a_guard_replaces_it) {
    static Shared<Table>* replaced = nullptr;
    replaced = &table;
    static PyMethodDef method = {"reset",
                                 [](PyObject*, PyObject*) -> PyObject* {
                                     *replaced = make_shared_counted<Table>();
                                     return PyBool_FromLong(0);
                                 },
                                 METH_O, nullptr};
    names.set("reset", Owned<>::steal(PyCFunction_New(&method, nullptr)).get());
    add({{"local('x')", "python(reset)"}});
    add({{"local('x')", "equals([1])"}});
    EXPECT_EQ(found("{'x': [1]}"), 1);
    EXPECT_TRUE(table->entries().empty());
}

}  // namespace
}  // namespace guardtree::tests
