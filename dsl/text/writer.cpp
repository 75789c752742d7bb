// Writes trees as text: conditions in Python, or with the kinds' own names if Python's
// text would be parsed as another guard.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>

#include "../../framelocals/no_memory.h"
#include "../../guards/concepts/inner_kinds.h"
#include "../../guards/objects/constant.h"
#include "../names/names.h"
#include "../names/path_texts.h"

#include "patterns.h"
#include "text.h"

namespace guardtree {
namespace {

std::string listed(const std::vector<std::string>& parts) {
    std::string text;
    for (size_t i = 0; i < parts.size(); ++i) text += (i ? ", " : "") + parts[i];
    return text;
}

/// Text that can be joined with `and`.
std::string as_conjunct(std::string text) {
    TextSyntax syntax;
    TextProblem problem;
    if (!TextSyntax::parse(text, syntax, problem)) return text;
    const Syntax& root = syntax[syntax.root()];
    const bool is_joined = root.kind == SyntaxKind::all || root.kind == SyntaxKind::any;
    return is_joined && !root.is_parenthesised ? "(" + text + ")" : text;
}

std::string word_of(const Op& op) {
    const std::string name(op.info().name);
    return std::string(explicit_word) + "." + (name == "global" ? "global_" : name);
}

/// The parser refuses deeper expressions (TextSyntax).
constexpr size_t max_text_depth = 1000;

/// Ops as text. Objects without a name are given one. Templates come before their use
/// in generic lambdas, because Clang 14 does not find them otherwise.
class OpWriter {
public:
    OpWriter(const TextNames& names, GuardText& to) : names_(names), to_(to) {}

private:
    static bool is_bare(PyObject* name, bool is_variable) {
        if (!is_plain_name(name)) return false;
        return !is_variable || !is_reserved(utf8(name));
    }

    std::string object_text(const Owned<>& object) {
        if (is_singleton(object.get())) return constant_text(object.get());
        ObjectName name;
        if (name_object(object.get(), name) && leads_to(name.text(), object.get()))
            return name.text();
        std::string& given = given_[object.get()];
        if (!given.empty()) return given;
        do {
            given = "_" + std::to_string(next_name_++);
        } while (is_variable(given));
        to_.names.emplace_back(given, Owned<>::share(object.get()));
        return given;
    }

    bool is_variable(const std::string& name) const {
        const Owned<> key = interned_name(name);
        return key && find_slot(names_.scope.code, key.get()) >= 0;
    }

    /// Whether the name leads to this object in the scope, and not to another one.
    bool leads_to(const std::string& name, PyObject* object) const {
        TextSyntax syntax;
        TextProblem problem;
        if (!TextSyntax::parse(name, syntax, problem)) return false;
        const Owned<> found =
            TextValues(syntax, names_).reference(syntax.root(), problem);
        return found.get() == object;
    }

    static std::string tuple_text(const std::vector<std::string>& parts) {
        return "(" + listed(parts) + (parts.size() == 1 ? ",)" : ")");
    }

    /// Writes tensor facts. Classes and dtypes among them are objects.
    std::string facts_text(PyObject* facts) {
        std::string text = "TensorSpec(";
        Py_ssize_t place = 0;
        PyObject* name = nullptr;
        PyObject* fact = nullptr;
        while (PyDict_Next(facts, &place, &name, &fact)) {
            Diagnostic problem;
            const bool is_constant =
                static_cast<bool>(snapshot_constant(fact, problem));
            if (text.back() != '(') text += ", ";
            text += utf8(name) + "=";
            text +=
                is_constant ? constant_text(fact) : object_text(Owned<>::share(fact));
        }
        return text + ")";
    }

    static Owned<> new_object() {
        auto made =
            Owned<>::steal(PyObject_CallNoArgs(as_object(&PyBaseObject_Type)));
        if (!made) drop_exception();
        return made;
    }

    template <class T>
    std::string reference_of(const T& operand) {
        if constexpr (requires { operand.is_dead(); }) {
            // A new object, which no value is identical with, stands for an object that
            // has died.
            if (operand.is_dead()) {
                Owned<>& stand_in = stand_ins_[&operand];
                if (!stand_in) stand_in = new_object();
                return object_text(stand_in);
            }
        }
        return object_text(object_of(operand));
    }

    /// A constant that is too long for text is given a name, like an object.
    template <class T>
    std::string constant_or_name(const T& operand) {
        if (is_too_long_for_text(operand.value))
            return object_text(Owned<>::share(operand.value));
        return text_of(operand);
    }

    template <class T>
    std::string operand_text(const T& operand, const std::string& value) {
        constexpr OperandForm form = form_of<T>;
        if constexpr (form == OperandForm::kinds) {
            std::string text;
            for (const Op& inner : operand.ops()) {
                text +=
                    (text.empty() ? "(" : " or ") + as_conjunct(natural(inner, value));
            }
            return text.empty() ? "False" : text + ")";
        } else if constexpr (std::same_as<T, TensorOperand>) {
            return facts_text(operand.spec->facts);
        } else if constexpr (std::same_as<T, Key>) {
            if (contains_nan(operand.value)) return object_text(object_of(operand));
            return constant_or_name(operand);
        } else if constexpr (requires {
                                 { operand.value } -> std::convertible_to<PyObject*>;
                             } && form == OperandForm::constant) {
            return constant_or_name(operand);
        } else if constexpr (form == OperandForm::constant ||
                             form == OperandForm::name) {
            return text_of(operand);
        } else {
            return reference_of(operand);
        }
    }

    template <class T>
    std::string call_operand(const T& operand) {
        if constexpr (std::same_as<T, Name>) {
            return constant_text(operand.value);
        } else if constexpr (form_of<T> == OperandForm::kinds) {
            std::vector<std::string> kinds;
            for (const Op& inner : operand.ops()) kinds.push_back(inner_call(inner));
            if constexpr (std::same_as<T, InnerKind>) return kinds[0];
            return tuple_text(kinds);
        } else {
            return operand_text(operand, {});
        }
    }

    std::vector<std::string> call_operands(const Op& op) {
        std::vector<std::string> texts;
        dispatch(op, [&](const auto& concrete) {
            std::apply(
                [&](const auto&... each) {
                    (texts.push_back(call_operand(concrete.*each.member)), ...);
                },
                concrete.operands());
        });
        return texts;
    }

    std::string inner_call(const Op& inner) {
        std::vector<std::string> parts = call_operands(inner);
        parts.insert(parts.begin(), "'" + std::string(inner.info().name) + "'");
        return tuple_text(parts);
    }

public:
    /// The Python text of the op's own file.
    std::string natural(const Op& op, const std::string& value) {
        return dispatch(op, [&](const auto& concrete) -> std::string {
            using T = std::remove_cvref_t<decltype(concrete)>;
            std::string_view pattern = T::info.python;
            WordTexts words = {{"value", value}};
            const auto add = [&](const auto& each) {
                const auto& operand = concrete.*each.member;
                words.emplace_back(each.name, operand_text(operand, value));
                if constexpr (std::same_as<std::remove_cvref_t<decltype(operand)>,
                                           Name>) {
                    if (is_bare(operand.value, pattern == "name")) return;
                    words.back().second = constant_text(operand.value);
                    pattern = pattern == "name" ? "L[name]" : "getattr(value, name)";
                }
            };
            std::apply([&](const auto&... each) { (add(each), ...); }, T::operands());
            return fill_words(pattern, words);
        });
    }

    /// guard.length(x, 3)
    std::string by_name(const Op& op, std::vector<std::string> values) {
        const std::vector<std::string> operands = call_operands(op);
        // The values of a relation come last, because their number varies.
        const auto place = op.is_relation() ? values.begin() : values.end();
        values.insert(place, operands.begin(), operands.end());
        return word_of(op) + "(" + listed(values) + ")";
    }

private:
    const TextNames& names_;
    GuardText& to_;
    size_t next_name_ = 0;
    std::map<PyObject*, std::string> given_;    ///< given names of objects
    std::map<const void*, Owned<>> stand_ins_;  ///< objects for operands that have died
};

class TextWriter {
public:
    TextWriter(const Tree& tree, const Scope& scope)
        : tree_(tree),
          names_{scope, nullptr},
          ops_(names_, made_),
          order_(preorder_of(tree)),
          paths_(tree),
          given_(Owned<>::steal(PyDict_New())) {
        if (!given_) drop_exception();
    }

    GuardText run() {
        if (!find_steps()) return std::move(made_);
        // The relations create the nodes that only they use, unless that changes the
        // order.
        for (const bool says_all : {false, true}) {
            write(claims(says_all));
            if (reads_as_tree()) return std::move(made_);
        }
        std::vector<Claim> all = claims(true);
        const PathTexts by_steps = explicit_paths();
        for (Claim& claim : all) {
            if (reads_alone(claim)) continue;
            claim.text = by_name(claim, paths_);
            if (!reads_alone(claim)) claim.text = by_name(claim, by_steps);
        }
        write(all);
        Tree read;
        Diagnostic problem;
        if (!parse(made_.text, read, problem))
            refuse(problem.message.substr(0, problem.message.find('\n')));
        return std::move(made_);
    }

private:
    /// The text of a guard, and its id.
    struct Claim {
        std::string text;
        NodeId node = 0;
        CheckId check = no_id;
        CheckId relation = no_id;
    };

    void write(const std::vector<Claim>& all) {
        made_.text.clear();
        for (const Claim& claim : all) {
            made_.text += (made_.text.empty() ? "" : " and ") + claim.text;
        }
        if (all.empty()) made_.text = "True";
    }

    void refuse(const std::string& reason) {
        made_ = {};
        made_.refusal = "these guards have no text that can be read back: " + reason +
                        "; use to_json()";
    }

    /// The Python text of all steps, parents first.
    bool find_steps() {
        is_related_.assign(tree_.node_count(), false);
        std::vector<size_t> depth(tree_.node_count());
        for (const NodeId id : std::span(order_).subspan(1)) {
            const Node& node = tree_.node(id);
            depth[id] = depth[node.parent] + 1;
            if (depth[id] > max_text_depth) {
                refuse("a path has more than " + std::to_string(max_text_depth) +
                       " steps");
                return false;
            }
            paths_.add(id, [&](const Op& step, const std::string& value) {
                return ops_.natural(step, value);
            });
        }
        for (const RelationCheck& relation : tree_.relations()) {
            for (const NodeId node : relation.nodes) is_related_[node] = true;
        }
        return true;
    }

    /// The children, the last one first.
    std::vector<NodeId> children_of(NodeId id) const {
        std::vector<NodeId> children;
        tree_.each_child(id, [&](NodeId child) { children.push_back(child); });
        std::ranges::reverse(children);
        return children;
    }

    /// The conditions in order. Values that only relations use get a condition of their
    /// own only if `says_all`.
    std::vector<Claim> claims(bool says_all) {
        std::vector<Claim> made;
        for (const NodeId id : std::span(order_).subspan(1)) {
            const Node& node = tree_.node(id);
            const bool is_bare = node.last_child == no_id && node.last_check == no_id;
            if (is_bare && (says_all || !is_related_[id]))
                made.push_back({.text = presence(paths_[id]), .node = id});
            PyObject* exact_type = nullptr;
            tree_.each_check(id, [&](CheckId check) {
                made.push_back({.text = kind_text(id, check, exact_type),
                                .node = id,
                                .check = check});
            });
        }
        for (CheckId id = 0; id < tree_.relations().size(); ++id) {
            const RelationCheck& relation = tree_.relations()[id];
            made.push_back({.text = as_conjunct(relation_text(
                                relation.relation, paths_of(relation, paths_))),
                            .relation = id});
        }
        return made;
    }

    /// guard.length(x, 3), with paths written in one of the two forms.
    std::string by_name(const Claim& claim, const PathTexts& paths) {
        if (claim.relation != no_id) {
            const RelationCheck& relation = tree_.relations()[claim.relation];
            return ops_.by_name(relation.relation, paths_of(relation, paths));
        }
        if (claim.check == no_id) return presence(paths[claim.node]);
        return ops_.by_name(tree_.check_at(claim.check).kind, {paths[claim.node]});
    }

    /// All paths, written with the steps' own names.
    PathTexts explicit_paths() {
        PathTexts paths(tree_);
        for (const NodeId id : std::span(order_).subspan(1)) {
            paths.add(id, [&](const Op& step, std::string value) {
                std::vector<std::string> values;
                if (!is_root_step(step)) values.push_back(std::move(value));
                return ops_.by_name(step, std::move(values));
            });
        }
        return paths;
    }

    static std::string presence(const std::string& path) {
        return std::string(explicit_word) + ".present(" + path + ")";
    }

    static std::vector<std::string> paths_of(const RelationCheck& relation,
                                             const PathTexts& paths) {
        std::vector<std::string> found;
        for (const NodeId node : relation.nodes) found.push_back(paths[node]);
        return found;
    }

    /// Writes `x == 3` if a condition on the type comes before it. Python's == is then
    /// exact.
    std::string kind_text(NodeId id, CheckId check, PyObject*& exact_type) {
        const Op& kind = tree_.check_at(check).kind;
        const std::string& path = paths_[id];
        if (kind.code() == code_of<TypeMatch>)
            exact_type = kind.as<TypeMatch>().expected.object;
        if (kind.code() == code_of<Equals>) {
            PyObject* constant = kind.as<Equals>().expected.value;
            const bool is_simple = PyLong_CheckExact(constant) ||
                                   PyUnicode_CheckExact(constant) ||
                                   PyBytes_CheckExact(constant);
            if (is_simple && exact_type == as_object(Py_TYPE(constant)))
                return path + " == " + constant_text(constant);
        }
        return as_conjunct(ops_.natural(kind, path));
    }

    bool parse(const std::string& text, Tree& to, Diagnostic& problem) {
        for (; given_count_ < made_.names.size(); ++given_count_) {
            const auto& [name, object] = made_.names[given_count_];
            if (!given_ ||
                PyDict_SetItemString(given_.get(), name.c_str(), object.get()))
                drop_exception();
        }
        const TextNames names{names_.scope, given_.get()};
        return parse_guards(text, names, to, problem);
    }

    bool reads_as_tree() {
        Tree read;
        Diagnostic problem;
        return parse(made_.text, read, problem) && same_tree(tree_, read);
    }

    /// Whether the condition, parsed alone, is the same guard.
    bool reads_alone(const Claim& claim) {
        Tree expected;
        Diagnostic problem;
        if (claim.relation != no_id) {
            const RelationCheck& relation = tree_.relations()[claim.relation];
            std::vector<NodeId> nodes;
            for (const NodeId node : relation.nodes) {
                nodes.push_back(copy_path(node, expected));
            }
            expected.relate(relation.relation, nodes, problem);
        } else {
            const NodeId node = copy_path(claim.node, expected);
            if (claim.check != no_id)
                expected.check(node, tree_.check_at(claim.check).kind, problem);
        }
        Tree read;
        return parse(claim.text, read, problem) && same_tree(expected, read);
    }

    NodeId copy_path(NodeId id, Tree& to) const {
        std::vector<NodeId> path;
        for (; id != 0; id = tree_.node(id).parent) path.push_back(id);
        NodeId at = 0;
        Diagnostic problem;
        for (size_t i = path.size(); i-- > 0;) {
            to.child(at, tree_.node(path[i]).step, at, problem);
        }
        return at;
    }

    const Tree& tree_;
    TextNames names_;
    GuardText made_;
    OpWriter ops_;
    std::vector<NodeId> order_;
    PathTexts paths_;
    Owned<> given_;  ///< names of objects in the text, so far
    size_t given_count_ = 0;
    std::vector<bool> is_related_;
};

}  // namespace

GuardText text_of(const Tree& tree, const Scope& scope) {
    return TextWriter(tree, scope).run();
}

}  // namespace guardtree
