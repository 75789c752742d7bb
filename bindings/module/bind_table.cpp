// The Python type Table: entries with payloads, looked up without a hook.
// SPDX-License-Identifier: MIT
#include <pybind11/pybind11.h>

#include "../../framehook/code_cache.h"
#include "../../guards/lookup/differences.h"
#include "../bindings.h"
#include "../dispatch/guarded_entries.h"
#include "../entries.h"
#include "../guard_manager.h"
#include "../strict.h"
#include "../subject.h"
#include "../table_entry.h"

namespace guardtree {

/// A table for the calls of one function or code object.
class GuardTable {
public:
    GuardTable(py::handle scope, py::handle otherwise)
        : scope_(scope), otherwise_(Owned<>::share(otherwise.ptr())) {}

    Shared<Entry> add(py::handle guards, py::handle payload, py::handle captures) {
        Tree& tree = GuardManager::of(guards).tree().tree;
        auto entry = make_entry(tree, scope_.code(), Owned<>::share(payload.ptr()),
                                Owned<>::share(guards.ptr()),
                                read_named_captures(captures, guards));
        table = table->with(entry);
        return entry;
    }

    /// The first entry whose guards pass on `subject`, or null. Its captured values go
    /// to `values`, if given. Throws exceptions of guards that must propagate, and
    /// exceptions from reading the subject.
    Shared<Entry> find(PyObject* subject, py::dict* values = nullptr) const {
        Shared<Entry> found;
        if (find_quickly(subject, found, values)) return found;
        const Shared<Table> pinned = table;
        const auto use = [&](const View& view) {
            found = !values && !is_strict() ? first_prepared(*pinned, view)
                                            : first_of(*pinned, view, values);
            return true;
        };
        const auto held = [&] { return HeldScope(scope_); };
        if (!with_view(pinned->names(), subject, false, held, use))
            throw py::error_already_set();
        return found;
    }

    /// The look-up if no user code can run (it could release this object or the
    /// subject). Returns false, without a look-up, if find is needed.
    bool find_quickly(PyObject* subject, Shared<Entry>& to,
                      py::dict* values = nullptr) const {
        if (!PyDict_CheckExact(subject) || may_run_user_code()) return false;
        return with_dict_view(table->names(), scope_, subject, [&](const View& view) {
            to = first_of(*table, view, values);
        });
    }

    bool may_run_user_code() const { return table->calls_python() || is_strict(); }

    /// Whether an entry captures values.
    bool captures() const { return table->max_captured() != 0; }

    /// What look-ups return when no entry's guards pass. Borrowed.
    PyObject* otherwise() const { return otherwise_.get(); }

    /// (TableEntry, Explanation) of each entry for `subject`. Throws.
    py::list explain(PyObject* subject) const {
        const Shared<Table> pinned = table;
        py::list all;
        const auto use = [&](const View& view) {
            all = explain_entries(view, pinned->entries());
            return true;
        };
        const auto held = [&] { return HeldScope(scope_); };
        if (!with_view(pinned->names(), subject, false, held, use))
            throw py::error_already_set();
        return all;
    }

    /// The name of the guarded code. Throws if the code has died.
    py::handle name() const { return scope_.code()->co_qualname; }

    /// Like find, for a call with these arguments (PEP 590). The caller holds them.
    Shared<Entry> find_call(PyObject* const* arguments, size_t count,
                            PyObject* keywords, py::dict* values = nullptr) const {
        const Shared<Table> pinned = table;
        const UserCode user_code;
        const HeldScope held(scope_);
        auto* function = reinterpret_cast<PyFunctionObject*>(held.function.get());
        if (!function) {
            throw py::type_error(
                "a table made for code alone knows no defaults, so no calls: make it "
                "for the function, and keep that");
        }
        if (function->func_code != as_object(held.code.get())) {
            throw py::type_error(
                "the function has other code than the table was made for: make a table "
                "for it as it is now");
        }
        const auto size = static_cast<size_t>(held.code.get()->co_nlocalsplus);
        auto* storage = reinterpret_cast<SlotWord*>(GUARDTREE_ROOM(size));
        ArgumentsView view(function, {storage, size});
        if (!view.bind(arguments, count, keywords)) {
            if (PyErr_Occurred()) throw py::error_already_set();
            refuse_call(function);
        }
        return first_of(*pinned, view, values);
    }

    int traverse(visitproc visit, void* arg) const {
        Py_VISIT(table->object());
        Py_VISIT(otherwise_.get());
        return scope_.traverse(visit, arg);
    }

    void clear() {
        table = Table::empty();
        otherwise_ = Owned<>::share(Py_None);
    }

    Shared<Table> table = Table::empty();

private:
    /// Throws exceptions of guards that must propagate, and if strict mode finds a
    /// difference.
    static Shared<Entry> first_of(const Table& table, const View& view,
                                  py::dict* values) {
        const bool is_judged = is_strict();
        const auto mode =
            values || is_judged ? Lookup::Mode::user_code : Lookup::mode_of(table);
        Lookup lookup(table, view, GUARDTREE_ROOM(Lookup::room(table, view, mode)),
                      mode);
        const Entry* found = lookup.find();
        if (found && values) *values = take_captures(lookup, *found);
        if (PyErr_Occurred()) throw py::error_already_set();
        if (is_judged && !is_right_answer(lookup.view(), table, found))
            throw py::error_already_set();
        return noted(found);
    }

    /// The same, without strict mode, for callers that provide what user code needs.
    static Shared<Entry> first_prepared(const Table& table, const View& view) {
        QuietLookup lookup(table, view, GUARDTREE_ROOM(table.value_count()));
        const Entry* found = lookup.find_apart();
        if (!found && PyErr_Occurred()) throw py::error_already_set();
        return noted(found);
    }

    static Shared<Entry> noted(const Entry* found) noexcept {
        if (!found) return {};
        note_hit(*found);
        return Shared<Entry>(const_cast<Entry*>(found));
    }

    GuardTree scope_;
    Owned<> otherwise_;
};

}  // namespace guardtree

GUARDTREE_BOXED(guardtree::GuardTable, "Table")

namespace guardtree {
namespace {

GuardTable make_table(py::handle scope, py::handle otherwise) {
    return {scope, otherwise};
}

py::dict dict_of_differences(const Table& table) {
    py::dict all;
    for (const Difference& each : differences(table))
        all[each.fact.c_str()] = each.demands;
    return all;
}

PyObject* payload_of(const Shared<Entry>& found, PyObject* otherwise) noexcept {
    return Owned<>::share(found ? found->payload.get() : otherwise).release();
}

/// The same where the entry that `find(values)` returns may have captured values: then
/// the payload and a dict of them.
template <class Find>
PyObject* payload_and_values(PyObject* otherwise, Find find) {
    py::dict values;
    const Shared<Entry> found = find(values);
    if (!found || !found->names) return payload_of(found, otherwise);
    return py::make_tuple(py::handle(found->payload.get()), values).release().ptr();
}

/// Calls `find(table)` without pybind11's call path, and returns a new reference to the
/// result.
template <class Find>
PyObject* ask(PyObject* self, Find find) {
    try {
        const auto& table = Box<GuardTable>::of(self)->value;
        if (!table) refuse_uninitialised();
        return find(*table);
    } catch (...) {
        translate_exception();
        return nullptr;
    }
}

/// METH_FASTCALL: `lookup(subject, default=None)`.
PyObject* look_up(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
    if (count < 1 || count > 2) {
        PyErr_Format(PyExc_TypeError,
                     "lookup() takes a subject and a default, %zd arguments given",
                     count);
        return nullptr;
    }
    return ask(self, [&](const GuardTable& table) {
        PyObject* const otherwise = count > 1 ? arguments[1] : table.otherwise();
        Shared<Entry> found;
        const bool captures = table.captures();
        if (!captures && table.find_quickly(*arguments, found))
            return payload_of(found, otherwise);
        const auto held_self = Owned<>::share(self);
        const auto held_otherwise = Owned<>::share(otherwise);  // payload_of shares it
        if (!captures) return payload_of(table.find(*arguments), otherwise);
        return payload_and_values(otherwise, [&](py::dict& values) {
            return table.find(*arguments, &values);
        });
    });
}

/// METH_FASTCALL | METH_KEYWORDS: `lookup_call(*args, **kwargs)`.
PyObject* look_up_call(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                       PyObject* keywords) {
    const auto all = static_cast<size_t>(count);
    return ask(self, [&](const GuardTable& table) {
        const bool captures = table.captures();
        if (!keywords && !captures && !table.may_run_user_code()) {
            return payload_of(table.find_call(arguments, all, nullptr),
                              table.otherwise());
        }
        const HeldCall held(self, arguments, all, keywords,
                            GUARDTREE_ROOM(HeldCall::room(all, keywords)));
        const auto find = [&](py::dict* values) {
            return table.find_call(held.arguments(), held.count(), held.names(),
                                   values);
        };
        if (!captures) return payload_of(find(nullptr), table.otherwise());
        return payload_and_values(table.otherwise(),
                                  [&](py::dict& values) { return find(&values); });
    });
}

PyMethodDef lookup_method = {
    "lookup", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&look_up)),
    METH_FASTCALL,
    "lookup($self, subject, default=..., /)\n--\n\n"
    "The payload of the first entry, oldest first, whose guards pass. Of an entry with "
    "captures it is a pair: the payload, and a dict of the very values that the guards "
    "checked in this look-up. `default`, or the table's, when there is no entry. "
    "`subject` is a mapping of local names, or the frame given to a "
    "callback. Its cost does not grow with the number of entries where they differ in "
    "types, constants, identities, lengths or sizes."};

PyMethodDef lookup_call_method = {
    "lookup_call",
    reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&look_up_call)),
    METH_FASTCALL | METH_KEYWORDS,
    "lookup_call($self, /, *args, **kwargs)\n--\n\n"
    "As lookup, for a call of the table's function with these arguments: defaults, "
    "*args and **kwargs are bound as Python does, and no dict is made for it. The "
    "table's default when no entry's guards pass. TypeError where the call does not "
    "fit the function."};

/// Why a look-up of `subject` misses, as a CacheExplanation.
py::object explain_lookup(const py::object& self, py::handle subject) {
    const auto& table = initialised<GuardTable>(self);
    const auto name = py::reinterpret_borrow<py::object>(table.name());
    const py::list all = table.explain(subject.ptr());
    return py::module_::import("guardtree.explanations")
        .attr("explanation_of_calls")(name, all, dict_of_differences(*table.table));
}

}  // namespace

void bind_table(py::module_& module) {
    BoxedClass<TableEntryHandle>(module, Made::by_guardtree,
                                 "One (guards, payload) of a Table.")
        .def_property_readonly("payload",
                               [](const TableEntryHandle& self) {
                                   return object_or_none(self.payload());
                               })
        .def_property_readonly("guards",
                               [](const TableEntryHandle& self) {
                                   return object_or_none(self.entry->source.get());
                               })
        .def_property_readonly(
            "hits", [](const TableEntryHandle& self) { return self.entry->hits; })
        .def_property_readonly(
            "errors", [](const TableEntryHandle& self) { return self.entry->errors; },
            "How often a guard raised, which counts as a miss.")
        .def_property_readonly("last_error", [](const TableEntryHandle& self) {
            return object_or_none(self.entry->last_error.get());
        });

    BoxedClass<GuardTable> table(
        module, Made::by_calling,
        "Table(scope, *, default=None)\n--\n\n"
        "Guards with payloads for the calls of one function, looked up without a hook: "
        "Table(function). Entries are tried in the order they were added; the first "
        "whose guards pass is the answer, found without trying all. `default`: what a "
        "look-up returns when there is none.");
    table
        .def_init<&make_table>(py::arg("scope"), py::kw_only(),
                               py::arg("default") = py::none())
        .def(
            "add",
            [](const py::object& self, py::handle guards, py::handle payload,
               py::handle captures) {
                return TableEntryHandle{
                    initialised<GuardTable>(self).add(guards, payload, captures)};
            },
            py::arg("guards"), py::arg("payload"), py::kw_only(),
            py::arg("captures") = py::none(),
            "Adds guards, as they are now, behind all others. `payload`: what lookup "
            "gives for them. `captures`: a dict of names to paths of the guards, whose "
            "values lookup gives with the payload; a path without a check only has to "
            "be there.")
        .def(
            "remove",
            [](const py::object& self, const TableEntryHandle& handle) {
                auto& from = initialised<GuardTable>(self);
                const size_t before = from.table->entries().size();
                from.table = from.table->without(*handle.entry);
                if (from.table->entries().size() == before)
                    throw py::value_error("this entry is not in the table");
            },
            py::arg("entry"), "Takes an entry out.")
        .def(
            "find",
            [](const py::object& self, py::handle subject) -> py::object {
                Shared<Entry> found = initialised<GuardTable>(self).find(subject.ptr());
                if (!found) return py::none();
                return py::cast(TableEntryHandle{std::move(found)});
            },
            py::arg("subject"), "As lookup, but the entry itself, or None.")
        .def("explain", calling<&explain_lookup>, py::arg("subject"),
             "Why a look-up of `subject` would miss: every entry's failed guards.")
        .def("entries",
             [](const py::object& self) {
                 py::list all;
                 for (const auto& each : initialised<GuardTable>(self).table->entries())
                     all.append(TableEntryHandle{each});
                 return all;
             })
        .def("__len__",
             [](const py::object& self) {
                 return initialised<GuardTable>(self).table->entries().size();
             })
        .def(
            "differences",
            [](const py::object& self) {
                return dict_of_differences(*initialised<GuardTable>(self).table);
            },
            "The facts that entries do not agree on, with what each entry demands.");
    add_method(table, lookup_method);
    add_method(table, lookup_call_method);

    define_function(
        module, "differences",
        [](py::handle code) {
            const CodeCache* cache = CodeCache::find(code_of_python(code));
            return cache ? dict_of_differences(*cache->table()) : py::dict();
        },
        py::arg("code"),
        "The facts that the entries of a code (or function) do not agree on, with what "
        "each entry demands, the oldest first: {'x.shape[0]': ['8', '16', '24']}. What "
        "a compiler may generalise.");
}

}  // namespace guardtree
