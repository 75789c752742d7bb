// Building guard trees: time and memory for each guarded value.
// SPDX-License-Identifier: MIT
#include <malloc.h>

#include "../../guards/tree/tree.h"

#include "guarded_function.h"
#include "interpreter.h"
#include "subjects.h"

namespace guardtree::bench {
namespace {

/// Bytes that malloc has handed out, its own book-keeping included.
size_t allocated_bytes() noexcept {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/// One value: an item of a list, and its type check. Operands are made of Python
/// objects, as GuardManager does.
bool add_item(Tree& tree, NodeId list, Py_ssize_t index) {
    ListItem step{};
    step.index.value = index;
    TypeMatch kind{};
    PyObject* type = as_object(&PyLong_Type);
    References references;
    Diagnostic problem;
    NodeId item = 0;
    return read_operands<TypeMatch>({&type, 1}, kind, references, problem) &&
           tree.child(list, Op(step), item, problem) &&
           tree.check(item, Op(kind), problem);
}

void measure_building(benchmark::State& state, Py_ssize_t count) {
    bool built = true;
    size_t bytes = 0;
    for ([[maybe_unused]] auto _ : state) {
        const size_t before = allocated_bytes();
        Tree tree;
        const NodeId list = add_local(tree, local_name(0));
        for (Py_ssize_t i = 0; i < count; ++i) built &= add_item(tree, list, i);
        benchmark::DoNotOptimize(tree.node_count());
        bytes = allocated_bytes() - before;
    }
    demand_pass(state, built);
    const auto values = static_cast<double>(count);
    state.counters["check"] =
        benchmark::Counter(values, benchmark::Counter::kIsIterationInvariantRate |
                                       benchmark::Counter::kInvert);
    state.counters["bytes"] = static_cast<double>(bytes) / values;
}

}  // namespace

void register_building(const Register& add) {
    for (const Py_ssize_t count : {1000, 4000, 16000, 64000}) {
        add("build/values:" + std::to_string(count),
            [count](benchmark::State& state) { measure_building(state, count); });
    }
}

}  // namespace guardtree::bench
