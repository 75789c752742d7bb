// Pauses, limits and passes of several greenlets on one thread. What stands for a
// greenlet here is what tells one: a data stack of its own.
// SPDX-License-Identifier: MIT
#include "../../guards/run/hook_thread.h"

#include <optional>
#include <vector>

#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

/// Runs on its own data stack between enter and leave.
class Turn {
public:
    void enter() { swap(); }
    void leave() { swap(); }

    ~Turn() {
        PyObjectArenaAllocator arenas;
        PyObject_GetArenaAllocator(&arenas);
        if (chunk_) arenas.free(arenas.ctx, chunk_, chunk_->size);
    }

    template <class Body>
    void run(Body body) {
        enter();
        body();
        leave();
    }

private:
    void swap() {
        PyThreadState* thread = PyThreadState_Get();
        std::swap(thread->datastack_chunk, chunk_);
        std::swap(thread->datastack_top, top_);
        std::swap(thread->datastack_limit, limit_);
    }

    _PyStackChunk* chunk_ = nullptr;
    PyObject** top_ = nullptr;
    PyObject** limit_ = nullptr;
};

class HookThreadTest : public Interpreter {
protected:
    void SetUp() override {
        hook_thread.mode = Mode::compile;
        hook_thread.update();
    }

    void TearDown() override {
        EXPECT_EQ(hook_thread.active, hook_thread.mode);
        EXPECT_FALSE(hook_thread.has_records());
        EXPECT_EQ(hook_thread.parked, 0);
        hook_thread.mode = Mode::off;
        hook_thread.update();
        Interpreter::TearDown();
    }
};

TEST_F(HookThreadTest, a_pause_in_a_greenlet_without_a_frame_is_its_own) {
    Turn turn;
    std::optional<HookPause> pause;
    turn.run([&] {
        pause.emplace();
        EXPECT_TRUE(hook_thread.is_paused());
        EXPECT_TRUE(PyRun_SimpleString("1 + 1") == 0);
        EXPECT_TRUE(hook_thread.is_paused());
    });
    EXPECT_FALSE(hook_thread.is_paused());
    EXPECT_EQ(hook_thread.active, Mode::held);
    turn.run([&] {
        EXPECT_TRUE(hook_thread.is_paused());
        pause.reset();
        EXPECT_FALSE(hook_thread.is_paused());
    });
}

TEST_F(HookThreadTest, a_pause_is_known_by_the_chunk_of_its_greenlet_alone) {
    Turn turn;
    std::optional<HookPause> pause;
    turn.run([&] {
        pause.emplace();
        EXPECT_TRUE(hook_thread.is_known_paused(PyThreadState_Get()));
    });
    EXPECT_FALSE(hook_thread.is_known_paused(PyThreadState_Get()));
    turn.run([&] {
        EXPECT_TRUE(hook_thread.is_known_paused(PyThreadState_Get()));
        pause.reset();
        EXPECT_FALSE(hook_thread.is_known_paused(PyThreadState_Get()));
    });
}

TEST_F(HookThreadTest, records_end_in_any_order_among_greenlets) {
    std::vector<Turn> turns(3);
    std::vector<std::optional<HookPause>> pauses(3);
    std::vector<std::optional<HookLimit>> limits(3);
    for (size_t i = 0; i < 3; ++i) {
        turns[i].run([&] {
            limits[i].emplace(Mode::lookup_only);
            if (i != 1) pauses[i].emplace();
        });
    }
    const HookPause of_main;
    for (const size_t i : {size_t{1}, size_t{0}, size_t{2}}) {
        turns[i].run([&] {
            EXPECT_EQ(hook_thread.is_paused(), i != 1);
            pauses[i].reset();  // nothing but its end tells that it runs again
            EXPECT_FALSE(hook_thread.is_paused());
            EXPECT_EQ(hook_thread.allowed(), Mode::lookup_only);
            limits[i].reset();
            EXPECT_EQ(hook_thread.allowed(), Mode::compile);
        });
    }
    EXPECT_TRUE(hook_thread.is_paused());
}

TEST_F(HookThreadTest, a_pass_waits_with_its_greenlet) {
    auto* code = reinterpret_cast<PyCodeObject*>(&hook_thread);  // never looked into
    Turn turn;
    std::optional<HookPass> pass;
    turn.run([&] { pass.emplace(code); });
    {
        const HookPause pause;
        EXPECT_EQ(hook_thread.passing, nullptr);
    }
    turn.run([&] {
        const HookPause pause;
        EXPECT_EQ(hook_thread.passing, code);
    });
    turn.run([&] { pass.reset(); });
}

TEST_F(HookThreadTest, what_the_callback_becomes_inside_holds_after_the_last_record) {
    Turn turn;
    std::optional<HookPause> pause;
    turn.run([&] { pause.emplace(); });
    hook_thread.mode = Mode::off;
    hook_thread.update();
    EXPECT_EQ(hook_thread.active, Mode::held);
    turn.run([&] { pause.reset(); });
    EXPECT_EQ(hook_thread.active, Mode::off);
}

TEST_F(HookThreadTest, memory_of_a_greenlet_that_ended_may_serve_another) {
    Turn waits;
    std::optional<HookPause> pause;
    waits.run([&] { pause.emplace(); });
    for (int i = 0; i < 100; ++i) {
        Turn turn;
        turn.run([&] {
            const HookLimit limit(Mode::off);
            EXPECT_FALSE(hook_thread.is_paused());
            EXPECT_EQ(hook_thread.allowed(), Mode::off);
        });
        waits.run([&] { EXPECT_TRUE(hook_thread.is_paused()); });
    }
    waits.run([&] { pause.reset(); });
}

}  // namespace
}  // namespace guardtree::tests
