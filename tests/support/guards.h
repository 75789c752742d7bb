// Guard trees in C++ tests: written as calls, evaluated on mappings.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../guards/lookup/table.h"
#include "../../guards/run/explain.h"

#include "python.h"

namespace guardtree::tests {

/// Reads the op `name` with these operands; false with `problem` filled.
bool read_op(std::string_view name, PyObject* operands, Op& to, References& keep,
             Diagnostic& problem);

/// Storage and view of a mapping, as a lookup over one makes them.
class MappingScene {
public:
    MappingScene(const Scope& scope, PyObject* mapping,
                 std::span<const SlotName> names);

    const View& view() const noexcept { return view_; }

private:
    const Scope scope_;
    std::vector<SlotWord> storage_;
    MappingView view_;
};

/// A tree, its program and the last answer. Ops are written as calls: "attr('a')".
class Guards {
public:
    using Path = std::initializer_list<std::string>;

    /// `names`: what operands and locals are evaluated in, and the guarded globals.
    /// `function`: text that defines the guarded function `f`.
    explicit Guards(const Namespace& names,
                    const std::string& function = "def f(x=0, y=0, z=0): pass");

    /// Adds a path that ends in a check: {"local('x')", "attr('a')", "is_true()"}.
    Guards& guard(Path ops);

    /// The node at the end of a path; throws PythonError when it is refused.
    NodeId node(Path steps);

    Op op(const std::string& call);

    void check(NodeId node, const std::string& call);

    /// Adds a relation over paths: relate("same_object()", {{"local('x')"}, ...}).
    void relate(const std::string& call, std::initializer_list<Path> paths);

    /// Evaluates on locals given as a Python expression: "{'x': 3}". `error` is set
    /// anew.
    Verdict verdict(const std::string& locals);
    Verdict verdict(PyObject* locals);

    Explanation explained(const std::string& locals);
    Explanation explained(PyObject* locals);

    /// The compiled program; compiled when something was added. Throws PythonError.
    const Program& program();

    Scope scope() const noexcept;

    PyCodeObject* code() const noexcept { return code_.get(); }

    Tree tree;
    Owned<> error;    ///< of the last verdict()
    Owned<> closure;  ///< cells of the guarded function, or null

private:
    const Namespace* names_;
    Owned<PyCodeObject> code_;
    Program program_;
    bool is_stale_ = true;
};

/// Values for evaluate, filled with rubbish: their contents must not matter.
std::vector<PyObject*> scratch(size_t count);

/// "pass", "fail" or "error".
std::string text(Verdict verdict);

}  // namespace guardtree::tests

namespace guardtree {
/// GoogleTest prints verdicts by their names.
void PrintTo(Verdict verdict, std::ostream* to);
}  // namespace guardtree
