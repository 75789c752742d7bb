// The load-time probe finds nothing wrong with the CPython the tests were built for.
// SPDX-License-Identifier: MIT
#include "../../framelocals/probe.h"

#include <Python.h>

#include <gtest/gtest.h>

#include "../support/interpreter.h"
#include "../support/python.h"

namespace guardtree::tests {
namespace {

class ProbeTest : public Interpreter {};

TEST_F(ProbeTest, says_nothing_when_the_layout_agrees) {
    EXPECT_EQ(layout_problem(), "");
    EXPECT_FALSE(PyErr_Occurred());
}

TEST_F(ProbeTest, leaves_no_trace) {
    layout_problem();
    const Namespace names;
    EXPECT_TRUE(names.is_true("(lambda: 3)() == 3"));
    EXPECT_TRUE(names.is_true("'probe' not in globals()"));
}

}  // namespace
}  // namespace guardtree::tests
