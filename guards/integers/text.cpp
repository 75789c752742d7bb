// Reads integer expressions from Python.
// SPDX-License-Identifier: MIT
#include "text.h"

#include "../../framelocals/no_memory.h"

namespace guardtree {

bool IntegerText::read(PyObject* from, IntegerText& to, References& keep,
                       Diagnostic& problem) {
    Py_ssize_t size = 0;
    const char* text =
        PyUnicode_Check(from) ? PyUnicode_AsUTF8AndSize(from, &size) : nullptr;
    if (!text) {
        drop_exception();
        refuse_operand(problem, expects, from);
        return false;
    }
    auto made = std::make_unique<IntegerExpression>();
    std::string reason;
    if (!IntegerExpression::parse({text, static_cast<size_t>(size)}, *made, reason)) {
        problem = {PyExc_ValueError,
                   std::string(text) + " is not " + expects + ": " + reason};
        return false;
    }
    return hold(std::move(made), to, keep, problem);
}

bool IntegerText::hold(std::unique_ptr<IntegerExpression> made, IntegerText& to,
                       References& keep, Diagnostic& problem) {
    static constexpr const char* name = "guardtree.integer_expression";
    auto capsule = Owned<>::steal(PyCapsule_New(made.get(), name, [](PyObject* self) {
        delete static_cast<IntegerExpression*>(PyCapsule_GetPointer(self, name));
    }));
    if (!capsule) {
        drop_exception();
        problem = {PyExc_MemoryError, "no memory for an integer expression"};
        return false;
    }
    to.value = made.release();
    keep.push_back(std::move(capsule));
    return true;
}

Owned<> object_of(IntegerText a) noexcept {
    const std::string& source = a.value->source();
    return Owned<>::steal(PyUnicode_FromStringAndSize(
        source.data(), static_cast<Py_ssize_t>(source.size())));
}

}  // namespace guardtree
