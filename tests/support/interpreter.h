// The fixture of all C++ tests that need CPython: started once per process.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <gtest/gtest.h>

namespace guardtree::tests {

/// Starts CPython at the first use and keeps it; the stdlib is that of the interpreter
/// CMake found. A test that leaves an exception pending fails.
class Interpreter : public ::testing::Test {
protected:
    static void SetUpTestSuite() { start(); }

    void TearDown() override;

public:
    static void start();
};

}  // namespace guardtree::tests
