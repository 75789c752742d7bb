// The capsule guardtree._C_API, and access to GuardManagers for the C interface.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "../../capi/c_api.h"
#include "../bindings.h"
#include "../guard_manager.h"

namespace guardtree {
namespace {

bool read_guards(PyObject* guards, OwnedScope& scope, Tree& to) {
    try {
        const GuardTree& from = GuardManager::of(guards).tree();
        scope.code = Owned<PyCodeObject>::share(from.code());
        scope.function = Owned<>::share(as_object(from.function()));
        to = Tree(from.tree);
        return true;
    } catch (...) {
        translate_exception();
        return false;
    }
}

}  // namespace

void bind_c_api(py::module_& module) {
    set_guards_reader(read_guards);
    module.attr("_C_API") = py::capsule(c_api(GUARDTREE_VERSION), "guardtree._C_API");
}

}  // namespace guardtree
