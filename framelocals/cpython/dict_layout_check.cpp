// dict_layout.h against CPython's private headers: compiling is the test.
// SPDX-License-Identifier: MIT
#include <cstddef>

#include "cpython.h"
#include "dict_layout.h"

#define Py_BUILD_CORE 1
#include <internal/pycore_dict.h>
#undef Py_BUILD_CORE

namespace guardtree {
namespace {

using Keys = struct _dictkeysobject;

static_assert(offsetof(Keys, dk_log2_size) == offsetof(KeyTable, log2_size));
static_assert(offsetof(Keys, dk_log2_index_bytes) ==
              offsetof(KeyTable, log2_index_bytes));
static_assert(offsetof(Keys, dk_kind) == offsetof(KeyTable, kind));
static_assert(offsetof(Keys, dk_version) == offsetof(KeyTable, version));
static_assert(offsetof(Keys, dk_nentries) == offsetof(KeyTable, entry_count));
static_assert(offsetof(Keys, dk_indices) == sizeof(KeyTable));
static_assert(int{KeyTable::general} == int{DICT_KEYS_GENERAL});
static_assert(int{KeyTable::strings} == int{DICT_KEYS_UNICODE});
static_assert(int{KeyTable::split} == int{DICT_KEYS_SPLIT});

static_assert(sizeof(PyDictUnicodeEntry) == sizeof(DictStringEntry));
static_assert(offsetof(PyDictUnicodeEntry, me_key) == offsetof(DictStringEntry, key));
static_assert(offsetof(PyDictUnicodeEntry, me_value) ==
              offsetof(DictStringEntry, value));
static_assert(sizeof(PyDictKeyEntry) == sizeof(DictGeneralEntry));
static_assert(offsetof(PyDictKeyEntry, me_hash) == offsetof(DictGeneralEntry, hash));
static_assert(offsetof(PyDictKeyEntry, me_key) == offsetof(DictGeneralEntry, key));
static_assert(offsetof(PyDictKeyEntry, me_value) == offsetof(DictGeneralEntry, value));

// Deleted and empty slots of the hash table are negative.
static_assert(DKIX_EMPTY == -1 && DKIX_DUMMY == -2);

}  // namespace
}  // namespace guardtree
