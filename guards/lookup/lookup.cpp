// Look-ups that may run user code: what they hold, and how they release it.
// SPDX-License-Identifier: MIT
#include "lookup.h"

#include <algorithm>

namespace guardtree {

void Lookup::hold_values() noexcept {
    if (!HeldSlotsView::room(*view_)) return;
    PyObject** const words = captured() + table_->max_captured();
    view_ = &held_.slots.emplace(*view_, words);
}

/// Takes the captured values of an entry before user code can change what its guards
/// saw.
const Entry* Lookup::keep_values(const Entry* entry) noexcept {
    if (is_found(entry) && owes_)
        take_captured(entry->program, *view_, room_, captured());
    is_running_ = false;
    return entry;
}

const Entry* Lookup::find_held(bool scans) {
    is_running_ = true;
    return keep_values(scans || !table_->decision()
                           ? scan<View>(*table_, *view_, room_)
                           : decided_match<View>(*table_, *view_, room_));
}

const Entry* QuietLookup::first_apart(const Table& table, const View& view,
                                      PyObject** room) {
    return first_match<View>(table, view, room);
}

const Entry* Lookup::find_by_scan() {
    if (mode_ != Mode::quiet) return find_held(true);
    return is_found(scan<View>(*table_, *view_, room_));
}

void Lookup::take_held(PyObject** to) noexcept {
    std::copy_n(captured(), value_count(), to);
}

void Lookup::drop_held() noexcept {
    owes_ = false;
    const ExceptionPause pause;
    for (size_t i = 0; i < value_count(); ++i) Owned<>::steal(captured()[i]).reset();
}

}  // namespace guardtree
