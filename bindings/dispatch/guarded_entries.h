// What GuardedFunction and Dispatcher share in Python: their entries.
// SPDX-License-Identifier: MIT
#pragma once
#include <span>

#include <pybind11/pybind11.h>

#include "../../framehook/guarded_calls.h"
#include "../entries.h"

namespace guardtree {

/// The calls that a GuardedFunction or Dispatcher guards. Throws TypeError for another
/// object or one that was not initialised, ReferenceError where the collector has
/// emptied it.
GuardedCalls& calls_of(py::handle self);

/// The same of a GuardedFunction, of a Dispatcher; null for another object.
GuardedCalls* calls_of_function(py::handle self);
GuardedCalls* calls_of_dispatcher(py::handle self);

/// Throws TypeError for names that cannot be keyword arguments that are not the call's
/// own.
void require_free_names(PyCodeObject* code, const Captures& captures);

/// What a hit is to call, and to hand over.
struct Payload {
    py::handle target;
    py::handle captures;
};

/// An entry that is in no table yet. Throws what does not compile, and TypeError and
/// ValueError for a target that cannot be called so. `self`: the GuardedFunction or
/// Dispatcher.
Shared<Entry> make_guarded_entry(const GuardedCalls& calls, py::handle self,
                                 py::handle guards, const Payload& payload);

/// (TableEntry, Explanation) of each entry for a call that is bound. Throws.
py::list explain_entries(const View& view, std::span<const Shared<Entry>> entries);

/// Reads the limits: None leaves one as it is. Throws ValueError.
void set_limits(GuardedCalls& calls, py::handle entry_limit, py::handle when_full);

/// Reads `on_miss`: a callable or None. Throws TypeError.
Owned<> read_on_miss(py::handle given);

/// Throws TypeError that says what the call does not fit.
[[noreturn]] void refuse_call(PyFunctionObject* function);

/// Puts add, remove, entries, find, explain, report, differences, stats, `len` and
/// `on_miss` on a type.
void bind_entries(py::handle type);

/// From here on calls that no entry serves reach `on_miss`.
void answer_misses();

}  // namespace guardtree
