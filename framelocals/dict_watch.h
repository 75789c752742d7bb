// Notices changes of dicts: with watchers, with version tags, or not at all.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "dict_event.h"

namespace guardtree {

/// How this CPython reports that a dict has changed.
enum class DictNews : uint8_t {
    events,  ///< watchers (3.12 and later)
    tag,     ///< a word that each change replaces (3.11, and if all watchers are taken)
    none,    ///< it does not report changes
};

/// Takes one of the eight watcher ids of this interpreter, for the life of the process.
/// False if there are none (3.11) or if others have taken them all. Idempotent.
bool take_dict_watcher(DictWatcher watcher) noexcept;

/// Returns the id. The dicts must be unwatched, or the next owner of the id would get
/// their events.
void give_dict_watcher_back() noexcept;

bool has_dict_watcher() noexcept;

/// Start and end watching a dict (or an instance of a subclass). About 4 ns. Requires
/// has_dict_watcher(). False if CPython refuses because somebody released our id.
bool watch_dict(PyObject* dict) noexcept;
void unwatch_dict(PyObject* dict) noexcept;

/// How changes of this dict are reported at the moment. May be `none` even with
/// watchers: CPython 3.13.0 does not report stores to attributes (gh-125608).
DictNews dict_news(PyObject* dict) noexcept;

/// The word that any change of the dict replaces, if dict_news() is `tag`. It lives as
/// long as the dict.
const uint64_t* dict_tag(PyObject* dict) noexcept;

/// The address of an object's pointer to its dict. Null if it has no dict yet, or
/// stores its attributes elsewhere. As long as the pointer and the object's type stay
/// the same, so does the dict.
PyObject* const* place_of_dict(PyObject* object) noexcept;

}  // namespace guardtree
