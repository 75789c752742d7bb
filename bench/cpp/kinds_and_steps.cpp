// One benchmark for each documented example of each kind, step and relation; none is
// named here.
// SPDX-License-Identifier: MIT
//
// A kind is checked on 32 locals that hold the example's value; a step is taken from 32
// locals and what it fetches is checked for its exact type. The counter "check" is the
// time of one of the 32. A root step has one path only: subtract evaluate/empty.
#include <memory>

#include "../../guards/ops/op.h"

#include "guarded_function.h"
#include "subjects.h"

namespace guardtree::bench {
namespace {

constexpr int copies = 32;

std::string text(std::string_view view) {
    return std::string(view);
}

int native_is_int(PyObject* value, void*) {
    return PyLong_CheckExact(value);
}

PyObject* native_type_of(PyObject* value, void*) {
    return Owned<>::share(as_object(Py_TYPE(value))).release();
}

/// What examples of tensors speak of; numpy is None where it is not installed.
constexpr const char* tensor_names =
    "TensorSpec = dict\n"
    "try:\n  import numpy\nexcept ImportError:\n  numpy = None\n";

/// Whether what an example speaks of is here: torch's are not (compare_torch.py).
bool can_run(PyObject* globals, std::initializer_list<std::string_view> texts) {
    for (const std::string_view each : texts) {
        if (each.find("torch.") != each.npos) return false;
        if (each.find("numpy") == each.npos) continue;
        if (PyDict_GetItemString(globals, "numpy") == Py_None) return false;
    }
    return true;
}

/// Globals with the names that examples use.
Owned<> example_globals() {
    Owned<> globals = new_globals();
    Owned<>::steal(
        PyRun_String(tensor_names, Py_file_input, globals.get(), globals.get()));
    const auto add = [&](const char* name, auto* function, const char* capsule_name) {
        const auto capsule = Owned<>::steal(
            PyCapsule_New(reinterpret_cast<void*>(function), capsule_name, nullptr));
        PyDict_SetItemString(globals.get(), name, capsule.get());
    };
    add("native_is_int", native_is_int, NativeCheck::name);
    add("pure_is_int", native_is_int, NativePureCheck::name);
    add("native_type_of", native_type_of, NativeGetter::name);
    return globals;
}

/// The operands of an example: Python expressions, separated by commas.
Owned<> operands_of(std::string_view expressions, PyObject* globals) {
    if (expressions.empty()) return Owned<>::steal(PyTuple_New(0));
    return evaluated("(" + text(expressions) + ",)", globals);
}

using Subject = std::shared_ptr<GuardedFunction>;

/// A function of 32 locals, each with a value of its own from `expression`.
Subject subject_of_values(std::string_view expression, PyObject* globals) {
    auto subject = std::make_shared<GuardedFunction>();
    subject->function = function_of_locals(copies, globals);
    for (int i = 0; i < copies; ++i) {
        subject->arguments.push_back(evaluated(text(expression), globals));
    }
    return subject;
}

void add_benchmark(const Register& add, const std::string& name, const Tree& tree,
                   const Subject& subject, int checks) {
    if (!compile(tree, *subject)) give_up(name + " does not compile");
    add(name, [subject, checks](benchmark::State& state) {
        evaluate_in_frame(state, *subject, checks);
    });
}

/// A benchmark's name is that of its example: objects print with their addresses.
template <Described T>
std::string call_of(std::string_view operands) {
    return std::string(T::info.name) + "(" + std::string(operands) + ")";
}

template <GuardKind K>
void register_kind(const Register& add) {
    for (const Example& example : K::examples) {
        const Owned<> globals = example_globals();
        if (!can_run(globals.get(), {example.operands, example.pass})) continue;
        const Subject subject = subject_of_values(example.pass, globals.get());
        Tree tree;
        const Owned<> operands = operands_of(example.operands, globals.get());
        const Op kind = op_of<K>(tree, operands.get());
        for (int i = 0; i < copies; ++i) {
            add_check(tree, add_local(tree, local_name(i)), kind);
        }
        add_benchmark(
            add, "kind/" + call_of<K>(example.operands) + ": " + text(example.pass),
            tree, subject, copies);
    }
}

/// A check that what a step fetched has the exact type of the example's result.
void add_result_check(Tree& tree, NodeId node, const StepExample& example,
                      PyObject* globals) {
    const Owned<> result = evaluated(text(example.result), globals);
    add_check(tree, node, op_of_one<TypeMatch>(tree, as_object(Py_TYPE(result.get()))));
}

template <ValueStep S>
void register_step(const Register& add, const StepExample& example) {
    const Owned<> globals = example_globals();
    if (!can_run(globals.get(), {example.operands, example.value})) return;
    const Subject subject = subject_of_values(example.value, globals.get());
    Tree tree;
    const Owned<> operands = operands_of(example.operands, globals.get());
    const Op step = op_of<S>(tree, operands.get());
    for (int i = 0; i < copies; ++i) {
        const NodeId local = add_local(tree, local_name(i));
        add_result_check(tree, add_step(tree, local, step), example, globals.get());
    }
    add_benchmark(add,
                  "step/" + call_of<S>(example.operands) + ": " + text(example.value),
                  tree, subject, copies);
}

/// A function with the example's values as arguments, or with the same names as free
/// variables: of a root that names a slot, one of the two has it.
Subject subject_of_namespace(PyObject* locals, PyObject* globals, bool free) {
    auto subject = std::make_shared<GuardedFunction>();
    std::string names;
    PyObject* name = nullptr;
    PyObject* value = nullptr;
    for (Py_ssize_t i = 0; PyDict_Next(locals, &i, &name, &value);) {
        names += std::string(PyUnicode_AsUTF8(name)) + ", ";
        subject->arguments.push_back(Owned<>::share(value));
    }
    if (!free) {
        subject->function =
            defined("def subject(" + names + "): pass\n", "subject", globals);
        return subject;
    }
    const Owned<> make =
        defined("def make(" + names + "):\n    def subject(): return (" + names +
                    ")\n    return subject\n",
                "make", globals);
    const auto packed = Owned<>::steal(PyDict_Values(locals));
    const auto values = Owned<>::steal(PyList_AsTuple(packed.get()));
    subject->function =
        Owned<>::steal(PyObject_Call(make.get(), values.get(), nullptr));
    if (!subject->function) give_up("cannot make a closure");
    subject->arguments.clear();
    return subject;
}

template <RootStep S>
void register_step(const Register& add, const StepExample& example) {
    const Owned<> globals = example_globals();
    const Owned<> operands = operands_of(example.operands, globals.get());
    const Owned<> result = evaluated(text(example.result), globals.get());
    const Owned<> locals = evaluated(text(example.value), globals.get());
    if (PyTuple_GET_SIZE(operands.get()) == 1) {  // a name: the globals have it too
        PyDict_SetItem(globals.get(), PyTuple_GET_ITEM(operands.get(), 0),
                       result.get());
    }
    Tree tree;
    const Op step = op_of<S>(tree, operands.get());
    add_result_check(tree, add_step(tree, 0, step), example, globals.get());
    Subject subject = subject_of_namespace(locals.get(), globals.get(), false);
    if (!compile(tree, *subject)) {
        subject = subject_of_namespace(locals.get(), globals.get(), true);
    }
    add_benchmark(add, "step/" + call_of<S>(example.operands), tree, subject, 1);
}

/// A relation over the items of a tuple in each of 32 locals, whose fetching is part of
/// what is measured.
template <GuardRelation R>
void register_relation(const Register& add) {
    for (const RelationExample& example : R::examples) {
        const Owned<> globals = example_globals();
        if (!can_run(globals.get(), {example.pass})) continue;
        const Subject subject = subject_of_values(example.pass, globals.get());
        Tree tree;
        const Owned<> operands = operands_of(example.operands, globals.get());
        const Op relation = op_of<R>(tree, operands.get());
        const Py_ssize_t values = PyTuple_Size(subject->arguments[0].get());
        for (int i = 0; i < copies; ++i) {
            std::vector<NodeId> nodes;
            for (Py_ssize_t item = 0; item < values; ++item) {
                const auto index = Owned<>::steal(PyLong_FromSsize_t(item));
                const Op step = op_of_one<TupleItem>(tree, index.get());
                nodes.push_back(add_step(tree, add_local(tree, local_name(i)), step));
            }
            Diagnostic problem;
            if (!tree.relate(relation, nodes, problem)) give_up(problem.message);
        }
        add_benchmark(
            add, "relation/" + call_of<R>(example.operands) + ": " + text(example.pass),
            tree, subject, copies);
    }
}

template <class... Relations>
void register_relations(const Register& add, TypeList<Relations...>) {
    (register_relation<Relations>(add), ...);
}

template <class... Kinds>
void register_kinds(const Register& add, TypeList<Kinds...>) {
    (register_kind<Kinds>(add), ...);
}

template <class... Steps>
void register_steps(const Register& add, TypeList<Steps...>) {
    auto register_examples = [&]<class S>() {
        for (const StepExample& example : S::examples) register_step<S>(add, example);
    };
    (register_examples.template operator()<Steps>(), ...);
}

}  // namespace

void register_kinds_and_steps(const Register& add) {
    register_kinds(add, AllKinds{});
    register_steps(add, AllSteps{});
    register_relations(add, AllRelations{});
}

}  // namespace guardtree::bench
