// Reads guard trees from untrusted JSON.
// SPDX-License-Identifier: MIT
//
// CPython's `json` parses the text. The code here validates every part of the result.
// The new tree is built separately from the tree that it replaces.
#include "reader.h"

#include <string>
#include <vector>

#include "../../framelocals/exception.h"
#include "../../framelocals/no_memory.h"
#include "../../guards/objects/constant.h"
#include "../../guards/ops/named_op.h"

#include "operands.h"
#include "writer.h"

namespace guardtree {
namespace {

using At = JsonProgress::At;

/// Why a text must not be passed to `json`, which recurses and takes quadratic time for
/// ints. Empty if it can.
std::string excess_of(std::string_view text, size_t deepest) {
    constexpr size_t max_digits = 400;
    size_t depth = 0;
    size_t digits = 0;
    bool is_in_string = false;
    for (size_t i = 0; i < text.size(); ++i) {
        const char each = text[i];
        if (is_in_string) {
            if (each == '\\') ++i;
            if (each == '"') is_in_string = false;
            continue;
        }
        digits = each >= '0' && each <= '9' ? digits + 1 : 0;
        if (each == '"') is_in_string = true;
        if (each == '[' || each == '{') ++depth;
        if ((each == ']' || each == '}') && depth > 0) --depth;
        if (depth > deepest)
            return "lists and objects nest deeper than " + std::to_string(deepest);
        if (digits > max_digits) {
            return "a number has more than " + std::to_string(max_digits) +
                   " digits; large ints are written {\"int\": \"0x...\"}";
        }
    }
    return {};
}

/// Converts an object's members to a dict, and refuses duplicate keys. `json` would
/// keep the last one.
PyObject* dict_of_pairs(PyObject*, PyObject* pairs) noexcept {
    auto made = Owned<>::steal(PyDict_New());
    for (Py_ssize_t i = 0; made && i < PyList_GET_SIZE(pairs); ++i) {
        PyObject* pair = PyList_GET_ITEM(pairs, i);
        PyObject* key = PyTuple_GET_ITEM(pair, 0);
        if (PyDict_SetItem(made.get(), key, PyTuple_GET_ITEM(pair, 1)) < 0)
            return nullptr;
        if (PyDict_GET_SIZE(made.get()) == i) {
            const std::string text =
                "the key " + short_repr(key) + " is twice in an object";
            PyErr_SetString(PyExc_ValueError, text.c_str());
            return nullptr;
        }
    }
    return made.release();
}

PyMethodDef dict_of_pairs_method = {"dict_of_pairs", &dict_of_pairs, METH_O, nullptr};

/// The result of `json` for a text. Null with an exception set.
Owned<> parsed(std::string_view text) {
    const auto json = Owned<>::steal(PyImport_ImportModule("json"));
    const auto string = Owned<>::steal(PyUnicode_DecodeUTF8(
        text.data(), static_cast<Py_ssize_t>(text.size()), nullptr));
    const auto hook = Owned<>::steal(PyCFunction_New(&dict_of_pairs_method, nullptr));
    const auto keywords = Owned<>::steal(Py_BuildValue("(s)", "object_pairs_hook"));
    if (!json || !string || !hook || !keywords) return {};
    const Owned<> loads = attribute_of(json.get(), "loads");
    if (!loads) return {};
    PyObject* const arguments[] = {string.get(), hook.get()};
    return Owned<>::steal(
        PyObject_Vectorcall(loads.get(), arguments, 1, keywords.get()));
}

class TreeReader {
public:
    TreeReader(const JsonReading& reading, Diagnostic& problem)
        : progress_(reading, problem), operands_(progress_) {}

    bool run(std::string_view text, Tree& to) {
        const Owned<> root = parse(text);
        if (!root || !read_version(root.get())) return false;
        if (!demand_json_keys(progress_, root.get(),
                              {"guardtree", "nodes", "relations"})) {
            return false;
        }
        if (!read_nodes(json_member(root.get(), "nodes"))) return false;
        if (!read_relations(json_member(root.get(), "relations"))) return false;
        to = std::move(made_);
        return true;
    }

    Owned<> take_raised() { return std::move(progress_.raised); }

private:
    const JsonReading& reading() const noexcept { return progress_.reading; }

    Owned<> parse(std::string_view text) {
        const JsonLimits& limits = reading().limits;
        if (text.size() > limits.bytes) {
            progress_.refuse("the text is longer than " + std::to_string(limits.bytes) +
                             " bytes");
            return {};
        }
        // A constant in a dict is nested three brackets deeper, and so is a kind in
        // any_of, which itself allows a depth of 32.
        const std::string excess = excess_of(text, size_t{limits.depth} * 3 + 128);
        if (!excess.empty()) {
            progress_.refuse("not JSON that is read here: " + excess);
            return {};
        }
        Owned<> root = parsed(text);
        if (!root) progress_.refuse_raised("not JSON");
        return root;
    }

    /// Checked before all other keys, because another version may have different keys.
    bool read_version(PyObject* root) {
        PyObject* version =
            PyDict_CheckExact(root) ? json_member(root, "guardtree") : nullptr;
        if (!version) {
            return progress_.refuse(
                "this is no guard tree: expected an object with the key \"guardtree\"");
        }
        int overflow = 0;
        if (PyLong_CheckExact(version) &&
            PyLong_AsLongLongAndOverflow(version, &overflow) == json_version) {
            return true;
        }
        return progress_.refuse("version " + short_repr(version) +
                                " is not read; this guardtree reads version " +
                                std::to_string(json_version));
    }

    bool read_nodes(PyObject* list) {
        const At at(progress_, "nodes");
        if (!PyList_CheckExact(list)) return progress_.refuse_found("a list", list);
        const size_t most = reading().limits.nodes;
        if (static_cast<size_t>(PyList_GET_SIZE(list)) > most) {
            return progress_.refuse("there are more than " + std::to_string(most));
        }
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
            const At each(progress_, "", i);
            if (!read_node(PyList_GET_ITEM(list, i))) return false;
        }
        return true;
    }

    bool read_node(PyObject* node) {
        if (!demand_json_keys(progress_, node,
                              {"checks", "operands", "parent", "step"})) {
            return false;
        }
        NodeId parent = 0;
        Op step;
        if (!read_place(json_member(node, "parent"), ".parent", true, parent) ||
            !read_op(node, "step", step) || !demand_variable(step)) {
            return false;
        }
        NodeId id = 0;
        const size_t before = made_.node_count();
        if (!made_.child(parent, step, id, progress_.problem)) {
            return progress_.refuse_problem();
        }
        // Otherwise its checks would be compared with existing ones.
        if (made_.node_count() == before)
            return progress_.refuse("this path is that of an earlier node");
        places_.push_back(id);
        return read_checks(id, json_member(node, "checks"));
    }

    bool read_checks(NodeId node, PyObject* list) {
        const At at(progress_, ".checks");
        if (!PyList_CheckExact(list)) return progress_.refuse_found("a list", list);
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
            const At each(progress_, "", i);
            PyObject* check = PyList_GET_ITEM(list, i);
            const uint64_t before = progress_.spent();
            Op kind;
            Owned<> note;
            if (!demand_json_keys(progress_, check, {"kind", "operands"}, true) ||
                !read_op(check, "kind", kind) || !read_note(check, note)) {
                return false;
            }
            const uint64_t size = progress_.spent() - before + 1;
            if (!progress_.spend(size * static_cast<uint64_t>(i))) return false;
            CheckId id = 0;
            if (!made_.check(node, kind, progress_.problem, &id)) {
                return progress_.refuse_problem();
            }
            if (note) made_.annotate_check(id, std::move(note));
        }
        return true;
    }

    bool read_relations(PyObject* list) {
        const At at(progress_, "relations");
        if (!PyList_CheckExact(list)) return progress_.refuse_found("a list", list);
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
            const At each(progress_, "", i);
            if (!read_relation(PyList_GET_ITEM(list, i))) return false;
        }
        return true;
    }

    bool read_relation(PyObject* relation) {
        Op op;
        Owned<> note;
        std::vector<NodeId> values;
        if (!demand_json_keys(progress_, relation, {"operands", "relation", "values"},
                              true) ||
            !read_op(relation, "relation", op) || !read_note(relation, note) ||
            !read_values(json_member(relation, "values"), values)) {
            return false;
        }
        CheckId id = 0;
        if (!made_.relate(op, values, progress_.problem, &id)) {
            return progress_.refuse_problem();
        }
        if (note) made_.annotate_relation(id, std::move(note));
        return true;
    }

    bool read_values(PyObject* list, std::vector<NodeId>& to) {
        const At at(progress_, ".values");
        if (!PyList_CheckExact(list)) return progress_.refuse_found("a list", list);
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
            const At each(progress_, "", i);
            NodeId node = 0;
            if (!read_place(PyList_GET_ITEM(list, i), "", false, node)) return false;
            to.push_back(node);
        }
        return true;
    }

    /// The node with this number, among those before the current one.
    bool read_place(PyObject* number, const char* where, bool may_be_root, NodeId& to) {
        const At at(progress_, where);
        int overflow = 0;
        const long long place = PyLong_CheckExact(number)
                                    ? PyLong_AsLongLongAndOverflow(number, &overflow)
                                    : -2;
        if (overflow == 0 && may_be_root && place == -1) {
            to = 0;
            return true;
        }
        if (overflow == 0 && place >= 0 && place < std::ssize(places_)) {
            to = places_[static_cast<size_t>(place)];
            return true;
        }
        return progress_.refuse_found(may_be_root
                                          ? "-1 or the number of an earlier node"
                                          : "the number of a node",
                                      number);
    }

    /// `role`: the key of the op's name: "step", "kind" or "relation".
    bool read_op(PyObject* entry, const char* role, Op& to) {
        const std::string_view wanted = role;
        PyObject* name = json_member(entry, role);
        OpCode code{};
        const bool is_known = PyUnicode_CheckExact(name) && find_op(utf8(name), code) &&
                              (wanted == "step"   ? is_step(code)
                               : wanted == "kind" ? is_kind(code)
                                                  : is_relation(code));
        if (!is_known) {
            return progress_.refuse("there is no " + std::string(wanted) + " called " +
                                    short_repr(name));
        }
        if (calls_what_it_finds(code) && !reading().allow_calls) {
            return progress_.refuse(
                std::string(info_of(code).name) +
                " calls what it finds, and the text would choose what that is; read it "
                "with allow_calls where you trust the text");
        }
        std::vector<Owned<>> owned;
        if (!operands_.read(code, json_member(entry, "operands"), owned)) return false;
        std::vector<PyObject*> objects;
        for (const Owned<>& each : owned) objects.push_back(each.get());
        return make_op(code, objects, to, made_.references(), progress_.problem) ||
               progress_.refuse_problem();
    }

    bool read_note(PyObject* entry, Owned<>& to) {
        PyObject* note = json_member(entry, "note");
        const At at(progress_, ".note");
        if (note) to = operands_.text(note);
        return !note || to;
    }

    /// Refuses a variable that the code does not have at once, as GuardManager does.
    bool demand_variable(const Op& step) {
        if (!reading().code) return true;
        return dispatch(step, [&](auto concrete) {
            if constexpr (BindsToCode<decltype(concrete)>) {
                std::string text;
                if (!concrete.bind(reading().code, text)) {
                    progress_.problem = {PyExc_NameError, text};
                    return progress_.refuse_problem();
                }
            }
            return true;
        });
    }

    JsonProgress progress_;
    JsonOperandReader operands_;
    Tree made_;
    std::vector<NodeId> places_;  ///< the id in made_ of each node of the text
};

}  // namespace

bool JsonProgress::refuse(const std::string& text) {
    problem = {PyExc_ValueError, where_.empty() ? text : where_ + ": " + text};
    return false;
}

bool JsonProgress::refuse_found(const std::string& expected, PyObject* found) {
    const bool is_object = PyDict_CheckExact(found);
    const std::string text = is_object || PyList_CheckExact(found)
                                 ? (is_object ? "an object" : "a list")
                                 : short_repr(found);
    return refuse("expected " + expected + ", found " + text);
}

bool JsonProgress::refuse_problem() {
    // Any other error of an operand means for the reader that the text is wrong.
    const bool is_kept =
        problem.exception == PyExc_NameError || problem.exception == PyExc_MemoryError;
    PyObject* exception = is_kept ? problem.exception : PyExc_ValueError;
    problem = {exception, where_ + ": " + problem.message};
    return false;
}

bool JsonProgress::refuse_raised(const std::string& what) {
    if (must_propagate()) return keep_raised();
    const Owned<> exception = take_exception();
    const auto text = Owned<>::steal(PyObject_Str(exception.get()));
    if (!text) drop_exception();
    return refuse(what + ": " + utf8(text.get()));
}

bool JsonProgress::keep_raised() {
    raised = take_exception();
    problem = {};
    return false;
}

bool JsonProgress::spend(uint64_t cost) {
    spent_ += cost;
    if (spent_ <= reading.limits.comparisons) return true;
    return refuse(
        "the checks of a node, or the keys of a dict or set, are too many to compare "
        "with each other");
}

bool demand_json_keys(JsonProgress& progress, PyObject* object,
                      std::initializer_list<const char*> keys, bool may_have_note) {
    if (!PyDict_CheckExact(object)) return progress.refuse_found("an object", object);
    std::string known;
    for (const char* key : keys) {
        if (!json_member(object, key)) {
            return progress.refuse("the key \"" + std::string(key) + "\" is missing");
        }
        known += std::string(known.empty() ? "" : ", ") + key;
    }
    const bool has_note = may_have_note && json_member(object, "note");
    const size_t allowed = keys.size() + (has_note ? 1 : 0);
    if (static_cast<size_t>(PyDict_GET_SIZE(object)) == allowed) return true;
    return progress.refuse("expected no other keys than " + known +
                           (may_have_note ? ", note" : ""));
}

bool from_json(std::string_view text, const JsonReading& reading, Tree& to,
               Diagnostic& problem) {
    Owned<> raised;
    bool is_read = false;
    problem = {};
    {
        const ExceptionPause pause;
        TreeReader reader(reading, problem);
        is_read = reader.run(text, to);
        raised = reader.take_raised();
    }
    if (raised) raise_taken(std::move(raised));
    return is_read;
}

}  // namespace guardtree
