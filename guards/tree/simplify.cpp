// Finds guards of one value that imply or exclude each other.
// SPDX-License-Identifier: MIT
#include "simplify.h"

#include "../../framelocals/no_memory.h"

#include <algorithm>
#include <map>
#include <set>

#include "../objects/constant.h"

namespace guardtree {
namespace {

/// The constant that passing values equal, for kinds that compare with a constant.
PyObject* constant_of(const Op& kind) noexcept {
    return dispatch(kind, []<class T>(const T& concrete) -> PyObject* {
        if constexpr (HasOnlyConstant<T>) return concrete.only_constant();
        return nullptr;
    });
}

PyTypeObject* living_exact_type_of(const Op& kind) {
    return is_alive(kind) ? exact_type_of(kind) : nullptr;
}

/// See Info::is_by_value. A kind that contains other kinds is by value if all of them
/// are.
bool is_by_value(const Op& kind) {
    const std::span<const Op> inner = inner_kinds_of(kind);
    return inner.empty() ? kind.info().is_by_value
                         : std::ranges::all_of(inner, is_by_value);
}

bool runs_user_code(const Op& kind) {
    return calls_python(kind) && !is_by_value(kind);
}

/// The verdict on a constant of a check that is by value.
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

/// What the exact type of a value implies for a check of that value.
Known known_by_type(PyTypeObject* type, const Op& kind) {
    const Known known = dispatch(kind, [&]<class K>(const K& concrete) {
        if constexpr (KnowsByType<K>) return concrete.known_by_type(type);
        return Known::nothing;
    });
    if (known != Known::nothing) return known;
    PyTypeObject* wanted = living_exact_type_of(kind);
    return wanted && wanted != type ? Known::fails : Known::nothing;
}

/// What a passing check of a value implies for another check of the same value.
Known known_by(const Op& passed, const Op& kind) {
    if (!is_alive(passed) || !is_alive(kind)) return Known::nothing;
    PyObject* constant = constant_of(passed);
    if (constant && is_by_value(kind)) return known_to(passes(kind, constant));
    if (PyTypeObject* type = living_exact_type_of(passed)) {
        const Known known = known_by_type(type, kind);
        if (known != Known::nothing) return known;
    }
    if (passed.code() != kind.code()) return Known::nothing;
    return dispatch(kind, [&]<class K>(const K& concrete) {
        if constexpr (KnowsByAnother<K>) return concrete.known_by(passed.as<K>());
        return Known::nothing;
    });
}

bool is_compared_in_pairs(const Op& kind) {
    return dispatch(kind, []<class K>(const K&) { return KnowsByAnother<K>; });
}

bool can_be_joined(const Op& kind) {
    return dispatch(kind, []<class K>(const K&) { return CanBeJoined<K>; });
}

/// Joins two checks of one kind into one. Returns false if that is not possible.
bool join(const Op& a, const Op& b, Op& to) {
    return a.code() == b.code() && dispatch(a, [&]<class K>(const K& first) {
        if constexpr (CanBeJoined<K>) {
            K both;
            if (!first.join(b.as<K>(), both)) return false;
            to = Op(both);
            return true;
        }
        return false;
    });
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

    /// The state of one pass over the checks of a node.
    struct Round {
        std::vector<Kept>& all;
        std::vector<bool> is_gone;
        std::vector<bool> is_excluded;
        std::set<size_t> noisy;  ///< indices of checks that run user code
        std::map<PyTypeObject*, int> spoken;
        size_t reported = 0;

        explicit Round(std::vector<Kept>& kept)
            : all(kept), is_gone(kept.size()), is_excluded(kept.size()) {
            for (size_t i = 0; i < all.size(); ++i) {
                if (runs_user_code(all[i].kind)) noisy.insert(i);
            }
        }

        /// Whether no user code runs between one check and a later one.
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

        /// Whether a check may relate to others in a way that no check before it does.
        /// For checks of the same exact type, the first is compared with all others,
        /// and the second is still compared with the first.
        bool speaks(size_t i) {
            // There are enough reports that the tree never passes.
            constexpr size_t max_removed = 64;
            if (is_gone[i] || (is_excluded[i] && reported > max_removed)) return false;
            const Op& kind = all[i].kind;
            if (!is_alive(kind)) return false;
            if (constant_of(kind) || is_compared_in_pairs(kind)) return true;
            PyTypeObject* type = living_exact_type_of(kind);
            return type && spoken[type]++ < 2;
        }
    };

    /// Compares each check that may imply others with all others: removes implied
    /// checks and reports contradictions. Linear, except for ranges and tensors, which
    /// are compared in pairs.
    void find_implied(NodeId id, std::vector<Kept>& all) {
        Round round(all);
        for (size_t i = 0; i < all.size(); ++i) {
            if (!round.speaks(i)) continue;
            for (size_t j = 0; j < all.size() && !round.is_gone[i]; ++j) {
                if (i == j || round.is_gone[j]) continue;
                const Op& implying = all[i].kind;
                const Op& other = all[j].kind;
                const Known known = known_by(implying, other);
                if (known == Known::fails) {
                    round.is_excluded[j] = true;
                    ++round.reported;
                    tell_of(implying, other, id);
                }
                const bool may_go = i < j || round.is_quiet(j, i);
                if (known != Known::passes || !may_go) continue;
                found_.removed.push_back(text(other, id) + ": follows from " +
                                         text(implying, id));
                round.remove(j);
            }
        }
        round.finish();
        join_checks(id, all);
    }

    void tell_of(const Op& a, const Op& b, NodeId id) {
        std::string one = text(a, id);
        std::string other = text(b, id);
        if (one > other) std::swap(one, other);
        std::string sentence = one + " and " + other + " exclude each other";
        if (told_.insert(sentence).second)
            found_.contradictions.push_back(std::move(sentence));
    }

    /// Merges checks that can be joined into one, in the place of the first.
    void join_checks(NodeId id, std::vector<Kept>& all) {
        Round round(all);
        std::vector<size_t> joinable;
        for (size_t i = 0; i < all.size(); ++i) {
            if (can_be_joined(all[i].kind)) joinable.push_back(i);
        }
        for (auto first = joinable.begin(); first != joinable.end(); ++first) {
            const size_t i = *first;
            for (auto other = first + 1; other != joinable.end() && !round.is_gone[i];
                 ++other) {
                const size_t j = *other;
                if (round.is_gone[j] || !round.is_quiet(i, j)) continue;
                Op both;
                if (!join(all[i].kind, all[j].kind, both)) continue;
                found_.removed.push_back(text(all[j].kind, id) + ": joined with " +
                                         text(all[i].kind, id));
                all[i].kind = both;
                round.remove(j);
            }
        }
        round.finish();
    }

    void copy_relation(CheckId id) {
        const RelationCheck& relation = tree_.relations()[id];
        const Known known = known_of(relation);
        if (known == Known::passes) {
            found_.removed.push_back(tree_.relation_text(id) + ": it holds by itself");
            return;
        }
        if (known == Known::fails)
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

    /// Whether there was an equal relation over the same values before. Records this
    /// one.
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

    Known known_of(const RelationCheck& relation) const {
        std::vector<PyObject*> constants;
        for (const NodeId node : relation.nodes) constants.push_back(constants_[node]);
        return dispatch(relation.relation, [&]<class R>(const R& concrete) {
            if constexpr (KnowsByNodes<R>)
                return concrete.known_by_nodes(relation.nodes, constants);
            return Known::nothing;
        });
    }

    const Tree& tree_;
    Simplification& found_;
    Tree made_;
    std::vector<NodeId> place_;         ///< the id in the new tree of each node
    /// the constant that a node equals; null if not known
    std::vector<PyObject*> constants_;
    std::set<std::string> told_;
    std::map<size_t, std::vector<CheckId>> relations_;  ///< by hash
};

}  // namespace

Tree simplified(const Tree& tree, Simplification& found) {
    return Simplifier(tree, found).run();
}

}  // namespace guardtree
