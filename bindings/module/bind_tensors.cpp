// Tensor facts, and the registration of readers.
// SPDX-License-Identifier: MIT
#include "../../guards/tensors/dlpack_reader.h"
#include "../../guards/tensors/readers.h"
#include "../../guards/tensors/spec.h"
#include "../bindings.h"
#include "../guard_manager.h"

namespace guardtree {
namespace {

py::object facts_of_tensor(py::handle tensor) {
    Diagnostic problem;
    Owned<> facts = tensor_facts(tensor.ptr(), problem);
    if (!facts) throw_diagnostic(problem);
    return py::reinterpret_steal<py::object>(facts.release());
}

const TensorReader* reader_in(py::handle capsule) {
    if (PyCapsule_IsValid(capsule.ptr(), tensor_reader_capsule)) {
        return static_cast<const TensorReader*>(
            PyCapsule_GetPointer(capsule.ptr(), tensor_reader_capsule));
    }
    throw py::type_error("expected None or a capsule called " +
                         std::string(tensor_reader_capsule) + ", found " +
                         found_text(capsule.ptr()));
}

void register_type(const py::type& type, py::handle reader) {
    auto* kind = reinterpret_cast<PyTypeObject*>(type.ptr());
    const TensorReader* found =
        reader.is_none() ? dlpack_reader(kind, false) : reader_in(reader);
    if (!found) {
        throw py::type_error(reference_text(type.ptr()) +
                             " has no __dlpack_c_exchange_api__ to read it by");
    }
    Diagnostic problem;
    if (!register_tensor_type(kind, found, problem)) throw_diagnostic(problem);
}

}  // namespace

void bind_tensors(py::module_& module) {
    define_function(
        module, "tensor_facts", calling<&facts_of_tensor>, py::arg("tensor"),
        "The facts of a tensor as a dict that tensor_match takes. TypeError when it is "
        "none.");
    define_function(
        module, "register_tensor_type", calling<&register_type>, py::arg("type"),
        py::arg("reader"),
        "Has tensors of a type read by a plugin's reader, a capsule called "
        "guardtree.tensor_reader; None: by the DLPack interface of the type. For ever; "
        "ImportError for a reader of another version.");
}

}  // namespace guardtree
