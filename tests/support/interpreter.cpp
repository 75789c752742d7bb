// Starting and ending the embedded CPython; the main() of the test programs.
// SPDX-License-Identifier: MIT
#include "interpreter.h"

#include <csignal>
#include <cstdlib>

#include "../../guards/assumptions/watched_dicts.h"

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
    set_up_watched_dicts();
}

void Interpreter::TearDown() {
    if (!PyErr_Occurred()) return;
    PyErr_Print();
    ADD_FAILURE() << "the test left an exception pending";
}

}  // namespace guardtree::tests

int main(int argc, char** argv) {
    // Shells may start background jobs with SIGINT ignored, and CPython keeps that.
    std::signal(SIGINT, SIG_DFL);
    ::testing::InitGoogleTest(&argc, argv);
    const int failed = RUN_ALL_TESTS();
    if (Py_IsInitialized()) guardtree::tear_down_watched_dicts();
    if (Py_IsInitialized() && Py_FinalizeEx() < 0) return EXIT_FAILURE;
    return failed;
}
