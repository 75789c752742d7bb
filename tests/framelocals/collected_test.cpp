// Collected and allocating: what the collector sees, and memory that is not there.
// SPDX-License-Identifier: MIT
#include "../../framelocals/collected.h"

#include <new>

#include <gtest/gtest.h>

#include "../../framelocals/no_memory.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

struct Kept : Collected {
    Kept(Owned<> what, int& alive) : object_kept(std::move(what)), alive_(alive) {
        ++alive_;
    }

    ~Kept() { --alive_; }

    int traverse(visitproc visit, void* arg) const {
        Py_VISIT(object_kept.get());
        return 0;
    }

    Owned<> object_kept;

private:
    int& alive_;
};

class CollectedTest : public Interpreter {
protected:
    CollectedTest() { start(); }

    int alive = 0;
};

TEST_F(CollectedTest, it_lives_as_long_as_an_owner) {
    auto first = make_shared_counted<Kept>(Owned<>(), alive);
    EXPECT_TRUE(first.is_only());
    Shared<Kept> second = first;
    EXPECT_FALSE(first.is_only());
    first = {};
    EXPECT_EQ(alive, 1);
    second = {};
    EXPECT_EQ(alive, 0);
}

TEST_F(CollectedTest, the_collector_frees_a_cycle_through_it) {
    auto list = Owned<>::steal(PyList_New(0));
    {
        const auto kept = make_shared_counted<Kept>(list, alive);
        ASSERT_EQ(PyList_Append(list.get(), kept->object()), 0);
    }
    list.reset();
    EXPECT_EQ(alive, 1);
    PyGC_Collect();
    EXPECT_EQ(alive, 0);
}

TEST_F(CollectedTest, the_collector_spares_what_somebody_else_owns) {
    auto list = Owned<>::steal(PyList_New(0));
    auto kept = make_shared_counted<Kept>(list, alive);
    ASSERT_EQ(PyList_Append(list.get(), kept->object()), 0);
    list.reset();
    PyGC_Collect();
    EXPECT_EQ(alive, 1);
    EXPECT_EQ(PyList_Size(kept->object_kept.get()), 1);
    kept = {};
    PyGC_Collect();
    EXPECT_EQ(alive, 0);
}

TEST_F(CollectedTest, what_is_not_allocated_becomes_memory_error) {
    // Thrown here: AddressSanitizer ends a process that asks for too much.
    EXPECT_FALSE(allocating([] { throw std::bad_alloc(); }));
    EXPECT_TRUE(PyErr_ExceptionMatches(PyExc_MemoryError));
    PyErr_Clear();
    EXPECT_TRUE(allocating([] {}));
    EXPECT_FALSE(PyErr_Occurred());
}

}  // namespace
}  // namespace guardtree::tests
