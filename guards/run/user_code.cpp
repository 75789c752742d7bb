// Holds the arguments of calls, and restores a pending exception.
// SPDX-License-Identifier: MIT
#include "user_code.h"

#include <algorithm>

namespace guardtree {

void UserCode::put_back() noexcept {
    if (!PyErr_Occurred()) return raise_taken(std::move(before_));
    Owned<> raised = take_exception();
    PyException_SetContext(raised.get(), before_.release());
    raise_taken(std::move(raised));
}

HeldCall::HeldCall(PyObject* callable, PyObject* const* arguments, size_t count,
                   PyObject* names, PyObject** room) noexcept
    : room_(room),
      count_(static_cast<size_t>(PyVectorcall_NARGS(count))),
      callable_(Owned<>::share(callable)),
      names_(Owned<>::share(names)) {
    *room = nullptr;
    std::transform(arguments, arguments + values(count, names), room + 1,
                   [](PyObject* each) { return Owned<>::share(each).release(); });
}

HeldCall::~HeldCall() {
    for (size_t i = values(count_, names_.get()); i > 0; --i)
        Owned<>::steal(room_[i]).reset();
}

}  // namespace guardtree
