// Look-ups that may run user code: what they hold, and giving it back.
// SPDX-License-Identifier: MIT
#include "lookup.h"

#include <algorithm>
#include <memory>

namespace guardtree {

void UserCode::put_back() noexcept {
    if (!PyErr_Occurred()) return raise_taken(std::move(before_));
    Owned<> raised = take_exception();
    PyException_SetContext(raised.get(), before_.release());
    raise_taken(std::move(raised));
}

HeldCall::HeldCall(PyObject* callable, PyObject* const* arguments, size_t count,
                   PyObject* names, PyObject** room) noexcept
    : room_(room),
      count_(static_cast<size_t>(PyVectorcall_NARGS(count))),
      callable_(Owned<>::share(callable)),
      names_(Owned<>::share(names)) {
    *room = nullptr;
    std::transform(arguments, arguments + values(count, names), room + 1,
                   [](PyObject* each) { return Owned<>::share(each).release(); });
}

HeldCall::~HeldCall() {
    for (size_t i = values(count_, names_.get()); i > 0; --i)
        Owned<>::steal(room_[i]).reset();
}

size_t Lookup::held_room(const Table& table, const View& view) noexcept {
    return size_t{table.value_count()} + table.most_bound() + HeldSlotsView::room(view);
}

void Lookup::hold() {
    std::construct_at(&held_);
    held_.table = Shared<const Table>(table_);
    if (!HeldSlotsView::room(*view_)) return;
    PyObject** const words = bound() + table_->most_bound();
    view_ = &held_.slots.emplace(*view_, words);
}

/// The values of an entry that passed are taken before user code can change what its
/// guards saw.
const Entry* Lookup::keep_values(const Entry* entry) noexcept {
    if (is_found(entry) && owes_) take_bound(entry->program, *view_, room_, bound());
    is_running_ = false;
    return entry;
}

const Entry* Lookup::find_held(bool scans) {
    is_running_ = true;
    return keep_values(scans || !table_->decision()
                           ? scan<View>(*table_, *view_, room_)
                           : decided_match<View>(*table_, *view_, room_));
}

const Entry* Lookup::find_by_scan() {
    if (mode_ != Mode::quiet) return find_held(true);
    return is_found(scan<View>(*table_, *view_, room_));
}

void Lookup::take_held(PyObject** to) noexcept {
    std::copy_n(bound(), value_count(), to);
}

void Lookup::drop() noexcept {
    owes_ = false;
    if (mode_ == Mode::quiet) return drop_bound(found_->program, room_);
    const ExceptionPause pause;
    for (size_t i = 0; i < value_count(); ++i) Owned<>::steal(bound()[i]).reset();
}

void Lookup::end_user_code() noexcept {
    held_.slots.reset();
    held_.user_code.reset();
}

void Lookup::end() noexcept {
    if (is_running_) return;
    if (owes_) drop();
    end_user_code();
    std::destroy_at(&held_);
}

}  // namespace guardtree
