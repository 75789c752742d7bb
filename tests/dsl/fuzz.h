// What the libFuzzer targets share.
// SPDX-License-Identifier: MIT
//
// Built by the preset `fuzz`. PYTHONMALLOC=malloc shows each block of CPython's to the
// sanitizer.
#pragma once
#include <Python.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace guardtree::tests {

/// Ends the run with a report where `claim` is false.
inline void demand(bool claim, const char* text, std::string_view more = {}) {
    if (claim) return;
    std::fprintf(stderr, "%s\n%.*s\n", text, static_cast<int>(more.size()),
                 more.data());
    std::abort();
}

/// Starts an interpreter that finds its standard library.
inline void start() {
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    // An embedded CPython looks for its stdlib beside the program's name.
    PyStatus status =
        PyConfig_SetBytesString(&config, &config.program_name, GUARDTREE_TEST_PYTHON);
    if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) Py_ExitStatusException(status);
}

}  // namespace guardtree::tests
