// Tensor specs as Python objects, found by their content.
// SPDX-License-Identifier: MIT
//
// Each object owns its spec. The collector can traverse it, because a class may hold
// guards on its own instances. The object leaves the map before any of its members is
// freed.
#include "shared_specs.h"

#include "../../framelocals/no_memory.h"

#include <utility>

#include <tsl/robin_map.h>

namespace guardtree {
namespace {

struct SpecObject {
    PyObject base;
    TensorSpec* spec;
};

/// Element types that are objects have no hash that runs no user code.
bool is_shared(const TensorSpec& spec) noexcept {
    return spec.reader && !spec.pattern.dtype;
}

struct SpecHash {
    size_t operator()(const TensorSpec* spec) const noexcept {
        return hash_of(TensorOperand{spec});
    }
};

struct SameSpec {
    bool operator()(const TensorSpec* a, const TensorSpec* b) const noexcept {
        return a->reader == b->reader && a->named == b->named &&
               same(TensorOperand{a}, TensorOperand{b});
    }
};

using Specs = tsl::robin_map<const TensorSpec*, PyObject*, SpecHash, SameSpec>;

/// Borrows its objects. Never destroyed, because they may outlive the module.
Specs& shared_specs() noexcept {
    static auto* made = new Specs();
    return *made;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    for (const Owned<>& each : reinterpret_cast<SpecObject*>(self)->spec->references) {
        Py_VISIT(each.get());
    }
    return 0;
}

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    const TensorSpec* spec = reinterpret_cast<SpecObject*>(self)->spec;
    if (is_shared(*spec)) {
        const auto at = shared_specs().find(spec);
        if (at != shared_specs().end() && at->first == spec) shared_specs().erase(at);
    }
    delete spec;
    type->tp_free(self);
    Owned<PyTypeObject>::steal(type).reset();
}

/// Null with an exception set.
PyTypeObject* object_type() {
    static PyTypeObject* made = nullptr;
    if (made) return made;
    static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                                  {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                  {0, nullptr}};
    static PyType_Spec spec = {"guardtree.SharedSpec", sizeof(SpecObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                   Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                   Py_TPFLAGS_IMMUTABLETYPE,
                               slots};
    made = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    return made;
}

Owned<> make_object(std::unique_ptr<TensorSpec> spec) {
    PyTypeObject* type = object_type();
    if (!type) return {};
    auto* made = PyObject_GC_New(SpecObject, type);
    if (!made) return {};
    made->spec = spec.release();
    PyObject_GC_Track(&made->base);
    return Owned<>::steal(&made->base);
}

}  // namespace

const TensorSpec* share_spec(std::unique_ptr<TensorSpec> spec, References& keep,
                             Diagnostic& problem) {
    const TensorSpec* const made = spec.get();
    if (is_shared(*made)) {
        const auto at = shared_specs().find(made);
        if (at != shared_specs().end()) {
            keep.push_back(Owned<>::share(at->second));
            return at->first;
        }
    }
    Owned<> object = make_object(std::move(spec));
    if (!object) {
        drop_exception();
        problem = {PyExc_MemoryError, "no memory for an operand"};
        return nullptr;
    }
    // Code that ran during the creation may have created an equal one. The first one
    // stays.
    if (is_shared(*made)) shared_specs().insert({made, object.get()});
    keep.push_back(std::move(object));
    return made;
}

}  // namespace guardtree
