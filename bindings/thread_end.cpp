// Daemon threads that end inside the bindings' frames, at interpreter exit.
// SPDX-License-Identifier: MIT
//
// How it works. CPython 3.11 to 3.13 end a daemon thread that waits for the GIL at exit
// by pthread_exit, which unwinds its stack through whatever frames called user code:
// ours and pybind11's. Cleanups there would give references back without the GIL, and
// a noexcept function would end the process: every destructor is one, and a finalizer
// is user code. So this module has a personality routine of its own. While a thread
// ends, it tells the unwinder that no frame of the module has a cleanup, a handler or a
// noexcept, as if they were C. C++ exceptions go where they always go. The linker puts
// it in the place of the C++ run time's (--wrap in CMakeLists.txt).
//
// To mark what may call user code instead is no way: that is nearly every function, and
// pybind11's are not ours to mark. The rooms below are compiled with -fno-exceptions,
// so their frames have no personality to begin with.
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
