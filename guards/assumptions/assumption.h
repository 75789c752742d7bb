// An assumption: guards on values that are reached through dicts, checked once, and
// then known to hold until an event or a compared word says else.
// SPDX-License-Identifier: MIT
//
// How it works. The compiler puts an Assumption op before a run of ops that starts at
// the globals and modules, or at one local or fetched value, and runs no user code; an
// AssumptionEnd closes the run. While it is armed, the walk jumps the run after asking
// whether it still holds; the assumption then stores the values that relations read.
// Else the run is walked as ever, and where it passes, its end arms the assumption:
// arming.cpp reads each value again and notes what keeps each link true: nothing (it
// cannot change), a watched dict (watched_dicts.h), a word in memory that is compared,
// or the op itself, run again. These tests lie in the order of the ops, so what a test
// reads is alive when those before it have passed.
//
// Requirements that a change must keep: 1. a test that does not pass decides nothing
// but that the run is walked, except a kind's on a value that the tests before it
// reached; 2. a value that a test names by address is alive, held, or told apart from
// another object at the same address by what is compared; 3. an object that is handed
// over is alive whenever the tests pass, also while the finalizer of the value that was
// there before runs.
#pragma once
#include <Python.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../concepts/kind.h"
#include "../ops/fetch.h"
#include "../ops/op.h"

#include "watched_dicts.h"

namespace guardtree {

class Program;

/// How an assumption ended to hold.
enum class Breach : uint8_t {
    none,
    change,   ///< of a dict, told by its watcher or found by its tag
    death,    ///< of a dict
    compare,  ///< a compared word or value differed
    moved,    ///< what it starts at is another object
    end,      ///< the interpreter ends
};

/// What is looked at each time.
struct AssumptionTest {
    enum class Kind : uint32_t {
        word,        ///< the word at `at` is `expected[0]`
        tag,         ///< the same, and `at` is the tag of a dict
        step,        ///< op `op` fetches `expected[0]` from `at`
        check,       ///< a kind whose operands fill one word passes on `at`
        long_check,  ///< the same, of two words
    };

    const void* at;
    std::array<const void*, 2> expected;  ///< of a kind: its operands, copied
    uint32_t op;
    Kind kind;

    union {
        KindCheck check = nullptr;  ///< of a kind
        StepFetch fetch;            ///< of a step
    };

    // Clang 14 knows no designator of the union's members in a template.
    static AssumptionTest of_step(const void* at, const void* expected, uint32_t op,
                                  StepFetch fetch) noexcept {
        return {.at = at,
                .expected = {expected},
                .op = op,
                .kind = Kind::step,
                .fetch = fetch};
    }

    /// `operands`: of the kind, `size` bytes.
    static AssumptionTest of_check(const void* at, const void* operands, size_t size,
                                   uint32_t op, KindCheck check) noexcept {
        AssumptionTest made{
            .at = at, .expected = {}, .op = op, .kind = Kind::check, .check = check};
        if (size > sizeof made.expected[0]) made.kind = Kind::long_check;
        std::memcpy(made.expected.data(), operands, size);
        return made;
    }

    bool is_check() const noexcept {
        return kind == Kind::check || kind == Kind::long_check;
    }
};

/// A word that is compared. Those of `words_` lie in what is alive as long as the
/// assumption is armed (a class, or where a dict is), so that they may be read in any
/// order. Those of `test_words_` may be read only after all before them have passed.
///
/// A test that does more than compare is a mark, which always differs, and the words
/// that it needs. So all tests are one array: the time that those of a large model take
/// depends on the cache lines that they read.
struct KeptWord {
    const void* at;
    const void* expected;

    /// Of a mark, `at` is the first of these, and `expected` the address of another one
    /// or of the function of a check.
    static constexpr const void* nulls[4] = {};

    static KeptWord end() noexcept { return {nulls, nulls + 1}; }

    /// Before {value, operands}.
    static KeptWord mark_of(KindCheck check) noexcept {
        return {nulls, std::bit_cast<const void*>(check)};
    }

    /// Before {value, operands}, {operands, check}.
    static KeptWord mark_of_long_check() noexcept { return {nulls, nulls + 2}; }

    /// Before {object, part}, {op, fetch}.
    static KeptWord mark_of_step() noexcept { return {nulls, nulls + 3}; }

    /// Adds a test: one word to three.
    static void add_test(const AssumptionTest& test, std::vector<KeptWord>& to);

    /// How many words the test takes that begins here.
    size_t length() const noexcept {
        if (!is_mark()) return 1;
        return is_of_check() ? 2 : 3;
    }

    bool is_mark() const noexcept { return at == nulls; }

    // Of a mark.
    bool is_end() const noexcept { return expected == nulls + 1; }

    bool is_of_long_check() const noexcept { return expected == nulls + 2; }

    /// One comparison: the function is elsewhere.
    bool is_of_check() const noexcept {
        return reinterpret_cast<uintptr_t>(expected) -
                   reinterpret_cast<uintptr_t>(nulls) >=
               sizeof nulls;
    }

    PyObject* object() const noexcept {
        return static_cast<PyObject*>(const_cast<void*>(at));
    }
};

inline const void* word_at(const void* at) noexcept {
    const void* word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

/// A value that the run fetches and a relation reads.
struct HandedValue {
    PyObject* object;  ///< borrowed; alive while the assumption holds
    uint16_t place;    ///< of the walk's values
};

class Assumption {
public:
    enum class Answer : uint8_t {
        holds,    ///< the run would pass
        fails,    ///< it would not
        unknown,  ///< walk it
    };

    Assumption() noexcept = default;
    ~Assumption();
    Assumption(const Assumption&) = delete;
    Assumption& operator=(const Assumption&) = delete;

    /// Asks before a run. `start`: the local, the value or the globals that it starts
    /// at; null where a local is unbound. 1 ns when nothing need be compared.
    Answer ask(const Program& program, const View& view, PyObject* start) noexcept {
        if (start == told_for_) return Answer::holds;
        if (!armed_for_ || armed_for_ != start) return Answer::unknown;
        if (builtins_ && view.builtins().get() != builtins_) return Answer::unknown;
        return run_tests(program, view);
    }

    /// After it said that the run holds: stores the values that relations read, as the
    /// run would. The walk owns the first `owned_count` places.
    void hand_over(PyObject** values, uint16_t owned_count) const noexcept {
        for (const HandedValue& each : handed_) {
            const bool is_owned = each.place < owned_count;
            values[each.place] =
                is_owned ? Owned<>::share(each.object).release() : each.object;
        }
    }

    /// After a run that passed and ended in `end`: arms, when it is worth it.
    [[gnu::cold, gnu::noinline]] void passed(const Program& program, const View& view,
                                             const Op& end, PyObject* start);

    /// An event: true when it was armed.
    bool break_by(uint32_t op, Breach breach) noexcept;

    bool is_armed() const noexcept { return armed_for_ != nullptr; }

    /// What is looked at each time while it is armed, after the words.
    const std::vector<AssumptionTest>& tests() const noexcept { return tests_; }

    const std::vector<KeptWord>& words() const noexcept { return words_; }

    /// How often it was armed.
    uint64_t arms() const noexcept { return arms_; }

    /// How it ended to hold last, and the op that it was about.
    Breach last_breach() const noexcept { return last_breach_; }

    uint32_t last_breach_op() const noexcept { return last_breach_op_; }

private:
    friend class Arming;

    Answer run_tests(const Program& program, const View& view) noexcept;
    Answer give_up(const KeptWord* word) noexcept;
    Answer give_up_words() noexcept;
    bool words_differ() const noexcept;

    /// After it was broken: if it did not last, time and again, more passes arm it.
    void wait_longer() noexcept;

    void take_uses_back() noexcept;

    // What a check reads comes first. These three are borrowed: compared, never read.
    const void* told_for_ = this;  ///< armed for it, and nothing to compare; else this
    const void* armed_for_ = nullptr;
    const void* builtins_ = nullptr;
    std::vector<HandedValue> handed_;  ///< read only while it holds
    std::vector<KeptWord> words_;
    std::vector<AssumptionTest> tests_;
    std::vector<KeptWord> test_words_;  ///< the tests, as a check reads them
    std::vector<uint32_t> word_ops_;  ///< that the words are about
    std::vector<DictUse> uses_;
    References held_;
    const void* candidate_ = nullptr;  ///< where runs that passed last started
    uint32_t passes_ = 0;              ///< so often in a row
    uint32_t wanted_passes_ = 2;       ///< that arm
    uint32_t short_lives_ = 0;         ///< so often in a row it did not last
    std::chrono::steady_clock::time_point armed_at_;
    uint64_t arms_ = 0;
    Breach last_breach_ = Breach::none;
    uint32_t last_breach_op_ = 0;
};

/// Whether programs are compiled with assumptions: process-wide, on at first. Those
/// that were compiled before keep what they have. The former setting.
bool set_assumptions(bool enabled) noexcept;
bool assumptions_enabled() noexcept;

}  // namespace guardtree
