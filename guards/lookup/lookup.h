// Lookup: one look-up or check, and everything it owns while guards may run user code.
// SPDX-License-Identifier: MIT
//
// How it works. The frame hook, guarded functions, Table, check, explain, profile,
// strict mode and the C interface all evaluate guards through this class. A look-up
// that may run user code (Mode::user_code)
//   - turns the hook off and saves a pending exception (UserCode),
//   - keeps the table alive, and with it each entry. It also keeps the arguments alive
//     if the view only borrows them, because user code may remove entries and destroy
//     the owners of arguments,
//   - takes the captured values of an entry before anything else runs,
//   - releases all of it exactly once, at its end.
//
// A look-up that runs no user code (Mode::quiet) holds nothing. It only has to pass on
// or drop the captured values of an entry. A look-up on the slots of leaf programs
// (in_slots) has none. QuietLookup is for callers that know at compile time that no
// user code runs.
//
// Functions that may run user code are not noexcept. CPython 3.11 to 3.13 end a daemon
// thread that waits for the GIL at exit by unwinding its stack. The frames of this room
// then have no cleanup and no noexcept (-fno-exceptions). A caller that is compiled
// with exceptions destroys a Lookup, whose destructor touches nothing if user code was
// running.
#pragma once
#include <Python.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "../../framelocals/exception.h"
#include "../../framelocals/views/slots_view.h"
#include "../program/captured_values.h"
#include "../run/user_code.h"

#include "first_match.h"

namespace guardtree {

/// Callers whose tables need no more words of `room` have them on their own stack.
inline constexpr uint16_t few_values = 8;

/// A look-up of one table whose guards run no user code, or whose caller provides what
/// user code needs: a UserCode, and references to the table and the values of the view.
/// No function takes its address, so the compiler can keep its members in registers.
/// Needs the GIL.
class QuietLookup {
public:
    /// `room` has table.value_count() words and outlives this object.
    [[gnu::always_inline]] QuietLookup(const Table& table, const View& view,
                                       PyObject** room) noexcept
        : table_(&table), view_(&view), room_(room) {}

    [[gnu::always_inline]] ~QuietLookup() {
        if (owes_) [[unlikely]]
            drop_captured(found_->program, room_);
    }

    QuietLookup(const QuietLookup&) = delete;
    QuietLookup& operator=(const QuietLookup&) = delete;

    /// Same as Lookup::find.
    [[gnu::always_inline]] const Entry* find() {
        return is_found(first_match<View>(*table_, *view_, room_));
    }

    /// The same, for callers that are compiled with exceptions, if user code may run.
    [[gnu::always_inline]] const Entry* find_apart() {
        return is_found(first_apart(*table_, *view_, room_));
    }

    bool has_values() const noexcept { return owes_; }

    size_t value_count() const noexcept { return captured_count(found_->program); }

    [[gnu::always_inline]] void take(PyObject** to) noexcept {
        owes_ = false;
        take_captured(found_->program, *view_, room_, to);
    }

private:
    static const Entry* first_apart(const Table& table, const View& view,
                                    PyObject** room);

    [[gnu::always_inline]] const Entry* is_found(const Entry* entry) noexcept {
        found_ = entry;
        owes_ = entry && entry->program.captured();
        return entry;
    }

    const Table* table_;
    const View* view_;
    PyObject** room_;
    const Entry* found_ = nullptr;
    bool owes_ = false;
};

/// A look-up of one table. Needs the GIL.
class Lookup {
public:
    enum class Mode : uint8_t {
        quiet,      ///< no guard runs user code
        user_code,  ///< a guard may run user code
        inner,      ///< the same, and the caller has a UserCode already
    };

    static Mode mode_of(const Table& table) noexcept {
        return table.calls_python() ? Mode::user_code : Mode::quiet;
    }

    /// The first entry of a table of leaf programs (Table::is_leaf) whose guards pass
    /// on these slots, or null.
    [[gnu::always_inline]] static const Entry* in_slots(
        const Table& table, const SlotWord* slots) noexcept {
        return first_match(table, LeafSlots(slots), nullptr);
    }

    /// The number of words that `room` must have in this mode.
    static size_t room(const Table& table, const View& view, Mode mode) noexcept {
        return mode == Mode::quiet ? table.value_count() : held_room(table, view);
    }

    /// `room` and `view` outlive the look-up. In mode quiet, so does the table.
    /// `thread`: the current thread, if the caller has it.
    [[gnu::always_inline]] Lookup(const Table& table, const View& view, PyObject** room,
                                  Mode mode, PyThreadState* thread = nullptr)
        : table_(&table), view_(&view), room_(room), mode_(mode) {
        if (mode != Mode::quiet) [[unlikely]]
            hold(thread);
    }

    [[gnu::always_inline]] ~Lookup() {
        if (mode_ != Mode::quiet) {
            if (!is_running_) end();
        } else if (owes_) [[unlikely]] {
            drop_captured(found_->program, room_);
        }
    }

    Lookup(const Lookup&) = delete;
    Lookup& operator=(const Lookup&) = delete;

    /// The first entry whose guards pass, or null. If it returns null with an exception
    /// pending, that exception must reach the program. Other exceptions are stored in
    /// their entry. Call it once.
    [[gnu::always_inline]] const Entry* find() {
        if (mode_ != Mode::quiet) [[unlikely]]
            return find_held(false);
        return is_found(first_match<View>(*table_, *view_, room_));
    }

    /// The same answer, found by trying all entries in order. Strict mode compares with
    /// it.
    const Entry* find_by_scan();

    /// Whether the entry found has captured values that were not taken yet.
    bool has_values() const noexcept { return owes_; }

    size_t value_count() const noexcept { return captured_count(found_->program); }

    /// Writes new references to those values to `to`, in the order in which they were
    /// requested. Call it once. In mode quiet, call it directly after find.
    [[gnu::always_inline]] void take(PyObject** to) noexcept {
        owes_ = false;
        if (mode_ != Mode::quiet) [[unlikely]]
            take_held(to);
        else
            take_captured(found_->program, *view_, room_, to);
    }

    /// The view to read arguments from after a look-up that ran user code.
    const View& view() const noexcept { return *view_; }

    const Table& table() const noexcept { return *table_; }

    /// Ends the scope of user code and releases the arguments. The table stays alive,
    /// and the values can still be taken.
    void close() noexcept {
        if (mode_ != Mode::quiet) end_user_code();
    }

private:
    /// The additional state of a look-up that may run user code.
    struct Held {
        explicit Held(const Table& of) noexcept : table(&of) {}

        Shared<const Table> table;
        std::optional<UserCode> user_code;
        std::optional<HeldSlotsView> slots;
    };

    static size_t held_room(const Table& table, const View& view) noexcept {
        return size_t{table.value_count()} + table.max_captured() +
               HeldSlotsView::room(view);
    }

    [[gnu::always_inline]] void hold(PyThreadState* thread) {
        std::construct_at(&held_, *table_);
        if (mode_ == Mode::user_code)
            held_.user_code.emplace(thread ? thread : PyThreadState_Get());
        if (view_->only_borrows()) [[unlikely]]
            hold_values();
    }

    void hold_values() noexcept;
    const Entry* find_held(bool scans);
    const Entry* keep_values(const Entry* entry) noexcept;
    void take_held(PyObject** to) noexcept;
    void drop_held() noexcept;

    [[gnu::always_inline]] void end_user_code() noexcept {
        held_.slots.reset();
        held_.user_code.reset();
    }

    [[gnu::always_inline]] void end() noexcept {
        if (owes_) [[unlikely]]
            drop_held();
        end_user_code();
        std::destroy_at(&held_);
    }

    [[gnu::always_inline]] const Entry* is_found(const Entry* entry) noexcept {
        found_ = entry;
        owes_ = entry && entry->program.captured();
        return entry;
    }

    PyObject** captured() const noexcept { return room_ + table_->value_count(); }

    const Table* table_;
    const View* view_;
    PyObject** room_;
    const Entry* found_ = nullptr;
    Mode mode_;
    bool owes_ = false;
    /// user code runs: if this is destroyed now, the thread is being ended
    bool is_running_ = false;
    union {
        Held held_;  ///< constructed unless the mode is quiet
    };
};

}  // namespace guardtree
