// Python text in C++ tests: a namespace to evaluate expressions and run statements in.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <stdexcept>
#include <string>

#include "../../framelocals/ref.h"

namespace guardtree::tests {

/// What Python raised in a test's own text; GoogleTest prints the message.
struct PythonError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The pending exception as "ValueError: text", no longer pending; empty without one.
std::string taken_error_text();

/// A dict of globals. What is defined in it says that it comes from builtins, so that
/// guardtree prints bare names, which evaluate here.
class Namespace {
public:
    Namespace();

    /// The value of an expression; throws PythonError.
    Owned<> eval(const std::string& expression) const;

    /// Runs statements; throws PythonError.
    void run(const std::string& statements) const;

    /// Runs a file of tests/support/.
    void run_file(const std::string& name) const;

    /// The names of guardtree.semantics and guardtree.oracle, and numpy or None.
    void load_oracle() const;

    bool is_true(const std::string& expression) const;

    void set(const std::string& name, PyObject* value) const;

    /// Code of the function that `text` defines as `f`.
    Owned<PyCodeObject> code(const std::string& text) const;

    PyObject* dict() const noexcept { return dict_.get(); }

    /// The dict of builtins.
    static PyObject* builtins() noexcept { return PyEval_GetBuiltins(); }

private:
    Owned<> dict_;
};

/// Whether what `expression` speaks of is installed: numpy may not be; torch is for
/// the tests of the package.
bool can_run(std::string_view expression);

Owned<> tuple_of(std::initializer_list<PyObject*> items);

/// The text of a str, for EXPECT_EQ.
std::string text_of_str(PyObject* text);

}  // namespace guardtree::tests
