// Whole look-ups, and the pieces that every look-up is made of.
// SPDX-License-Identifier: MIT
#include <memory>

#include "../../framelocals/views/frame_view.h"
#include "../../guards/lookup/lookup.h"
#include "../../guards/objects/dict_lookup.h"

#include "guarded_function.h"
#include "live_frame.h"
#include "subjects.h"

namespace guardtree::bench {
namespace {

/// A function of `locals` ints with `type_match(int)` on each.
std::shared_ptr<GuardedFunction> function_with_type_matches(int locals) {
    auto subject = std::make_shared<GuardedFunction>();
    const Owned<> globals = new_globals();
    subject->function = function_of_locals(locals, globals.get());
    Tree tree;
    for (int i = 0; i < locals; ++i) {
        subject->arguments.push_back(evaluated("10**6"));
        add_check(tree, add_local(tree, local_name(i)),
                  op_of_one<TypeMatch>(tree, as_object(&PyLong_Type)));
    }
    if (!compile(tree, *subject)) give_up("the look-up's guards do not compile");
    return subject;
}

/// What the hook does for a frame between finding its table and running the entry.
void measure_lookup(benchmark::State& state, const GuardedFunction& subject,
                    const Table& table) {
    std::vector<PyObject*> values(table.value_count() + 1u);
    const Entry* expected = table.entries().back().get();
    bool passed = true;
    in_frame_of(subject.function.get(), subject.arguments,
                [&](const _PyInterpreterFrame* frame) {
                    for ([[maybe_unused]] auto _ : state) {
                        benchmark::DoNotOptimize(frame);
                        const FrameView view(frame);
                        Lookup lookup(table, view, values.data(), Lookup::Mode::quiet);
                        passed &= lookup.find() == expected;
                    }
                });
    demand_pass(state, passed);
}

void register_lookup(const Register& add, const std::string& name, int locals) {
    const auto subject = function_with_type_matches(locals);
    auto entry =
        make_shared_counted<Entry>(std::move(subject->program), Owned<>(), Owned<>());
    const Shared<Table> table = Table().with(std::move(entry));
    add(name, [subject, table](benchmark::State& state) {
        measure_lookup(state, *subject, *table);
    });
}

void measure_view(benchmark::State& state, const GuardedFunction& subject) {
    in_frame_of(subject.function.get(), subject.arguments,
                [&](const _PyInterpreterFrame* frame) {
                    for ([[maybe_unused]] auto _ : state) {
                        benchmark::DoNotOptimize(frame);
                        const FrameView view(frame);
                        benchmark::DoNotOptimize(view.local(0));
                    }
                });
}

/// A key of a dict of 64 names, by its known hash.
void measure_dict_item(benchmark::State& state) {
    const Owned<> dict = evaluated("{'k%d' % i: i for i in range(64)}");
    const auto keys = Owned<>::steal(PyDict_Keys(dict.get()));
    PyObject* name = PyList_GET_ITEM(keys.get(), 31);
    const HashedKey key{name, PyObject_Hash(name)};
    bool passed = true;
    PyObject* object = dict.get();
    for ([[maybe_unused]] auto _ : state) {
        benchmark::DoNotOptimize(object);
        passed &= static_cast<bool>(find_in_dict(object, key));
    }
    demand_pass(state, passed);
}

}  // namespace

void register_lookups(const Register& add) {
    const auto plain = function_with_type_matches(1);
    add("frame_view",
        [plain](benchmark::State& state) { measure_view(state, *plain); });
    const auto empty = function_with_type_matches(0);
    add("evaluate/empty",
        [empty](benchmark::State& state) { evaluate_in_frame(state, *empty, 1); });
    register_lookup(add, "lookup/empty", 0);
    register_lookup(add, "lookup/one_type_match", 1);
    register_lookup(add, "lookup/two_type_match", 2);
    register_lookup(add, "lookup/eight_type_match", 8);
    add("dict_item", measure_dict_item);
}

}  // namespace guardtree::bench
