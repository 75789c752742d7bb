// Reads captures, creates entries, and converts their values for Python.
// SPDX-License-Identifier: MIT
#include "entries.h"

#include "../framehook/replacement.h"

#include "bindings.h"
#include "guard_manager.h"
#include "strict.h"

namespace guardtree {
namespace {

[[noreturn]] void refuse_path(PyObject* exception, const std::string& place,
                              PyObject* found) {
    throw_diagnostic({exception, place +
                                     ": expected a path of these guards, such as "
                                     "guards.local('x'), found " +
                                     found_text(found)});
}

/// TypeError: what `argument` is to be, what it is.
[[noreturn]] void refuse_paths(const char* argument, const char* expected,
                               py::handle found) {
    Diagnostic problem;
    refuse_operand(problem, expected, found.ptr());
    problem.message = std::string(argument) + ": " + problem.message;
    throw_diagnostic(problem);
}

/// The node of one of the paths; `place()` is what messages call it.
template <class Place>
NodeId node_of(py::handle path, py::handle guards, Place place) {
    if (!GuardManager::is_instance(path))
        refuse_path(PyExc_TypeError, place(), path.ptr());
    const GuardManager& handle = GuardManager::of(path);
    if (&handle.tree() != &GuardManager::of(guards).tree() || handle.node() == 0)
        refuse_path(PyExc_ValueError, place(), path.ptr());
    return handle.node();
}

NodeId node_of_name(py::handle name, py::handle path, py::handle guards) {
    if (!PyUnicode_CheckExact(name.ptr()))
        refuse_paths("captures", "a str for each name", name);
    return node_of(path, guards,
                   [&] { return "captures[" + short_repr(name.ptr()) + "]"; });
}

Captures read_dict(py::handle given, py::handle guards) {
    Captures read;
    const py::dict copy = py::reinterpret_steal<py::dict>(PyDict_Copy(given.ptr()));
    if (!copy) throw py::error_already_set();
    for (const auto& [name, path] : copy)
        read.nodes.push_back(node_of_name(name, path, guards));
    if (read.nodes.empty()) return read;
    read.names = Owned<>::steal(PySequence_Tuple(copy.ptr()));
    if (!read.names) throw py::error_already_set();
    return read;
}

}  // namespace

Captures read_named_captures(py::handle given, py::handle guards) {
    if (given.is_none()) return {};
    if (!PyDict_Check(given.ptr()))
        refuse_paths("captures", "a dict of names to paths of the guards", given);
    return read_dict(given, guards);
}

Captures read_captures(py::handle given, py::handle guards) {
    Captures read;
    if (given.is_none()) return read;
    if (PyDict_Check(given.ptr())) return read_dict(given, guards);
    if (!PyList_Check(given.ptr()) && !PyTuple_Check(given.ptr())) {
        refuse_paths("captures",
                     "a dict of names to paths of the guards, or a list or tuple of "
                     "paths",
                     given);
    }
    const auto paths =
        py::reinterpret_steal<py::tuple>(PySequence_Tuple(given.ptr()));
    if (!paths) throw py::error_already_set();
    for (const py::handle path : paths) {
        read.nodes.push_back(node_of(path, guards, [&] {
            return "captures[" + std::to_string(read.nodes.size()) + "]";
        }));
    }
    if (!read.nodes.empty()) return read;
    throw py::value_error(
        "captures: expected one path at least, found none. To call the target without "
        "arguments give a callable that drops them");
}

std::vector<uint16_t> capture_slots(const Captures& captures, PyCodeObject* code) {
    std::vector<uint16_t> slots;
    const std::string problem = captures_problem(code, captures.names.get(), slots);
    if (problem.empty()) return slots;
    throw py::value_error(
        "captures: expected names of local variables of the code, which it finds bound "
        "when it starts; " +
        problem);
}

Shared<Entry> make_entry(const Tree& tree, PyCodeObject* code, Owned<> payload,
                         Owned<> source, const Captures& captures) {
    Tree room;
    Program program;
    Diagnostic problem;
    const Tree* guards = demanding(tree, captures.nodes, room, problem);
    if (!guards ||
        !Program::compile(*guards, code, program, problem, nullptr, captures.nodes)) {
        throw_diagnostic(problem);
    }
    auto entry = make_shared_counted<Entry>(std::move(program), std::move(payload),
                                            std::move(source));
    entry->meaning = meaning_of(*guards, code);
    entry->names = captures.names;
    return entry;
}

py::dict take_captures(Lookup& lookup, const Entry& entry) {
    if (!lookup.has_values()) return py::dict();
    const size_t count = lookup.value_count();
    PyObject** const words = GUARDTREE_ROOM(count);
    lookup.take(words);
    References taken;
    for (size_t i = 0; i < count; ++i) taken.push_back(Owned<>::steal(words[i]));
    py::dict named;
    for (size_t i = 0; i < count; ++i) {
        PyObject* name =
            PyTuple_GET_ITEM(entry.names.get(), static_cast<Py_ssize_t>(i));
        if (PyDict_SetItem(named.ptr(), name, taken[i].get()) < 0)
            throw py::error_already_set();
    }
    return named;
}

}  // namespace guardtree
