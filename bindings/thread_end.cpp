// Handles daemon threads that CPython ends inside the bindings' frames at exit.
// SPDX-License-Identifier: MIT
//
// How it works. CPython 3.11 to 3.13 end a daemon thread that waits for the GIL at exit
// with pthread_exit. This unwinds the stack through all frames that called user code,
// ours and pybind11's. Cleanups there would release references without the GIL. A
// noexcept function would end the process; every destructor is noexcept, and a
// finalizer is user code. So this module has its own personality routine. While a
// thread ends, it tells the unwinder that no frame of the module has a cleanup, a
// handler or a noexcept, as if they were C frames. C++ exceptions are handled as usual.
// The linker replaces the C++ runtime's routine with it (--wrap in CMakeLists.txt).
//
// Marking the functions that may call user code is not an alternative: that is nearly
// every function, and we cannot mark pybind11's. The rooms below are compiled with
// -fno-exceptions, so their frames have no personality routine at all.
#include <unwind.h>

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {

_Unwind_Reason_Code __real___gxx_personality_v0(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class type,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context);

_Unwind_Reason_Code __wrap___gxx_personality_v0(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class type,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context) {
    if (actions & _UA_FORCE_UNWIND) return _URC_CONTINUE_UNWIND;
    return __real___gxx_personality_v0(version, actions, type, exception, context);
}
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
