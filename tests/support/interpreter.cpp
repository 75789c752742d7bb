// Starting and ending the embedded CPython; the main() of the test programs.
// SPDX-License-Identifier: MIT
#include "interpreter.h"

#include <cstdlib>

namespace guardtree::tests {

void Interpreter::start() {
    if (Py_IsInitialized()) return;
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    // An embedded CPython looks for its stdlib beside the program's name.
    PyStatus status =
        PyConfig_SetBytesString(&config, &config.program_name, GUARDTREE_TEST_PYTHON);
    if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) Py_ExitStatusException(status);
}

void Interpreter::TearDown() {
    if (!PyErr_Occurred()) return;
    PyErr_Print();
    ADD_FAILURE() << "the test left an exception pending";
}

}  // namespace guardtree::tests

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    const int failed = RUN_ALL_TESTS();
    if (Py_IsInitialized() && Py_FinalizeEx() < 0) return EXIT_FAILURE;
    return failed;
}
