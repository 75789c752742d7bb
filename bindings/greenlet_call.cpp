// The place where pybind11 keeps the calls that are open in a thread.
// SPDX-License-Identifier: MIT
#include "greenlet_call.h"

namespace guardtree {

#if PYBIND11_VERSION_HEX >= 0x030002F0
namespace {

using Place = GreenletCall::Call*& (*)();

Place place_of(GreenletCall*);

/// The place is a private member, which an explicit instantiation may name.
template <Place place>
struct Open {
    friend Place place_of(GreenletCall*) { return place; }
};

template struct Open<&GreenletCall::Call::tls_current_frame>;

}  // namespace

GreenletCall::Call* GreenletCall::py_call() {
    return place_of(nullptr)();
}

void GreenletCall::set_py_call(Call* call) {
    place_of(nullptr)() = call;
}
#else
GreenletCall::Call* GreenletCall::py_call() {
    return py::detail::get_internals().loader_life_support_tls.get();
}

void GreenletCall::set_py_call(Call* call) {
    py::detail::get_internals().loader_life_support_tls = call;
}
#endif

}  // namespace guardtree
