// Finding what guards of one value say of each other.
// SPDX-License-Identifier: MIT
#include "simplify.h"

#include "../../framelocals/no_memory.h"

#include <algorithm>
#include <map>
#include <set>

#include "../objects/constant.h"

namespace guardtree {
namespace {

enum class Relationship : uint8_t { none, implied, excluded };

/// The one object that equals what passes, for kinds that are about a constant.
PyObject* constant_of(const Op& kind) noexcept {
    return dispatch(kind, []<class T>(const T& concrete) -> PyObject* {
        if constexpr (HasOnlyConstant<T>) return concrete.only_constant();
        return nullptr;
    });
}

PyTypeObject* living_exact_type_of(const Op& kind) {
    return is_alive(kind) ? exact_type_of(kind) : nullptr;
}

/// See Info::is_by_value; a kind of kinds is when all of them are.
bool is_by_value(const Op& kind) {
    const std::span<const Op> inner = inner_kinds_of(kind);
    return inner.empty() ? kind.info().is_by_value
                         : std::ranges::all_of(inner, is_by_value);
}

bool runs_user_code(const Op& kind) {
    return kind.info().calls_python && !is_by_value(kind);
}

/// What a check by value says of a constant; false as long as it is by value.
bool passes(const Op& kind, PyObject* constant) {
    return dispatch(kind, [&](const auto& concrete) {
        using T = std::remove_cvref_t<decltype(concrete)>;
        if constexpr (GuardKind<T>) {
            const auto answer = concrete.check(constant);
            if constexpr (std::same_as<decltype(answer), const Verdict>) {
                if (answer == Verdict::error) drop_exception();
                return answer == Verdict::pass;
            } else {
                return answer;
            }
        } else {
            return false;
        }
    });
}

/// A type whose MRO nobody changes.
bool is_immutable(PyTypeObject* type) noexcept {
    return PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE);
}

bool has_in_mro(PyTypeObject* type, PyObject* base) noexcept {
    PyObject* mro = type->tp_mro;
    for (Py_ssize_t i = 0; mro && i < PyTuple_GET_SIZE(mro); ++i) {
        if (PyTuple_GET_ITEM(mro, i) == base) return true;
    }
    return false;
}

Relationship yes_or_no(bool is_implied) noexcept {
    return is_implied ? Relationship::implied : Relationship::excluded;
}

/// What the exact type of a value says of a check of it.
Relationship by_type(PyTypeObject* type, const Op& kind) {
    if (kind.code() == code_of<TypeMatch>)
        return yes_or_no(kind.as<TypeMatch>().expected.object == as_object(type));
    if (kind.code() == code_of<InstanceOf>) {
        if (!is_immutable(type)) return Relationship::none;
        return yes_or_no(has_in_mro(type, kind.as<InstanceOf>().expected.object));
    }
    if (kind.code() == code_of<IsNotNone>) return yes_or_no(type != Py_TYPE(Py_None));
    PyTypeObject* wanted = living_exact_type_of(kind);
    return wanted && wanted != type ? Relationship::excluded : Relationship::none;
}

/// Every fact of `less` is one of `more`; a shape has its rank.
bool has_all_facts(PyObject* more, PyObject* less) {
    const auto rank = Owned<>::steal(PyUnicode_InternFromString("ndim"));
    const auto shape = Owned<>::steal(PyUnicode_InternFromString("shape"));
    if (!rank || !shape) {
        drop_exception();
        return false;
    }
    Py_ssize_t place = 0;
    PyObject* name = nullptr;
    PyObject* fact = nullptr;
    while (PyDict_Next(less, &place, &name, &fact)) {
        PyObject* other = PyDict_GetItemWithError(more, name);
        if (other && (other == fact || same_constant(other, fact))) continue;
        PyObject* sizes = PyDict_GetItemWithError(more, shape.get());
        const bool is_rank = PyUnicode_Compare(name, rank.get()) == 0;
        if (!is_rank || !sizes || !PyTuple_CheckExact(sizes) ||
            PyLong_AsSsize_t(fact) != PyTuple_GET_SIZE(sizes)) {
            return false;
        }
    }
    return true;
}

/// What one check of a value that has passed says of another.
Relationship said_by(const Op& first, const Op& kind) {
    if (!is_alive(first) || !is_alive(kind)) return Relationship::none;
    PyObject* constant = constant_of(first);
    if (constant && is_by_value(kind)) return yes_or_no(passes(kind, constant));
    if (PyTypeObject* type = living_exact_type_of(first)) {
        const Relationship said = by_type(type, kind);
        if (said != Relationship::none) return said;
    }
    if (first.code() != kind.code()) return Relationship::none;
    if (kind.code() == code_of<Length>) return Relationship::excluded;
    if (kind.code() == code_of<TensorMatch> &&
        has_all_facts(first.as<TensorMatch>().spec.spec->facts,
                      kind.as<TensorMatch>().spec.spec->facts)) {
        return Relationship::implied;
    }
    if (kind.code() == code_of<IntRange>) {
        const auto& a = first.as<IntRange>();
        const auto& b = kind.as<IntRange>();
        if (a.low.value > b.high.value || b.low.value > a.high.value)
            return Relationship::excluded;
        if (a.low.value >= b.low.value && a.high.value <= b.high.value)
            return Relationship::implied;
    }
    return Relationship::none;
}

class Simplifier {
public:
    Simplifier(const Tree& tree, Simplification& found) : tree_(tree), found_(found) {}

    Tree run() {
        made_.references() = tree_.references();
        place_.assign(tree_.node_count(), 0);
        constants_.assign(tree_.node_count(), nullptr);
        std::vector<NodeId> stack = {0};
        while (!stack.empty()) {
            const NodeId id = stack.back();
            stack.pop_back();
            if (id != 0) copy_node(id);
            const size_t first = stack.size();
            tree_.each_child(id, [&](NodeId child) { stack.push_back(child); });
            std::reverse(stack.begin() + static_cast<ptrdiff_t>(first), stack.end());
        }
        for (CheckId id = 0; id < tree_.relations().size(); ++id) copy_relation(id);
        return std::move(made_);
    }

private:
    struct Kept {
        Op kind;
        CheckId id;
    };

    std::string text(const Op& kind, NodeId node) const {
        return python_text(kind, tree_.path_text(node));
    }

    void copy_node(NodeId id) {
        const Node& node = tree_.node(id);
        Diagnostic problem;
        made_.child(place_[node.parent], node.step, place_[id], problem);
        std::vector<Kept> all;
        tree_.each_check(id, [&](CheckId check) {
            all.push_back({tree_.check_at(check).kind, check});
        });
        find_implied(id, all);
        for (const Kept& each : all) {
            CheckId made = 0;
            made_.check(place_[id], each.kind, problem, &made);
            PyObject* note = tree_.note(tree_.check_at(each.id).note);
            if (note) made_.annotate_check(made, Owned<>::share(note));
            if (PyObject* constant = constant_of(each.kind)) constants_[id] = constant;
        }
    }

    /// What one round over the checks of a node goes by.
    struct Round {
        std::vector<Kept>& all;
        std::vector<bool> is_gone;
        std::vector<bool> is_excluded;
        std::set<size_t> noisy;  ///< places of checks that run user code
        std::map<PyTypeObject*, int> spoken;
        size_t told = 0;

        explicit Round(std::vector<Kept>& kept)
            : all(kept), is_gone(kept.size()), is_excluded(kept.size()) {
            for (size_t i = 0; i < all.size(); ++i) {
                if (runs_user_code(all[i].kind)) noisy.insert(i);
            }
        }

        /// No user code runs from one check to a later one.
        bool is_quiet(size_t from, size_t to) const {
            const auto next = noisy.lower_bound(from);
            return next == noisy.end() || *next > to;
        }

        void remove(size_t i) {
            is_gone[i] = true;
            noisy.erase(i);
        }

        void finish() {
            size_t left = 0;
            for (size_t i = 0; i < all.size(); ++i) {
                if (!is_gone[i]) all[left++] = all[i];
            }
            all.resize(left);
        }

        /// Whether a check may say something of others that none before it has said.
        /// Of an exact type the first says all, the next what it says of the first.
        bool speaks(size_t i) {
            // What never passes has been told well enough.
            constexpr size_t most_told = 64;
            if (is_gone[i] || (is_excluded[i] && told > most_told)) return false;
            const Op& kind = all[i].kind;
            if (!is_alive(kind)) return false;
            if (constant_of(kind) || kind.code() == code_of<Length> ||
                kind.code() == code_of<TensorMatch> ||
                kind.code() == code_of<IntRange>) {
                return true;
            }
            PyTypeObject* type = living_exact_type_of(kind);
            return type && spoken[type]++ < 2;
        }
    };

    /// Compares checks that may say something with each: removes implied ones, tells of
    /// contradictions. Linear, but for ranges and tensors, which are compared in pairs.
    void find_implied(NodeId id, std::vector<Kept>& all) {
        Round round(all);
        for (size_t i = 0; i < all.size(); ++i) {
            if (!round.speaks(i)) continue;
            for (size_t j = 0; j < all.size() && !round.is_gone[i]; ++j) {
                if (i == j || round.is_gone[j]) continue;
                const Op& implying = all[i].kind;
                const Op& other = all[j].kind;
                const Relationship said = said_by(implying, other);
                if (said == Relationship::excluded) {
                    round.is_excluded[j] = true;
                    ++round.told;
                    tell_of(implying, other, id);
                }
                const bool may_go = i < j || round.is_quiet(j, i);
                if (said != Relationship::implied || !may_go) continue;
                found_.removed.push_back(text(other, id) + ": " + text(implying, id) +
                                         " says so");
                round.remove(j);
            }
        }
        round.finish();
        join_ranges(id, all);
    }

    void tell_of(const Op& a, const Op& b, NodeId id) {
        std::string one = text(a, id);
        std::string other = text(b, id);
        if (one > other) std::swap(one, other);
        std::string sentence = one + " and " + other + " exclude each other";
        if (told_.insert(sentence).second)
            found_.contradictions.push_back(std::move(sentence));
    }

    /// Two ranges that overlap are one, in the place of the first.
    void join_ranges(NodeId id, std::vector<Kept>& all) {
        Round round(all);
        std::vector<size_t> ranges;
        for (size_t i = 0; i < all.size(); ++i) {
            if (all[i].kind.code() == code_of<IntRange>) ranges.push_back(i);
        }
        for (auto first = ranges.begin(); first != ranges.end(); ++first) {
            const size_t i = *first;
            for (auto other = first + 1; other != ranges.end() && !round.is_gone[i];
                 ++other) {
                const size_t j = *other;
                if (round.is_gone[j] || !round.is_quiet(i, j)) continue;
                const auto& a = all[i].kind.as<IntRange>();
                const auto& b = all[j].kind.as<IntRange>();
                IntRange both;
                both.low.value = std::max(a.low.value, b.low.value);
                both.high.value = std::min(a.high.value, b.high.value);
                if (both.low.value > both.high.value) continue;
                found_.removed.push_back(text(all[j].kind, id) + ": joined with " +
                                         text(all[i].kind, id));
                all[i].kind = Op(both);
                round.remove(j);
            }
        }
        round.finish();
    }

    void copy_relation(CheckId id) {
        const RelationCheck& relation = tree_.relations()[id];
        const Relationship known = known_of(relation);
        if (known == Relationship::implied) {
            found_.removed.push_back(tree_.relation_text(id) + ": it holds by itself");
            return;
        }
        if (known == Relationship::excluded)
            found_.contradictions.push_back(tree_.relation_text(id) + " never holds");
        if (has_before(id)) {
            found_.removed.push_back(tree_.relation_text(id) + ": it is there twice");
            return;
        }
        std::vector<NodeId> nodes;
        for (const NodeId node : relation.nodes) nodes.push_back(place_[node]);
        Diagnostic problem;
        CheckId made = 0;
        made_.relate(relation.relation, nodes, problem, &made);
        PyObject* note = tree_.note(relation.note);
        if (note) made_.annotate_relation(made, Owned<>::share(note));
    }

    /// An equal relation over the same values came before; notes this one.
    bool has_before(CheckId id) {
        const RelationCheck& relation = tree_.relations()[id];
        size_t hash = hash_op(relation.relation);
        for (const NodeId node : relation.nodes) hash = hash * 31 + node;
        std::vector<CheckId>& like_it = relations_[hash];
        for (const CheckId before : like_it) {
            const RelationCheck& other = tree_.relations()[before];
            if (same_op(relation.relation, other.relation) &&
                relation.nodes == other.nodes) {
                return true;
            }
        }
        like_it.push_back(id);
        return false;
    }

    /// What is known of a relation whose values are one node, or constants.
    Relationship known_of(const RelationCheck& relation) const {
        const std::set<NodeId> different(relation.nodes.begin(), relation.nodes.end());
        if (relation.relation.code() == code_of<SameObject> && different.size() == 1)
            return Relationship::implied;
        if (relation.relation.code() == code_of<DistinctObjects> &&
            different.size() < relation.nodes.size()) {
            return Relationship::excluded;
        }
        if (relation.relation.code() != code_of<Integers>) return Relationship::none;
        std::vector<PyObject*> values;
        for (const NodeId node : relation.nodes) {
            if (!constants_[node]) return Relationship::none;
            values.push_back(constants_[node]);
        }
        return yes_or_no(relation.relation.as<Integers>().check(values));
    }

    const Tree& tree_;
    Simplification& found_;
    Tree made_;
    std::vector<NodeId> place_;         ///< of each node, in the new tree
    std::vector<PyObject*> constants_;  ///< that nodes equal; null: not known
    std::set<std::string> told_;
    std::map<size_t, std::vector<CheckId>> relations_;  ///< by their hashes
};

}  // namespace

Tree simplified(const Tree& tree, Simplification& found) {
    return Simplifier(tree, found).run();
}

}  // namespace guardtree
