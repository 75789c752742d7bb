// The operand function_match: reads and compares the parts of functions.
// SPDX-License-Identifier: MIT
#include "function_parts.h"

#include <algorithm>
#include <functional>

#include "held_object.h"

namespace guardtree {

/// The role of a part, and the part. An empty cell has no object.
struct Part {
    enum class Role : uint8_t { code, cell, defaults, keyword, keyword_default };

    Role role = Role::code;
    Identity identity;
    bool is_empty = false;
};

class FunctionRecord {
public:
    Identity function;
    std::vector<Part> parts;
    References references;
};

namespace {

/// Calls `use(role, object or null)` for each part. Stops when `use` returns false.
template <class Use>
bool each_part(PyObject* function, Use use) {
    using enum Part::Role;
    const auto* parts = reinterpret_cast<const PyFunctionObject*>(function);
    if (!use(code, parts->func_code)) return false;
    if (PyObject* cells = parts->func_closure) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(cells); ++i) {
            if (!use(cell, PyCell_GET(PyTuple_GET_ITEM(cells, i)))) return false;
        }
    }
    if (PyObject* values = parts->func_defaults) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(values); ++i) {
            if (!use(defaults, PyTuple_GET_ITEM(values, i))) return false;
        }
    }
    if (!parts->func_kwdefaults) return true;
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (PyDict_Next(parts->func_kwdefaults, &position, &key, &value)) {
        if (!use(keyword, key) || !use(keyword_default, value)) return false;
    }
    return true;
}

uint64_t mixed_with(uint64_t key, Part::Role role, const PyObject* part) noexcept {
    const auto bits = reinterpret_cast<uintptr_t>(part) + static_cast<uintptr_t>(role);
    return (key ^ bits) * 0x100000001B3u;
}

}  // namespace

bool FunctionParts::read(PyObject* from, FunctionParts& to, References& keep,
                         Diagnostic& problem) {
    if (!PyFunction_Check(from)) {
        refuse_operand(problem, expects, from);
        return false;
    }
    auto record = std::make_unique<FunctionRecord>();
    References& held = record->references;
    const auto add = [&](Part::Role role, PyObject* object) {
        Part part{role, {}, object == nullptr};
        if (object && !Identity::read(object, part.identity, held, problem))
            return false;
        record->parts.push_back(part);
        return true;
    };
    if (!Identity::read(from, record->function, held, problem)) return false;
    if (!each_part(from, add)) return false;
    to.record = keep_object(std::move(record), keep, problem);
    return to.record;
}

bool FunctionParts::matches(PyObject* value) const noexcept {
    if (!PyFunction_Check(value)) return false;
    const std::vector<Part>& parts = record->parts;
    size_t i = 0;
    const bool is_same = each_part(value, [&](Part::Role role, PyObject* object) {
        if (i == parts.size()) return false;
        const Part& part = parts[i++];
        if (part.role != role) return false;
        return part.is_empty ? object == nullptr : object && part.identity.is(object);
    });
    return is_same && i == parts.size();
}

uint64_t FunctionParts::key() const noexcept {
    uint64_t key = 1;
    for (const Part& part : record->parts)
        key = mixed_with(key, part.role, part.identity.object);
    return key;
}

uint64_t key_of_function(PyObject* value) noexcept {
    if (!PyFunction_Check(value)) return 0;
    uint64_t key = 1;
    each_part(value, [&](Part::Role role, PyObject* part) {
        key = mixed_with(key, role, part);
        return true;
    });
    return key;
}

bool FunctionParts::is_dead() const noexcept {
    return std::ranges::any_of(
        record->parts, [](const Part& part) { return part.identity.is_dead(); });
}

bool same(FunctionParts a, FunctionParts b) noexcept {
    if (a.record == b.record) return true;
    const auto same_part = [](const Part& x, const Part& y) {
        return x.role == y.role && x.is_empty == y.is_empty &&
               same(x.identity, y.identity);
    };
    return same(a.record->function, b.record->function) &&
           std::ranges::equal(a.record->parts, b.record->parts, same_part);
}

size_t hash_of(FunctionParts a) noexcept {
    return hash_of(a.record->function);
}

std::string text_of(FunctionParts a) {
    return text_of(a.record->function);
}

Owned<> object_of(FunctionParts a) noexcept {
    return object_of(a.record->function);
}

}  // namespace guardtree
