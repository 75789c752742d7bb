// Dict look-ups by known hash.
// SPDX-License-Identifier: MIT
#include "dict_lookup.h"

// Exported by every supported version, declared privately from 3.13 on
// (Include/internal/pycore_dict.h).
extern "C" PyAPI_FUNC(PyObject*)
    _PyDict_GetItem_KnownHash(PyObject*, PyObject*, Py_hash_t);

namespace guardtree {

Borrowed<> find_in_dict(PyObject* dict, const Key& key) noexcept {
    if (!dict || !PyDict_Check(dict)) return nullptr;
    // The dict stays alive while the `__eq__` of a user's key may run.
    const Owned<> pinned = Owned<>::share(dict);
    return _PyDict_GetItem_KnownHash(dict, key.value, key.hash);
}

}  // namespace guardtree
