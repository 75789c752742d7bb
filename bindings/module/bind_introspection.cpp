// Describes the module: kinds, steps, features. Stubs and docs are derived from this.
// SPDX-License-Identifier: MIT
#include "../../framelocals/cpython/cpython.h"

#include <pybind11/pybind11.h>

#include "../../framelocals/dict_watch.h"
#include "../../guards/assumptions/assumption.h"
#include "../../guards/ops/op.h"

#include "../bindings.h"
#include "../function.h"

namespace guardtree {
namespace {

py::str text(std::string_view view) {
    return py::str(view.data(), view.size());
}

template <class T>
py::dict description() {
    py::dict entry;
    entry["name"] = text(T::info.name);
    entry["method"] = python_name(T::info.name);
    entry["summary"] = text(T::info.summary);
    entry["python"] = text(T::info.python);
    entry["shorthand"] = text(T::info.shorthand);
    entry["calls_python"] = T::info.calls_python;
    py::list operands;
    auto describe = [&]<class Value>(const Operand<Value, T>& each) {
        operands.append(
            py::make_tuple(text(each.name), Value::expects, Value::annotation));
    };
    std::apply([&](const auto&... each) { (describe(each), ...); }, T::operands());
    entry["operands"] = operands;
    return entry;
}

template <class K>
py::dict kind_description() {
    py::dict entry = description<K>();
    py::list examples;
    for (const Example& example : K::examples) {
        examples.append(py::make_tuple(text(example.operands), text(example.pass),
                                       text(example.fail)));
    }
    entry["examples"] = examples;
    return entry;
}

template <class S>
py::dict step_description() {
    py::dict entry = description<S>();
    entry["is_root"] = RootStep<S>;
    py::list examples;
    for (const StepExample& example : S::examples) {
        examples.append(py::make_tuple(text(example.operands), text(example.value),
                                       text(example.result), text(example.fail)));
    }
    entry["examples"] = examples;
    return entry;
}

template <class R>
py::dict relation_description() {
    py::dict entry = description<R>();
    py::list examples;
    for (const RelationExample& example : R::examples) {
        examples.append(py::make_tuple(text(example.operands), text(example.pass),
                                       text(example.fail)));
    }
    entry["examples"] = examples;
    return entry;
}

template <class... Ks>
py::list kind_list(TypeList<Ks...>) {
    py::list list;
    (list.append(kind_description<Ks>()), ...);
    return list;
}

template <class... Ss>
py::list step_list(TypeList<Ss...>) {
    py::list list;
    (list.append(step_description<Ss>()), ...);
    return list;
}

template <class... Rs>
py::list relation_list(TypeList<Rs...>) {
    py::list list;
    (list.append(relation_description<Rs>()), ...);
    return list;
}

py::dict features() {
    py::dict facts;
    facts["cpython"] = CPython::series;
    facts["built_for"] = PY_VERSION;
    facts["init_may_escape_hook"] = CPython::init_may_escape_hook;
    facts["guards_calls_by"] = CPython::has_vectorcall_entry ? "entry" : "hook";
    facts["checks_c_stack"] = CPython::checks_c_stack;
    facts["dict_watcher"] = has_dict_watcher();
    facts["free_threaded"] = false;
    facts["subinterpreters"] = false;
#ifdef __OPTIMIZE__
    facts["optimized"] = true;
#else
    facts["optimized"] = false;
#endif
    return facts;
}

py::dict counts_of_assumptions() {
    const AssumptionCounts& counts = assumption_counts;
    py::dict told;
    told["arms"] = counts.arms;
    told["rearms"] = counts.rearms;
    told["events"] = counts.events;
    told["found"] = counts.found;
    told["demotions"] = counts.demotions;
    told["armed"] = counts.armed;
    told["watched"] = counts.watched;
    return told;
}

}  // namespace

void bind_introspection(py::module_& module) {
    define_function(
        module, "features", calling<&features>,
        "What this build does on this CPython, as a dict: cpython, built_for, "
        "init_may_escape_hook (constructors that CPython 3.13 specialised run "
        "`__init__` unseen), guards_calls_by ('entry': guard_function needs no hook; "
        "'hook': CPython 3.11), checks_c_stack, dict_watcher (False: this CPython has "
        "none, or others have taken all eight; assumptions compare then), "
        "free_threaded, subinterpreters, optimized (False: a debug build, whose times "
        "mean nothing).");
    set_up_watched_dicts();
    define_function(
        module, "set_assumptions", calling<&set_assumptions>, py::arg("enabled"),
        py::pos_only(),
        "Whether guards compiled from now on are assumed to hold as long as no dict "
        "that they go through changes, after they have passed. On at first. Gives the "
        "former setting. Answers are the same; for comparing and debugging.");
    define_function(
        module, "assumption_counts", calling<&counts_of_assumptions>,
        "What became of assumptions in this process, as a dict of counts: arms "
        "(checked and relied on from then), rearms (those that had been broken), "
        "events (changes that broke some, told by CPython), found (by comparing), "
        "demotions (dicts that change too often and are read directly), armed and "
        "watched (assumptions and dicts now).");
    define_function(module, "_kinds", [] { return kind_list(AllKinds{}); });
    define_function(module, "_steps", [] { return step_list(AllSteps{}); });
    define_function(module, "_relations", [] { return relation_list(AllRelations{}); });
}

}  // namespace guardtree
