// A complete frame evaluator (PEP 523). It uses guardtree to decide which function to
// call instead of a frame. It finds guardtree's C interface at run time and links
// nothing.
// SPDX-License-Identifier: MIT
#include <array>
#include <memory>
#include <new>
#include <unordered_map>
#include <utility>

#include <guardtree.h>

namespace {

struct Release {
    void operator()(PyObject* object) const { Py_DecRef(object); }
};

using Owned = std::unique_ptr<PyObject, Release>;

Owned share(void* object) {
    Py_IncRef(static_cast<PyObject*>(object));
    return Owned(static_cast<PyObject*>(object));
}

const guardtree_api* api = nullptr;

/// The evaluator that gets all other frames, and whether ours is installed above it.
_PyFrameEvalFunction evaluator_below = _PyEval_EvalFrameDefault;
bool is_installed = false;

/// Limits of a look-up's memory on the C stack. guard() refuses functions that need
/// more.
constexpr size_t max_words = 64;
constexpr size_t max_arguments = 32;
using Arguments = std::array<Owned, max_arguments>;

/// A function's code, and the function to call instead when guards pass.
struct Guarded {
    Owned code;  ///< kept alive, so that no other code object gets its address
    guardtree_table* table = nullptr;
    size_t positional = 0;  ///< number of arguments passed by position
    size_t count = 0;       ///< number of all arguments
    Owned keywords;         ///< names of the arguments passed by keyword

    Guarded() = default;
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;

    ~Guarded() { api->table_free(table); }
};

/// By code object. Never destroyed, because the process ends after Python does.
auto& all_guarded = *new std::unordered_map<PyObject*, std::shared_ptr<Guarded>>;

/// Whether this thread is looking up a frame. Frames that guards enter in the meantime
/// are not looked up.
thread_local bool is_looking = false;

/// Returns the function to call instead of the frame, and its arguments in `to`. Null
/// if there is none, or with an exception set.
Owned look_up(const Guarded& guarded, _PyInterpreterFrame* frame, Arguments& to) {
    guardtree_view view;
    view.opaque[0] = 0;
    // No view can be made of a generator that was resumed: its locals are no longer the
    // arguments.
    if (api->view_of_frame(&view, frame) != GUARDTREE_HIT) return {};
    std::array<PyObject*, max_words> scratch;
    std::array<PyObject*, max_arguments> values;
    guardtree_captured captured{values.data(), values.size(), 0};
    guardtree_found found;
    is_looking = true;
    const int answer = api->lookup_captured(guarded.table, &view, scratch.data(),
                                            scratch.size(), &found, &captured);
    Owned replacement;
    if (answer == GUARDTREE_HIT) replacement = share(found.payload);
    for (size_t i = 0; i < captured.count; ++i) to[i].reset(values[i]);
    api->view_end(&view);
    is_looking = false;
    return replacement;
}

/// The exception that unwinds frames. Tools see it, the program does not.
PyObject* frame_left = nullptr;

/// Clears a frame that was not run, which is an evaluator's duty. It raises an
/// exception in the frame before its first instruction, where no handler can catch it.
PyObject* leave(PyThreadState* thread, _PyInterpreterFrame* frame, Owned result) {
    if (result) PyErr_SetNone(frame_left);
    const Owned nothing(_PyEval_EvalFrameDefault(thread, frame, 1));
    if (!result || !PyErr_ExceptionMatches(frame_left))
        return nullptr;  // a tool raised
    PyErr_Clear();
    return result.release();
}

/// Calls another function instead of the frame if guards pass. Returns false if the
/// frame must run.
bool serve(PyThreadState* thread, _PyInterpreterFrame* frame, PyObject*& result) {
    // A tracer expects to see the function that the user wrote.
    if (is_looking || thread->c_tracefunc || thread->c_profilefunc) return false;
    const Owned code(api->frame_code(frame));
    const auto found = all_guarded.find(code.get());
    if (found == all_guarded.end()) return false;
    const std::shared_ptr<Guarded> guarded = found->second;  // guards may remove it
    Arguments arguments;
    const Owned replacement = look_up(*guarded, frame, arguments);
    if (!replacement && !PyErr_Occurred()) return false;
    Owned answer;
    if (replacement) {
        std::array<PyObject*, max_arguments> given;
        for (size_t i = 0; i < guarded->count; ++i) given[i] = arguments[i].get();
        answer.reset(PyObject_Vectorcall(replacement.get(), given.data(),
                                         guarded->positional, guarded->keywords.get()));
    }
    result = leave(thread, frame, std::move(answer));
    return true;
}

/// The evaluator. Other frames are passed on by a tail call, which needs no C stack.
PyObject* evaluate(PyThreadState* thread, _PyInterpreterFrame* frame, int throwing) {
    PyObject* result = nullptr;
    if (!throwing && serve(thread, frame, result)) return result;
    return evaluator_below(thread, frame, throwing);
}

Owned names_of_locals(PyObject* code) {
    return Owned(PyCode_GetVarnames(reinterpret_cast<PyCodeObject*>(code)));
}

/// Finds the tree's nodes of a function's arguments. False with an exception set.
bool find_arguments(guardtree_tree* tree, const Guarded& guarded, int64_t* nodes) {
    const Owned names = names_of_locals(guarded.code.get());
    for (size_t i = 0; names && i < guarded.count; ++i) {
        PyObject* name = PyTuple_GET_ITEM(names.get(), i);
        nodes[i] = api->tree_step(tree, 0, "local", &name, 1);
        if (nodes[i] < 0) return false;
    }
    return names != nullptr;
}

/// Reads the data of a function. Null with an exception set.
std::shared_ptr<Guarded> read_function(PyObject* function) {
    auto guarded = std::make_shared<Guarded>();
    guarded->code = share(PyFunction_GetCode(function));
    const auto* code = reinterpret_cast<PyCodeObject*>(guarded->code.get());
    constexpr int other_kinds =
        CO_VARARGS | CO_VARKEYWORDS | CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
    const int count = code->co_argcount + code->co_kwonlyargcount;
    if ((code->co_flags & other_kinds) || count > static_cast<int>(max_arguments)) {
        PyErr_Format(PyExc_ValueError,
                     "expected a function without * and ** arguments, no generator or "
                     "coroutine, with at most %zu arguments; found %R",
                     max_arguments, function);
        return nullptr;
    }
    guarded->positional = static_cast<size_t>(code->co_argcount);
    guarded->count = static_cast<size_t>(count);
    const Owned locals = names_of_locals(guarded->code.get());
    if (!locals) return nullptr;
    guarded->keywords.reset(PyTuple_GetSlice(locals.get(), code->co_argcount, count));
    guarded->table = api->table_new(function);
    return guarded->keywords && guarded->table ? guarded : nullptr;
}

/// Compiles guards into an entry whose payload is `replacement`.
bool add_entry(Guarded& guarded, PyObject* function, const char* guards,
               PyObject* replacement) {
    guardtree_tree* tree = api->tree_of_text(function, guards, nullptr);
    if (!tree) return false;
    uint64_t entry = 0;
    std::array<int64_t, max_arguments> nodes;
    if (find_arguments(tree, guarded, nodes.data())) {
        const auto release = [](void* it) { Py_DecRef(static_cast<PyObject*>(it)); };
        Owned payload = share(replacement);
        entry = api->table_add_capturing(guarded.table, tree, payload.get(), release,
                                         nodes.data(), guarded.count);
        if (entry) payload.release();
    }
    api->tree_free(tree);
    if (!entry || api->table_scratch(guarded.table) <= max_words) return entry != 0;
    api->table_remove(guarded.table, entry);
    PyErr_Format(PyExc_ValueError, "expected guards that fetch at most %zu values",
                 max_words);
    return false;
}

PyObject* guard(PyObject*, PyObject* arguments) {
    PyObject *function, *replacement;
    const char* guards;
    if (!PyArg_ParseTuple(arguments, "O!sO:guard", &PyFunction_Type, &function, &guards,
                          &replacement)) {
        return nullptr;
    }
    if (!PyCallable_Check(replacement)) {
        PyErr_Format(PyExc_TypeError, "expected a callable, found %R", replacement);
        return nullptr;
    }
    try {
        const auto found = all_guarded.find(PyFunction_GetCode(function));
        const auto guarded =
            found != all_guarded.end() ? found->second : read_function(function);
        if (!guarded || !add_entry(*guarded, function, guards, replacement))
            return nullptr;
        all_guarded[guarded->code.get()] = guarded;
    } catch (const std::bad_alloc&) {
        return PyErr_NoMemory();
    }
    Py_RETURN_NONE;
}

/// The record of a guarded function. Null with LookupError set.
std::shared_ptr<Guarded> find(PyObject* function) {
    if (PyFunction_Check(function)) {
        const auto found = all_guarded.find(PyFunction_GetCode(function));
        if (found != all_guarded.end()) return found->second;
    }
    PyErr_Format(PyExc_LookupError, "expected a guarded function, found %R", function);
    return nullptr;
}

PyObject* forget(PyObject*, PyObject* function) {
    const std::shared_ptr<Guarded> guarded = find(function);
    if (!guarded) return nullptr;
    all_guarded.erase(guarded->code.get());
    Py_RETURN_NONE;
}

PyObject* counts(PyObject*, PyObject* function) {
    const std::shared_ptr<Guarded> guarded = find(function);
    guardtree_counts all{};
    if (!guarded || api->table_counts(guarded->table, 0, &all, sizeof all) < 0)
        return nullptr;
    return Py_BuildValue("(KK)", static_cast<unsigned long long>(all.hits),
                         static_cast<unsigned long long>(all.misses));
}

PyObject* install(PyObject*, PyObject*) {
    PyInterpreterState* interpreter = PyInterpreterState_Get();
    if (!is_installed) {
        evaluator_below = _PyInterpreterState_GetEvalFrameFunc(interpreter);
        _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
        is_installed = true;
    }
    Py_RETURN_NONE;
}

PyObject* uninstall(PyObject*, PyObject*) {
    PyInterpreterState* interpreter = PyInterpreterState_Get();
    if (is_installed && _PyInterpreterState_GetEvalFrameFunc(interpreter) != evaluate) {
        PyErr_SetString(PyExc_RuntimeError,
                        "another frame evaluator is installed above this one, and "
                        "hands frames on to it: uninstall that one first");
        return nullptr;
    }
    if (is_installed)
        _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluator_below);
    is_installed = false;
    Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"guard", guard, METH_VARARGS,
     "guard(function, guards, replacement): calls of function that pass the guards, in "
     "the language of guardtree.parse, call replacement with the same arguments."},
    {"forget", forget, METH_O, "forget(function): it runs as it was written again."},
    {"counts", counts, METH_O, "counts(function): its look-ups' hits and misses."},
    {"install", install, METH_NOARGS, "Puts the evaluator above the present one."},
    {"uninstall", uninstall, METH_NOARGS,
     "Puts the evaluator below back. RuntimeError where another one is above."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "evaluator",
    nullptr,
    -1,
    methods,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit_evaluator() {
    api = guardtree_import();
    if (!api) return nullptr;
    Owned module(PyModule_Create(&definition));
    frame_left = PyErr_NewException("evaluator.FrameLeft", nullptr, nullptr);
    if (!module || PyModule_AddObjectRef(module.get(), "FrameLeft", frame_left) < 0)
        return nullptr;
    return module.release();
}
