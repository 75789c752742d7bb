// The same look-up called directly, and through the C interface's table.
// SPDX-License-Identifier: MIT
// clang-format off: private headers come before everything that has Python.h.
#include "../../framelocals/views/frame_view.h"
// clang-format on

#include <memory>
#include <string>
#include <utility>

#include "../../capi/c_api.h"
#include "../../dsl/json/reader.h"
#include "../../guards/lookup/lookup.h"

#include "guarded_function.h"
#include "live_frame.h"
#include "subjects.h"

namespace guardtree::bench {
namespace {

constexpr size_t max_words = 64;

/// A function of two locals, and guards on them that pass: in C++, and in a table of
/// the C interface.
struct BothTables {
    GuardedFunction subject;
    Shared<Table> direct;
    guardtree_table* through = nullptr;  // for the process
};

const guardtree_api* api() {
    static const guardtree_api* table = c_api("bench");
    benchmark::DoNotOptimize(table);
    return table;
}

std::shared_ptr<BothTables> tables_of(const char* guards) {
    auto both = std::make_shared<BothTables>();
    const Owned<> globals = new_globals();
    GuardedFunction& subject = both->subject;
    subject.function = function_of_locals(2, globals.get());
    subject.arguments = {evaluated("10**6"), evaluated("[1.5, 2.5]")};
    guardtree_tree* tree = api()->tree_of_text(subject.function.get(), guards, nullptr);
    both->through = api()->table_new(subject.function.get());
    if (!tree || !api()->table_add(both->through, tree, nullptr, nullptr))
        give_up("the guards of the C interface do not compile");
    const auto json = Owned<>::steal(api()->tree_json(tree));
    api()->tree_free(tree);
    Tree same;
    Diagnostic problem;
    if (!from_json(PyUnicode_AsUTF8(json.get()), {.code = subject.code()}, same,
                   problem) ||
        !compile(same, subject))
        give_up(problem.message);
    both->direct = Table().with(
        make_shared_counted<Entry>(std::move(subject.program), Owned<>(), Owned<>()));
    return both;
}

void measure_direct(benchmark::State& state, const BothTables& both, bool makes_view) {
    const Table& table = *both.direct;
    PyObject* values[max_words];
    const auto look_up = [&](const View& view) {
        Lookup lookup(table, view, values, Lookup::mode_of(table));
        return lookup.find();
    };
    bool passed = true;
    in_frame_of(both.subject.function.get(), both.subject.arguments,
                [&](const _PyInterpreterFrame* frame) {
                    const FrameView kept(frame);
                    for ([[maybe_unused]] auto _ : state) {
                        benchmark::DoNotOptimize(frame);
                        const Entry* found = nullptr;
                        if (makes_view) {
                            const FrameView view(frame);
                            found = look_up(view);
                        } else {
                            found = look_up(kept);
                        }
                        passed &= found != nullptr;
                        if (found) note_hit(*found);
                    }
                });
    demand_pass(state, passed);
}

void measure_through(benchmark::State& state, const BothTables& both, bool makes_view) {
    const guardtree_api* const table = api();
    PyObject* scratch[max_words];
    guardtree_found found;
    bool passed = true;
    in_frame_of(both.subject.function.get(), both.subject.arguments,
                [&](const _PyInterpreterFrame* frame) {
                    auto* entered = const_cast<_PyInterpreterFrame*>(frame);
                    guardtree_view view;
                    view.opaque[0] = 0;
                    table->view_of_frame(&view, entered);
                    for ([[maybe_unused]] auto _ : state) {
                        benchmark::DoNotOptimize(entered);
                        if (makes_view) table->view_of_frame(&view, entered);
                        passed &= table->lookup(both.through, &view, scratch, max_words,
                                                &found) == GUARDTREE_HIT;
                        if (makes_view) table->view_end(&view);
                    }
                    table->view_end(&view);
                });
    demand_pass(state, passed);
}

}  // namespace

void register_c_abi(const Register& add) {
    const std::pair<const char*, const char*> cases[] = {
        {"two_type_match", "type(x0) is int and type(x1) is list"},
        {"length", "type(x0) is int and len(x1) == 2 and 0 < x0 and x0 % 8 == 0"},
        {"user_code", "type(x0) is int and x1[0] == 1.5"},
    };
    for (const auto& [name, guards] : cases) {
        const auto both = tables_of(guards);
        for (const bool makes_view : {false, true}) {
            const std::string end =
                std::string(makes_view ? "/with_view/" : "/") + name;
            add("c_abi/direct" + end, [both, makes_view](benchmark::State& state) {
                measure_direct(state, *both, makes_view);
            });
            add("c_abi/through" + end, [both, makes_view](benchmark::State& state) {
                measure_through(state, *both, makes_view);
            });
        }
    }
}

}  // namespace guardtree::bench
