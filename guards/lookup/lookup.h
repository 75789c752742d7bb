// Lookup: one look-up or check, and all that it owns while guards may run user code.
// SPDX-License-Identifier: MIT
//
// How it works. Everybody who asks guards goes through here: the frame hook, guarded
// functions, Table, check, explain, profile, strict mode, the C interface. A look-up
// that may run user code (Mode::user_code)
//   - turns the hook off and sets a pending exception aside (UserCode),
//   - keeps the table, and with it each entry, and the arguments where the view only
//     borrows them: user code may take entries out and end whatever holds those,
//   - takes the values that the entry hands over before anything else runs,
//   - gives all of it back once, where it ends.
// One that runs none (Mode::quiet) owns nothing but the duty to take or drop those
// values; over the slots of leaf programs (in_slots) not even that. QuietLookup is for
// who knows while compiling that it runs none.
//
// Functions that may run user code are not noexcept. CPython 3.11 to 3.13 end a daemon
// thread that waits for the GIL at exit by unwinding it: this room's frames have no
// cleanup and no noexcept then (-fno-exceptions), and a caller that is compiled with
// exceptions finds a Lookup whose destructor touches nothing, as user code is running.
#pragma once
#include <Python.h>

#include <memory>
#include <optional>
#include <span>

#include "../../framelocals/exception.h"
#include "../../framelocals/views/slots_view.h"
#include "../program/bound_values.h"
#include "../run/user_code.h"

#include "first_match.h"

namespace guardtree {

/// A look-up of one table whose guards run no user code, or whose caller sees to what
/// that needs: UserCode, the table and the values of the view. Nobody gets its address,
/// so that its members need no memory. Needs the GIL.
class QuietLookup {
public:
    /// `room` has table.value_count() words and outlives this.
    [[gnu::always_inline]] QuietLookup(const Table& table, const View& view,
                                       PyObject** room) noexcept
        : table_(&table), view_(&view), room_(room) {}

    [[gnu::always_inline]] ~QuietLookup() {
        if (owes_) [[unlikely]]
            drop_bound(found_->program, room_);
    }

    QuietLookup(const QuietLookup&) = delete;
    QuietLookup& operator=(const QuietLookup&) = delete;

    /// As Lookup's.
    [[gnu::always_inline]] const Entry* find() {
        return is_found(first_match<View>(*table_, *view_, room_));
    }

    /// The same for who is compiled with exceptions, where user code may run.
    [[gnu::always_inline]] const Entry* find_apart() {
        return is_found(first_apart(*table_, *view_, room_));
    }

    bool has_values() const noexcept { return owes_; }

    size_t value_count() const noexcept { return bound_count(found_->program); }

    [[gnu::always_inline]] void take(PyObject** to) noexcept {
        owes_ = false;
        take_bound(found_->program, *view_, room_, to);
    }

private:
    static const Entry* first_apart(const Table& table, const View& view,
                                    PyObject** room);

    [[gnu::always_inline]] const Entry* is_found(const Entry* entry) noexcept {
        found_ = entry;
        owes_ = entry && entry->program.bound();
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
        user_code,  ///< some may
        inner,      ///< some may, and the caller has a UserCode around this
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

    /// Words of the room that a look-up needs in this mode.
    static size_t room(const Table& table, const View& view, Mode mode) noexcept {
        return mode == Mode::quiet ? table.value_count() : held_room(table, view);
    }

    /// `room` outlives the look-up, and so does `view`; of a quiet one, so does the
    /// table. `thread`, where the caller has it: the one that runs.
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
            drop_bound(found_->program, room_);
        }
    }

    Lookup(const Lookup&) = delete;
    Lookup& operator=(const Lookup&) = delete;

    /// The first entry whose guards pass, or null: with an exception pending where one
    /// must reach the program. Every other one is kept in its entry. Asked once.
    [[gnu::always_inline]] const Entry* find() {
        if (mode_ != Mode::quiet) [[unlikely]]
            return find_held(false);
        return is_found(first_match<View>(*table_, *view_, room_));
    }

    /// The same answer found by trying all entries in order: what strict mode compares
    /// with.
    const Entry* find_by_scan();

    /// What was found hands values over that were not taken yet.
    bool has_values() const noexcept { return owes_; }

    size_t value_count() const noexcept { return bound_count(found_->program); }

    /// New references to those values, in the order they were asked for, once; nothing
    /// else happens between find and this in a quiet look-up.
    [[gnu::always_inline]] void take(PyObject** to) noexcept {
        owes_ = false;
        if (mode_ != Mode::quiet) [[unlikely]]
            take_held(to);
        else
            take_bound(found_->program, *view_, room_, to);
    }

    /// What to read of the arguments after a look-up that ran user code.
    const View& view() const noexcept { return *view_; }

    const Table& table() const noexcept { return *table_; }

    /// Ends what user code runs under, and drops the arguments. The table is kept, and
    /// the values stay to be taken.
    void close() noexcept {
        if (mode_ != Mode::quiet) end_user_code();
    }

private:
    /// What a look-up that may run user code has besides.
    struct Held {
        explicit Held(const Table& of) noexcept : table(&of) {}

        Shared<const Table> table;
        std::optional<UserCode> user_code;
        std::optional<HeldSlotsView> slots;
    };

    static size_t held_room(const Table& table, const View& view) noexcept {
        return size_t{table.value_count()} + table.most_bound() +
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
        owes_ = entry && entry->program.bound();
        return entry;
    }

    PyObject** bound() const noexcept { return room_ + table_->value_count(); }

    const Table* table_;
    const View* view_;
    PyObject** room_;
    const Entry* found_ = nullptr;
    Mode mode_;
    bool owes_ = false;
    bool is_running_ = false;  ///< user code: who ends this now ends the thread
    union {
        Held held_;  ///< but of a quiet one
    };
};

}  // namespace guardtree
