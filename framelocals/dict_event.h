// What CPython tells a watcher of a dict.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>

namespace guardtree {

/// What is about to happen to a watched dict. The watcher runs before it does.
enum class DictEvent : uint8_t {
    value,  ///< a key that is there gets another value
    keys,   ///< a key is added or removed
    all,    ///< emptied, or filled from another dict
    died,   ///< the dict is destroyed; it must not be read any more
};

/// Called with the dict and, of `value` and `keys`, the key (both borrowed). It may
/// only mark: it runs no Python code, changes no dict, and leaves no exception.
using DictWatcher = void (*)(DictEvent event, PyObject* dict, PyObject* key) noexcept;

}  // namespace guardtree
