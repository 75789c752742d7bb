// The Python types GuardedCode and CacheEntry.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include <pybind11/pybind11.h>

#include "../../framehook/replacement.h"
#include "../../guards/run/hook_thread.h"
#include "../bindings.h"
#include "../explanations.h"
#include "../guard_manager.h"
#include "../guarded_code.h"
#include "../strict.h"
#include "../subject.h"

namespace guardtree {
namespace {

/// The code object for which a callback is running, one per greenlet.
struct Asked {
    const StackChunk* greenlet;
    Owned<PyCodeObject> code;
};

/// Never destroyed, because a daemon thread may be in a callback when the process ends.
std::vector<Asked>& asked_by = *new std::vector<Asked>();

/// The one of the current greenlet, which is the owner during a pause.
std::vector<Asked>::iterator find_asked() noexcept {
    return std::ranges::find(asked_by, hook_thread.owner, &Asked::greenlet);
}

void require_fit(PyCodeObject* original, PyCodeObject* replacement) {
    const std::string problem = replacement_problem(original, replacement);
    if (problem.empty()) return;
    throw py::value_error(
        "this code cannot run in frames of " +
        py::repr(py::handle(original->co_qualname)).cast<std::string>() + ": " +
        problem);
}

/// The slots of the captured values in frames of `replacement`. Throws ValueError.
std::vector<uint16_t> slots_of(const Captures& captures, PyCodeObject* original,
                               PyCodeObject* replacement) {
    if (!captures.names) return {};
    if (original && !may_fit_in_place(original, replacement)) {
        throw py::value_error(
            "captures: the code of a generator or coroutine needs a larger frame than "
            "the guarded one has, so its locals cannot be bound: let it fetch the "
            "values itself, or use fewer locals and less stack");
    }
    return capture_slots(captures, replacement);
}

/// The guards for a plain callable: one `python` check on f_locals.
Tree tree_of_callable(PyObject* callable) {
    Tree tree;
    Python kind{};
    Diagnostic problem;
    NodeId locals = 0;
    if (!Callable::read(callable, kind.predicate, tree.references(), problem) ||
        !tree.child(0, Op(FLocals{}), locals, problem) ||
        !tree.check(locals, Op(kind), problem)) {
        problem.message =
            "GuardedCode(check_fn): expected a GuardManager or a callable taking "
            "f_locals, found " +
            found_text(callable);
        throw_diagnostic(problem);
    }
    return tree;
}

/// Raises guardtree.bytecode.UnsafeCode for code that may crash the interpreter.
void verify_code(py::handle code, const Captures& captures) {
    const py::object verify = py::module_::import("guardtree.bytecode").attr("verify");
    if (captures.names)
        verify(code, py::arg("bound") = py::handle(captures.names.get()));
    else
        verify(code);
}

}  // namespace

PyCodeObject* code_in_callback() noexcept {
    if (!hook_thread.is_paused()) return nullptr;
    const auto found = find_asked();
    return found == asked_by.end() ? nullptr : found->code.get();
}

void set_code_in_callback(PyCodeObject* code) {
    if (!hook_thread.is_paused()) return;
    const auto found = find_asked();
    if (found == asked_by.end()) {
        if (!code) return;
        asked_by.push_back({hook_thread.owner, Owned<PyCodeObject>::share(code)});
    } else if (code) {
        found->code = Owned<PyCodeObject>::share(code);
    } else {
        asked_by.erase(found);
    }
}

GuardedCode::GuardedCode(py::handle code, py::handle check_fn, py::handle captures)
    : code_(Owned<>::share(code.ptr())), check_fn_(Owned<>::share(check_fn.ptr())) {
    if (!PyCode_Check(code.ptr())) {
        Diagnostic problem;
        refuse_operand(problem, "a code object", code.ptr());
        problem.message = "GuardedCode(code): " + problem.message;
        throw_diagnostic(problem);
    }
    auto* replacement = reinterpret_cast<PyCodeObject*>(code.ptr());
    PyCodeObject* original = code_in_callback();
    if (GuardManager::is_instance(check_fn)) {
        GuardTree& guards = GuardManager::from_python(check_fn.ptr())->tree();
        guards.compiled();  // reports compile errors here, not later
        tree_ = guards.tree;
        original = guards.code();
        captures_ = read_named_captures(captures, check_fn);
    } else {
        tree_ = tree_of_callable(check_fn.ptr());
        if (!captures.is_none()) {
            throw py::type_error(
                "captures: a callable guard has no paths; give a GuardManager");
        }
    }
    if (original) require_fit(original, replacement);
    slots_of(captures_, original, replacement);
}

Shared<Entry> GuardedCode::entry_for(PyCodeObject* code) const {
    auto* replacement = reinterpret_cast<PyCodeObject*>(code_.get());
    require_fit(code, replacement);
    auto entry = make_entry(tree_, code, code_, check_fn_, captures_);
    entry->slots = slots_of(captures_, code, replacement);
    return entry;
}

int GuardedCode::traverse(visitproc visit, void* arg) const {
    Py_VISIT(code_.get());
    Py_VISIT(check_fn_.get());
    Py_VISIT(captures_.names.get());
    for (const Owned<>& reference : tree_.references()) Py_VISIT(reference.get());
    return 0;
}

int CacheEntryHandle::traverse(visitproc visit, void* arg) const {
    Py_VISIT(table_->object());
    return 0;
}

void GuardedCode::clear() {
    check_fn_ = Owned<>::share(Py_None);
    tree_.clear();
}

py::object CacheEntryHandle::next() const {
    if (index_ + 1 >= table_->entries().size()) return py::none();
    return py::cast(CacheEntryHandle(table_, index_ + 1));
}

py::object CacheEntryHandle::first_of(const CodeCache* cache) {
    if (!cache || cache->table()->entries().empty()) return py::none();
    return py::cast(CacheEntryHandle(cache->table(), 0));
}

namespace {

/// The scope for a mapping: the function or, for a bare code object, the function that
/// the entry's guards were made for, if it is still alive.
HeldScope scope_for(const Entry& entry, py::handle function_or_code) {
    PyObject* object = function_or_code.ptr();
    if (PyFunction_Check(object)) {
        return HeldScope(reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(object)),
                         reinterpret_cast<PyFunctionObject*>(object));
    }
    auto* code = reinterpret_cast<PyCodeObject*>(object);
    PyFunctionObject* function = nullptr;
    if (GuardManager::is_instance(entry.source.get())) {
        function = GuardManager::from_python(entry.source.get())->tree().function();
        if (function && function->func_code != object) function = nullptr;
    }
    return HeldScope(code, function);
}

Explanation explain_entry(const CacheEntryHandle& handle, py::handle function_or_code,
                          py::handle subject) {
    const Entry& entry = handle.entry();
    if (!PyFunction_Check(function_or_code.ptr()) &&
        !PyCode_Check(function_or_code.ptr())) {
        throw py::type_error("expected a function or a code object");
    }
    Explanation explanation;
    const auto explain_on = [&](const View& view) {
        return explain(entry.program, view, explanation);
    };
    const auto scope = [&] { return scope_for(entry, function_or_code); };
    if (!with_view(entry.program.names(), subject.ptr(), false, scope, explain_on)) {
        throw py::error_already_set();
    }
    tell_nodes_of(entry.source.get(), explanation);
    return explanation;
}

GuardedCode make_guarded_code(py::handle code, py::handle check_fn, py::handle captures,
                              std::optional<bool> verify) {
    GuardedCode made(code, check_fn, captures);
    if (verify.value_or(is_strict())) verify_code(code, made.captures());
    return made;
}

}  // namespace

void bind_code(py::module_& module) {
    define_function(module, "_explain_entry", calling<&explain_entry>, py::arg("entry"),
                    py::arg("code"), py::arg("subject"));
    BoxedClass<GuardedCode>(module, Made::by_calling,
                            "GuardedCode(code, check_fn, *, captures=None, "
                            "verify=None)\n--\n\n"
                            "Replacement code and the guards under which it may run, "
                            "as they are now: later edits of the GuardManager change "
                            "nothing. Raises when `code` is not a code object or does "
                            "not fit the guarded one, saying what differs; with "
                            "`verify` (None: in strict mode), also when it may crash "
                            "the interpreter: see guardtree.bytecode.verify. "
                            "`captures`: a dict of locals of `code`, no arguments, to "
                            "paths of the GuardManager; the code finds them bound to "
                            "the very values that the guards checked. Such code runs "
                            "on no frame that its guards did not pass, nor in the few "
                            "frames that cannot become its own where they lie.")
        .def_init<&make_guarded_code>(py::arg("code"), py::arg("check_fn"),
                                      py::kw_only(), py::arg("captures") = py::none(),
                                      py::arg("verify") = py::none())
        .def_property_readonly("code", calling<&GuardedCode::code>)
        .def_property_readonly("check_fn", calling<&GuardedCode::check_fn>);
    BoxedClass<CacheEntryHandle>(module, Made::by_guardtree,
                                 "One cached (guards, code) of a code object.")
        .def_property_readonly(
            "code",
            [](const CacheEntryHandle& self) {
                return object_or_none(self.entry().living_payload());
            },
            "The replacement code. None once it is gone, where it was the guarded code "
            "itself.")
        .def_property_readonly(
            "check_fn",
            [](const CacheEntryHandle& self) {
                return object_or_none(self.entry().source.get());
            },
            "The GuardManager or callable it was made with.")
        .def_property_readonly("next", calling<&CacheEntryHandle::next>,
                               "The next younger entry, or None.")
        .def_property_readonly(
            "hits", [](const CacheEntryHandle& self) { return self.entry().hits; })
        .def_property_readonly(
            "errors", [](const CacheEntryHandle& self) { return self.entry().errors; },
            "How often a guard raised, which counts as a miss.")
        .def_property_readonly(
            "last_error",
            [](const CacheEntryHandle& self) {
                return object_or_none(self.entry().last_error.get());
            },
            "The last exception of a guard, without its traceback; None when none "
            "raised.");
}

}  // namespace guardtree
