// What is measured: a function, the arguments of its call, and a program of guards.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "../../guards/program/program.h"

#include "interpreter.h"

namespace guardtree::bench {

struct GuardedFunction {
    Owned<> function;
    std::vector<Owned<>> arguments;
    Program program;

    PyCodeObject* code() const noexcept {
        return reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function.get()));
    }

    /// Storage for views over mappings.
    size_t slot_count() const noexcept {
        return static_cast<size_t>(code()->co_nlocalsplus);
    }
};

/// `def subject(x0, x1, ...): pass`
Owned<> function_of_locals(int count, PyObject* globals);

/// "x7"
std::string local_name(int number);

/// The op of kind or step `T` whose operands are the elements of the tuple `operands`.
template <Described T>
Op op_of(Tree& tree, PyObject* operands) {
    T made{};
    Diagnostic problem;
    std::vector<PyObject*> values;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(operands); ++i) {
        values.push_back(PyTuple_GET_ITEM(operands, i));
    }
    if (!read_operands<T>(values, made, tree.references(), problem)) {
        give_up(problem.message);
    }
    return Op(made);
}

/// The same with one operand.
template <Described T>
Op op_of_one(Tree& tree, PyObject* operand) {
    const auto operands = Owned<>::steal(PyTuple_Pack(1, operand));
    if (!operands) give_up("no memory for an operand");
    return op_of<T>(tree, operands.get());
}

NodeId add_step(Tree& tree, NodeId parent, const Op& step);
void add_check(Tree& tree, NodeId node, const Op& kind);

/// The child of node 0 for the local `name`.
NodeId add_local(Tree& tree, const std::string& name);

/// False where the tree does not fit the code.
bool compile(const Tree& tree, GuardedFunction& subject);

/// Evaluates the program on the function's frame again and again, the making of the
/// view included, as a look-up through the hook does. `checks` of them are one "check":
/// the counter of that name.
void evaluate_in_frame(benchmark::State& state, const GuardedFunction& subject,
                       int checks);

/// Marks the benchmark as broken when the guards did not pass.
void demand_pass(benchmark::State& state, bool passed);

/// True when a benchmark was marked so.
bool has_broken() noexcept;

}  // namespace guardtree::bench
