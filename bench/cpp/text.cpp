// Parsing guards from text, with their tree.
// SPDX-License-Identifier: MIT
#include "../../dsl/text/text.h"

#include "guarded_function.h"
#include "interpreter.h"
#include "subjects.h"

namespace guardtree::bench {
namespace {

/// Claims of the usual forms, each on a value of its own.
std::string claims(int count) {
    static constexpr const char* forms[] = {
        "type(a.v#) is int", "a.v# is None", "same_constant(a.v#, 'name')",
        "len(a.v#) == 2",    "a[#] is True", "type(dict_item(a, #)) is str",
        "0 <= a.v# <= 64",   "a.v# == 3",    "a.v#.shape[0] % 8 == 0",
        "a.v# is b.v#"};
    std::string text;
    for (int i = 0; i < count; ++i) {
        std::string claim = forms[static_cast<size_t>(i) % std::size(forms)];
        for (size_t at = claim.find('#'); at != claim.npos; at = claim.find('#')) {
            claim.replace(at, 1, std::to_string(i));
        }
        text += (text.empty() ? "" : " and ") + claim;
    }
    return text;
}

void measure_parsing(benchmark::State& state, int count) {
    const std::string text = claims(count);
    const auto names = Owned<>::steal(PyDict_New());
    PyDict_SetItemString(names.get(), "__builtins__", PyEval_GetBuiltins());
    const auto made = Owned<>::steal(
        PyRun_String("def f(a, b): pass", Py_file_input, names.get(), names.get()));
    PyObject* function = PyDict_GetItemString(names.get(), "f");
    const TextNames known{
        {.code = reinterpret_cast<PyCodeObject*>(PyFunction_GetCode(function)),
         .globals = names.get(),
         .builtins = PyEval_GetBuiltins()},
        nullptr};
    bool is_read = true;
    for ([[maybe_unused]] auto _ : state) {
        Tree tree;
        Diagnostic problem;
        is_read &= parse_guards(text, known, tree, problem);
        benchmark::DoNotOptimize(tree.node_count());
    }
    demand_pass(state, is_read);
    state.counters["claim"] =
        benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate |
                                      benchmark::Counter::kInvert);
}

}  // namespace

void register_text(const Register& add) {
    for (const int count : {10, 1000}) {
        add("text/guards:" + std::to_string(count),
            [count](benchmark::State& state) { measure_parsing(state, count); });
    }
}

}  // namespace guardtree::bench
