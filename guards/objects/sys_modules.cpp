// Reads sys.modules from the dict of the module sys.
// SPDX-License-Identifier: MIT
#include "sys_modules.h"

#include "../../framelocals/attributes.h"
#include "../../framelocals/exception.h"

#include "dict_lookup.h"

namespace guardtree {

HashedKey name_of_modules() noexcept {
    static PyObject* name = nullptr;
    if (!name) [[unlikely]] {
        const ExceptionPause pause;
        name = PyUnicode_InternFromString("modules");
        PyErr_Clear();
    }
    if (!name) return {};
    return {name, PyObject_Hash(name)};
}

PyObject* sys_modules() noexcept {
    static uint16_t place = 0;
    const HashedKey name = name_of_modules();
    if (!name.value) return nullptr;
    return find_in_dict(sys_dict(), name, Remembered(place)).get();
}

}  // namespace guardtree
