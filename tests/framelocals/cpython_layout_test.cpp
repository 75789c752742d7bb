// What the running CPython's frames look like: compiling is half of the test.
// SPDX-License-Identifier: MIT
#include "../../framelocals/cpython/cpython.h"

#include <cstring>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "../../framelocals/cpython/capsule.h"
#include "../../framelocals/views/view.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

using Frame = CPython::Frame;

// Slots are read as words, so a slot is one word and slots follow each other.
static_assert(sizeof(std::declval<Frame>().localsplus[0]) == sizeof(SlotWord));
static_assert(offsetof(Frame, localsplus) % sizeof(SlotWord) == 0);
// The slots end the frame: frame_words counts from its start.
static_assert(sizeof(Frame) == offsetof(Frame, localsplus) + sizeof(SlotWord));
static_assert(offsetof(Frame, frame_obj) < offsetof(Frame, localsplus));
static_assert(offsetof(Frame, owner) < offsetof(Frame, localsplus));
// Kinds of slots are bits of one byte, each its own; 3.11 hides no slot.
static_assert((CPython::kind_local & CPython::kind_cell) == 0);
static_assert((CPython::kind_local & CPython::kind_free) == 0);
static_assert((CPython::kind_cell & CPython::kind_free) == 0);
static_assert((CPython::kind_hidden &
               (CPython::kind_local | CPython::kind_cell | CPython::kind_free)) == 0);
// A marked reference differs from the pointer in the two low bits at most.
static_assert(alignof(PyObject) >= 4);

/// The table of offsets that CPython publishes, as the version's file takes it;
/// versions without one have only layout_mismatch().
template <class Offsets>
std::type_identity<Offsets> offsets_of(const char* (*)(const Offsets&) noexcept);

template <class V>
concept PublishesOffsets = requires {
    offsets_of(&V::layout_mismatch);
};

/// What layout_mismatch says of the running table after `tamper` changed a copy of it.
template <PublishesOffsets V>
std::string mismatch_after(auto&& tamper) {
    using Offsets = typename decltype(offsets_of(&V::layout_mismatch))::type;
    // The table opens the runtime's state; looked up by name, since only some versions'
    // headers declare it.
    const void* runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
    if (!runtime) return "no runtime";
    Offsets offsets;
    std::memcpy(&offsets, runtime, sizeof offsets);
    tamper(offsets);
    const char* problem = V::layout_mismatch(offsets);
    return problem ? problem : "none";
}

template <class V>
void expect_tampering_noticed() {
    if constexpr (PublishesOffsets<V>) {
        EXPECT_EQ(mismatch_after<V>([](auto&) {}), "none");
        EXPECT_EQ(mismatch_after<V>([](auto& o) { o.cookie[0] = 'y'; }),
                  "its offset table has no cookie");
        EXPECT_EQ(mismatch_after<V>([](auto& o) { o.version += 1 << 16; }),
                  "its offset table is of another minor version");
        EXPECT_EQ(mismatch_after<V>([](auto& o) { o.version += 1; }), "none");
        EXPECT_EQ(mismatch_after<V>([](auto& o) { o.free_threaded = 1; }),
                  "it is a free-threaded build");
        EXPECT_EQ(
            mismatch_after<V>([](auto& o) { o.interpreter_frame.executable += 8; }),
            "the code object lies elsewhere in its frames");
        EXPECT_EQ(mismatch_after<V>([](auto& o) { o.interpreter_frame.previous += 8; }),
                  "the caller's link lies elsewhere in its frames");
        EXPECT_EQ(
            mismatch_after<V>([](auto& o) { o.interpreter_frame.instr_ptr -= 8; }),
            "the instruction pointer lies elsewhere in its frames");
        EXPECT_EQ(
            mismatch_after<V>([](auto& o) { o.interpreter_frame.localsplus += 8; }),
            "the fast locals lie elsewhere in its frames");
        EXPECT_EQ(mismatch_after<V>([](auto& o) { o.interpreter_frame.owner += 1; }),
                  "the owner lies elsewhere in its frames");
    } else {
        GTEST_SKIP() << "CPython " << V::series << " publishes no offsets";
    }
}

class CPythonLayout : public Interpreter {};

TEST_F(CPythonLayout, agrees_with_the_running_interpreter) {
    const char* problem = CPython::layout_mismatch();
    EXPECT_EQ(problem, nullptr) << problem;
}

TEST_F(CPythonLayout, the_marks_of_a_slot_are_no_part_of_the_pointer) {
    const auto word = reinterpret_cast<SlotWord>(Py_None);
    for (SlotWord mark = 0; mark <= 3; ++mark) {
        EXPECT_EQ(slot_object(word | mark), Py_None);
        EXPECT_EQ(slot_object(mark), nullptr);
    }
}

TEST_F(CPythonLayout, a_capsule_keeps_its_context_where_it_is_read) {
    int pointer = 0;
    int context = 0;
    const auto capsule = Owned<>::steal(PyCapsule_New(&pointer, "name", nullptr));
    EXPECT_EQ(context_of(capsule.get()), nullptr);
    ASSERT_EQ(PyCapsule_SetContext(capsule.get(), &context), 0);
    EXPECT_EQ(context_of(capsule.get()), &context);
}

TEST_F(CPythonLayout, the_file_is_of_the_running_series) {
    EXPECT_EQ(std::string(Py_GetVersion()).rfind(CPython::series, 0), 0u);
}

TEST_F(CPythonLayout, every_offset_that_lies_elsewhere_is_noticed) {
    expect_tampering_noticed<CPython>();
}

}  // namespace
}  // namespace guardtree::tests
