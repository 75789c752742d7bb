// One program over raw slots, over a dict that exists, over a dict built for the call.
// SPDX-License-Identifier: MIT
//
// The program has `guards` checks of exact types, on the locals in turn. Raw: what the
// hook does, on a real frame. Dict: what an engine does that is handed f_locals; each
// guarded name is looked up once, however many guards are on it. Built dict: the same
// after putting all locals into a new dict, as somebody must when the engine wants one.
// In all three the same ops run on the same values, and the making of the view is
// included.
#include <algorithm>
#include <memory>

#include "../../framelocals/views/frame_view.h"
#include "../../guards/run/evaluate.h"

#include "guarded_function.h"
#include "live_frame.h"
#include "subjects.h"

namespace guardtree::bench {
namespace {

constexpr int local_counts[] = {1, 2, 4, 8, 16, 32, 64};
constexpr int guard_counts[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};

/// Values of eight types in turn, so that no two neighbours check for the same.
constexpr const char* values[] = {"10**6", "2.5",    "'text'",     "b'bytes'",
                                  "[1]",   "(1, 2)", "{'key': 1}", "{1}"};

struct Subject : GuardedFunction {
    Owned<> locals;                 ///< the dict that exists
    std::vector<SlotName> guarded;  ///< each guarded local once
};

/// A tree keeps one node for a name, and one check of a kind on it. Equal names that
/// are different objects make nodes of their own, which compile to ops on the same
/// slot: the way to more guards than locals without mixing kinds.
NodeId add_further_local(Tree& tree, const std::string& name) {
    auto copy = Owned<>::steal(PyUnicode_FromString(name.c_str()));
    if (!copy) give_up("no memory for a name");
    Local step;
    step.name.value = copy.get();
    tree.references().push_back(std::move(copy));
    return add_step(tree, 0, Op(step));
}

std::shared_ptr<Subject> make_subject(int locals, int guards) {
    auto subject = std::make_shared<Subject>();
    const Owned<> globals = new_globals();
    subject->function = function_of_locals(locals, globals.get());
    subject->locals = Owned<>::steal(PyDict_New());
    for (int i = 0; i < locals; ++i) {
        Owned<> value = evaluated(values[static_cast<size_t>(i) % std::size(values)]);
        PyObject* name = PyTuple_GET_ITEM(subject->code()->co_localsplusnames, i);
        PyDict_SetItem(subject->locals.get(), name, value.get());
        subject->arguments.push_back(std::move(value));
    }
    Tree tree;
    for (int i = 0; i < guards; ++i) {
        const int local = i % locals;
        const std::string name = local_name(local);
        const NodeId node =
            i < locals ? add_local(tree, name) : add_further_local(tree, name);
        PyObject* value = subject->arguments[static_cast<size_t>(local)].get();
        add_check(tree, node, op_of_one<TypeMatch>(tree, as_object(Py_TYPE(value))));
    }
    if (!compile(tree, *subject)) give_up("the sweep's guards do not compile");
    const auto checks = std::ranges::count_if(
        subject->program.ops(), [](const Op& op) { return op.is_kind(); });
    if (checks != guards) {
        give_up("the sweep's guards are not one check each");
    }
    const auto names = subject->program.names();
    const auto distinct = static_cast<std::ptrdiff_t>(std::min(locals, guards));
    subject->guarded.assign(names.begin(), names.begin() + distinct);
    return subject;
}

/// The program on a view over `mapping`, made and filled here.
bool passes_on_mapping(const Subject& subject, PyObject* mapping,
                       std::span<SlotWord> storage, PyObject** place) {
    Scope scope;
    scope.code = subject.code();
    MappingView view(scope, storage);
    if (!view.fill(mapping, subject.guarded)) return false;
    Owned<> error;
    return evaluate(subject.program, view, place, error) == Verdict::pass;
}

void measure_dict(benchmark::State& state, const Subject& subject) {
    std::vector<SlotWord> storage(subject.slot_count());
    std::vector<PyObject*> place(subject.program.value_count() + 1u);
    bool passed = true;
    PyObject* mapping = subject.locals.get();
    for ([[maybe_unused]] auto _ : state) {
        benchmark::DoNotOptimize(mapping);
        passed &= passes_on_mapping(subject, mapping, storage, place.data());
    }
    demand_pass(state, passed);
}

/// The locals of a frame as a new dict: the leanest way there is, all names being
/// known.
Owned<> build_dict(const View& view) {
    auto dict = Owned<>::steal(PyDict_New());
    PyObject* names = view.code().get()->co_localsplusnames;
    const auto count = static_cast<int>(PyTuple_GET_SIZE(names));
    for (int slot = 0; dict && slot < count; ++slot) {
        PyObject* value = view.local(slot).get();
        if (!value) continue;
        if (PyDict_SetItem(dict.get(), PyTuple_GET_ITEM(names, slot), value) < 0)
            return {};
    }
    return dict;
}

void measure_built_dict(benchmark::State& state, const Subject& subject) {
    std::vector<SlotWord> storage(subject.slot_count());
    std::vector<PyObject*> place(subject.program.value_count() + 1u);
    bool passed = true;
    in_frame_of(subject.function.get(), subject.arguments,
                [&](const _PyInterpreterFrame* frame) {
                    for ([[maybe_unused]] auto _ : state) {
                        benchmark::DoNotOptimize(frame);
                        const FrameView view(frame);
                        const Owned<> mapping = build_dict(view);
                        passed &= mapping && passes_on_mapping(subject, mapping.get(),
                                                               storage, place.data());
                    }
                });
    demand_pass(state, passed);
}

}  // namespace

void register_sweep(const Register& add) {
    for (const int locals : local_counts) {
        for (const int guards : guard_counts) {
            const auto subject = make_subject(locals, guards);
            const std::string cell = "/locals:" + std::to_string(locals) +
                                     "/guards:" + std::to_string(guards);
            // One after the other: a slow spell of the machine hits all three of a
            // cell.
            add("evaluate/raw" + cell, [subject, guards](benchmark::State& state) {
                evaluate_in_frame(state, *subject, guards);
            });
            add("evaluate/dict" + cell,
                [subject](benchmark::State& state) { measure_dict(state, *subject); });
            add("evaluate/built_dict" + cell, [subject](benchmark::State& state) {
                measure_built_dict(state, *subject);
            });
        }
    }
}

}  // namespace guardtree::bench
