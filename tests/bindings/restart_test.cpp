// A program that ends its CPython and starts another: guardtree says that it cannot
// follow, and the second interpreter runs on without it.
// SPDX-License-Identifier: MIT
#include <Python.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace {

constexpr const char* first_life = R"(
import guardtree as gt
def f(a): return "plain"
def hit(a): return "hit"
def callback(frame, entry, state):
    if frame.f_code is not f.__code__:
        return gt.ASK_AGAIN
    return gt.GuardedCode(hit.__code__, gt.GuardManager(frame.f_code))
gt.set_eval_frame(callback)
assert (f(1), f(2)) == ("hit", "hit")
import sys
for name in [name for name in sys.modules if name.startswith("guardtree")]:
    del sys.modules[name]
import guardtree  # again, in the same interpreter
)";

constexpr const char* later_life = R"(
for _ in range(2):
    try:
        import guardtree
    except ImportError as error:
        assert "Py_FinalizeEx" in str(error), error
    else:
        raise AssertionError("guardtree was imported")
def f(a): return "plain"
assert [f(1) for _ in range(100)] == ["plain"] * 100
)";

void start() {
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    PyStatus status =
        PyConfig_SetBytesString(&config, &config.program_name, GUARDTREE_TEST_PYTHON);
    if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) Py_ExitStatusException(status);
}

}  // namespace

int main() {
    for (const char* life : {first_life, later_life, later_life}) {
        start();
        const bool passed = PyRun_SimpleString(life) == 0;
        if (Py_FinalizeEx() < 0 || !passed) {
            std::fprintf(stderr, "failed:%s", life);
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}
