// The events that CPython reports to a dict watcher.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>

namespace guardtree {

/// A change of a watched dict. The watcher runs before the change happens.
enum class DictEvent : uint8_t {
    value,  ///< an existing key gets another value
    keys,   ///< a key is added or removed
    all,    ///< the dict is cleared, or filled from another dict
    died,   ///< the dict is destroyed and must not be read any more
};

/// Called with the dict and, for `value` and `keys`, the key (both borrowed). It may
/// only record the event: it must not run Python code, change a dict or leave an
/// exception.
using DictWatcher = void (*)(DictEvent event, PyObject* dict, PyObject* key) noexcept;

}  // namespace guardtree
