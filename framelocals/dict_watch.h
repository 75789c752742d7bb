// Hearing of changes of dicts: watchers, version tags, and where neither tells.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include "dict_event.h"

namespace guardtree {

/// How this CPython tells that a dict has changed.
enum class DictNews : uint8_t {
    events,  ///< watchers (3.12 and later)
    tag,     ///< a word that each change replaces (3.11, and where watchers are taken)
    none,    ///< it does not
};

/// Takes one of the eight watcher ids of this interpreter, for the process. False where
/// there are none (3.11) or others have them all. Idempotent.
bool take_dict_watcher(DictWatcher watcher) noexcept;

/// Gives the id back. The dicts must be unwatched: their next owner would hear of them.
void give_dict_watcher_back() noexcept;

bool has_dict_watcher() noexcept;

/// Begins and ends hearing of a dict (or of a subclass's). About 4 ns. Need
/// has_dict_watcher(). False when CPython refuses: somebody gave our id away.
bool watch_dict(PyObject* dict) noexcept;
void unwatch_dict(PyObject* dict) noexcept;

/// What can be heard of this dict now. `none` of a dict under events: CPython 3.13.0
/// says nothing of stores to attributes (gh-125608).
DictNews dict_news(PyObject* dict) noexcept;

/// The word that any change of the dict replaces, where dict_news() says `tag`. It
/// lives as long as the dict.
const uint64_t* dict_tag(PyObject* dict) noexcept;

/// Where an object keeps the pointer to its dict; null when it has none yet, or keeps
/// its attributes elsewhere. As long as the word and the object's type stay the same,
/// so does the dict.
PyObject* const* place_of_dict(PyObject* object) noexcept;

}  // namespace guardtree
