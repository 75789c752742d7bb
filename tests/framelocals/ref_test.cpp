// Owned, Borrowed and Shared: counts go up and down as the types say.
// SPDX-License-Identifier: MIT
#include "../../framelocals/ref.h"

#include <gtest/gtest.h>

#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

static_assert(std::is_trivially_copyable_v<Borrowed<>>);
static_assert(sizeof(Owned<>) == sizeof(void*) && sizeof(Borrowed<>) == sizeof(void*));

class RefTest : public Interpreter {
protected:
    Py_ssize_t count() const { return Py_REFCNT(object.get()); }

    Owned<> object = Owned<>::steal((start(), PyList_New(0)));
};

TEST_F(RefTest, owned_counts_copies_and_not_moves) {
    Owned<> copy = object;
    EXPECT_EQ(count(), 2);
    Owned<> moved = std::move(copy);
    EXPECT_EQ(count(), 2);
    EXPECT_FALSE(copy);
    moved.reset();
    EXPECT_EQ(count(), 1);
}

TEST_F(RefTest, sharing_adds_a_reference_and_stealing_does_not) {
    {
        const Owned<> shared = Owned<>::share(object.get());
        EXPECT_EQ(count(), 2);
        const auto stolen = Owned<>::steal(shared.new_reference());
        EXPECT_EQ(count(), 3);
    }
    EXPECT_EQ(count(), 1);
    EXPECT_FALSE(Owned<>::share(nullptr));
}

TEST_F(RefTest, assigning_to_itself_keeps_the_object) {
    const Owned<>& same = object;
    object = same;
    EXPECT_EQ(count(), 1);
}

TEST_F(RefTest, releasing_hands_the_reference_over) {
    Owned<> copy = object;
    PyObject* raw = copy.release();
    EXPECT_FALSE(copy);
    EXPECT_EQ(count(), 2);
    Owned<>::steal(raw).reset();
    EXPECT_EQ(count(), 1);
}

struct Tracked : Counted {
    explicit Tracked(int& alive) : alive_(alive) { ++alive_; }

    ~Tracked() { --alive_; }

    int& alive_;
};

TEST_F(RefTest, shared_deletes_with_the_last_owner) {
    int alive = 0;
    {
        auto first = make_shared_counted<Tracked>(alive);
        Shared<Tracked> second = first;
        first = Shared<Tracked>();
        EXPECT_EQ(alive, 1);
        const Shared<Tracked>& same = second;
        second = same;
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace guardtree::tests
