// Walking sets: every element once, nothing allocated.
// SPDX-License-Identifier: MIT
#include "../../framelocals/set_entries.h"

#include <gtest/gtest.h>

#include "../support/allocations.h"
#include "../support/interpreter.h"
#include "../support/python.h"

namespace guardtree::tests {
namespace {

class SetEntries : public Interpreter {
protected:
    Namespace names;
};

TEST_F(SetEntries, every_element_is_seen_once) {
    for (const char* text : {"set()", "{1}", "frozenset('abc')", "set(range(1000))",
                             "set(range(100)) - set(range(3, 90))"}) {
        const Owned<> set = names.eval(text);
        const auto seen = Owned<>::steal(PySet_New(nullptr));
        Py_ssize_t position = 0;
        Py_ssize_t count = 0;
        PyObject* key = nullptr;
        while (next_set_entry(set.get(), &position, &key)) {
            PySet_Add(seen.get(), key);
            ++count;
        }
        EXPECT_EQ(count, PySet_Size(set.get())) << text;
        EXPECT_EQ(PyObject_RichCompareBool(seen.get(), set.get(), Py_EQ), 1) << text;
    }
}

TEST_F(SetEntries, a_probe_meets_every_element_of_a_hash) {
    names.run(
        "class H:\n"
        "  def __init__(self, hash): self.hash = hash\n"
        "  def __hash__(self): return self.hash\n");
    for (const char* text : {"{H(n % 7) for n in range(200)}", "{H(0), H(0), H(8)}",
                             "{H(n << 20) for n in range(300)}", "set()",
                             "frozenset(H(n) for n in range(1000))"}) {
        const Owned<> set = names.eval(text);
        Py_ssize_t position = 0;
        PyObject* key = nullptr;
        while (next_set_entry(set.get(), &position, &key)) {
            SetProbe probe(set.get(), PyObject_Hash(key));
            PyObject* found = probe.next();
            while (found && found != key) found = probe.next();
            EXPECT_EQ(found, key) << text;
        }
    }
}

TEST_F(SetEntries, a_probe_ends_where_the_hash_is_not_there) {
    for (const char* text :
         {"set()", "{1}", "set(range(1000))", "set(range(100)) - set(range(3, 90))"}) {
        const Owned<> set = names.eval(text);
        SetProbe probe(set.get(), 123456789);
        EXPECT_EQ(probe.next(), nullptr) << text;
    }
}

TEST_F(SetEntries, walking_allocates_nothing) {
    const Owned<> set = names.eval("set(range(100))");
    const Allocations made = allocations_of([&] {
        Py_ssize_t position = 0;
        PyObject* key = nullptr;
        while (next_set_entry(set.get(), &position, &key)) continue;
    });
    EXPECT_EQ(made.all(), 0u);
}

TEST_F(SetEntries, probing_finds_what_the_set_contains) {
    for (const char* text :
         {"set()", "{1}", "frozenset('abc')", "set(range(1000))", "set(range(7))",
          "{i * 1024 for i in range(100)}", "{-i for i in range(50)}",
          "set(range(100)) - set(range(3, 90))",
          "{i * (2**61 - 1) for i in range(40)}", "{(i, 'x') for i in range(300)}"}) {
        const Owned<> set = names.eval(text);
        Py_ssize_t position = 0;
        PyObject* key = nullptr;
        Py_hash_t hash = 0;
        while (next_set_entry(set.get(), &position, &key, &hash)) {
            EXPECT_EQ(hash, PyObject_Hash(key)) << text;
            SetProbe probe(set.get(), hash);
            PyObject* found = probe.next();
            while (found && found != key) found = probe.next();
            EXPECT_EQ(found, key) << text;
        }
        const Owned<> absent = names.eval("object()");
        SetProbe probe(set.get(), PyObject_Hash(absent.get()));
        while (PyObject* found = probe.next()) EXPECT_NE(found, absent.get());
    }
}

}  // namespace
}  // namespace guardtree::tests
