// Strict mode: switches it on, and passes results to guardtree.strict_mode.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "../../dsl/text/text.h"
#include "../../framehook/hook.h"
#include "../../guards/lookup/lookup.h"
#include "../bindings.h"
#include "../function.h"
#include "../strict.h"

namespace guardtree {
namespace {

/// guardtree.strict_mode, imported when strict mode is first switched on. It is not
/// imported during a look-up of a frame, because that would use the frame's builtins
/// for __import__.
PyObject* strict_module = nullptr;

py::object of_strict_mode(const char* name) {
    return py::handle(strict_module).attr(name);
}

/// The entry's position in the table, or None.
py::object place_of(const Table& table, const Entry* entry) {
    const auto& all = table.entries();
    for (size_t i = 0; i < all.size(); ++i) {
        if (all[i].get() == entry) return py::int_(i);
    }
    return py::none();
}

py::object dict_or_empty(PyObject* dict) {
    return dict ? py::reinterpret_borrow<py::object>(dict) : py::dict();
}

/// The first entry that passes, by trying all. Restores the error counters.
const Entry* scan(const View& view, const Table& table) {
    std::vector<uint64_t> errors;
    for (const Shared<Entry>& entry : table.entries()) errors.push_back(entry->errors);
    constexpr auto mode = Lookup::Mode::user_code;
    Lookup lookup(table, view, GUARDTREE_ROOM(Lookup::room(table, view, mode)), mode);
    const Entry* const scanned = lookup.find_by_scan();
    for (size_t i = 0; i < errors.size(); ++i) table.entries()[i]->errors = errors[i];
    if (PyErr_Occurred()) throw py::error_already_set();
    return scanned;
}

void compare_answers(const View& view, const Table& table, const Entry* found) {
    const Entry* const scanned = scan(view, table);
    PyObject* const locals = view.f_locals().get();
    if (!locals) throw py::error_already_set();
    py::list meanings;
    for (const Shared<Entry>& entry : table.entries())
        meanings.append(object_or_none(entry->meaning.get()));
    of_strict_mode("judge")(object_or_none(as_object(view.code().get())), meanings,
                            place_of(table, found), place_of(table, scanned),
                            py::handle(locals), dict_or_empty(view.globals().get()),
                            dict_or_empty(view.builtins().get()));
}

bool set_strict(bool on) {
    const bool was_on = is_strict();
    if (on && !strict_module) {
        strict_module = py::module_::import("guardtree.strict_mode").release().ptr();
    }
    CallbackProtocol changed = callback_protocol();
    changed.is_right_answer = on ? is_right_answer : nullptr;
    set_callback_protocol(changed);
    return was_on;
}

}  // namespace

bool is_strict() noexcept {
    return callback_protocol().is_right_answer != nullptr;
}

Owned<> meaning_of(const Tree& tree, PyCodeObject* code) {
    if (!is_strict()) return {};
    try {
        const GuardText made = text_of(tree, {.code = code});
        if (!made.refusal.empty()) return {};
        py::dict names;
        for (const auto& [name, object] : made.names)
            names[name.c_str()] = py::reinterpret_borrow<py::object>(object.get());
        const py::object kept = of_strict_mode("meaning")(made.text, names);
        return Owned<>::share(kept.ptr());
    } catch (...) {
        translate_exception();
        PyErr_Clear();
        return {};
    }
}

bool is_right_answer(const View& view, const Table& table, const Entry* found) {
    try {
        compare_answers(view, table, found);
        return true;
    } catch (...) {
        translate_exception();
        return false;
    }
}

void bind_strict(py::module_& module) {
    define_function(module, "_set_strict", calling<&set_strict>, py::arg("on"),
                    "For guardtree.strict_mode: whether it was on before.");
}

}  // namespace guardtree
