// Building a guard tree by the C++ DSL, and the same tree by the builder's own calls.
// SPDX-License-Identifier: MIT
//
// Each word of the DSL has its call by hand: an object for each literal, read_operands,
// and Tree::child or Tree::check. What the DSL takes longer is what it costs; it saves
// where it knows more: how large the tree will be, and how an integer claim is built,
// which by hand is a text to be parsed. The counter "claim" is the time of one check or
// relation.
#include "../../dsl/cpp/expressions.h"

#include <array>

#include "guarded_function.h"
#include "interpreter.h"
#include "subjects.h"

namespace guardtree::bench {
namespace {

constexpr int kind_claims = 10;
constexpr int integer_claims = 3;

constexpr auto kinds_by_dsl = [] {
    using namespace dsl;
    return dsl::tree(local("x").type_match(placeholder<0>).equals(3),
                     local("cfg").attr("training").is_true(),
                     local("cfg").attr("device").equals("cuda:0"),
                     local("items").length(2).item(0).type_match(placeholder<0>),
                     local("items").item(1).int_range(0, 64),
                     global("FLAGS").dict_item("debug").is_false(),
                     local("model").id_match(placeholder<1>),
                     same_object(local("a"), local("b")));
}();

constexpr auto integers_by_dsl = [] {
    using namespace dsl;
    return dsl::tree(local("x") % 8 == 0, 0 < local("n") && local("n") <= 64,
                     length(local("items")) == local("n") * 2);
}();

/// The builder, as one calls it by hand.
class Hand {
public:
    explicit Hand(Tree& tree) noexcept : tree_(tree) {}

    template <Described T, std::same_as<Owned<>>... Objects>
    Op op(const Objects&... objects) {
        T made{};
        const std::array<PyObject*, sizeof...(objects)> operands{objects.get()...};
        is_good &= read_operands<T>(operands, made, tree_.references(), problem_);
        return Op(made);
    }

    NodeId step(NodeId from, const Op& step) {
        NodeId to = 0;
        is_good &= tree_.child(from, step, to, problem_);
        return to;
    }

    NodeId local(const char* name) { return step(0, op<Local>(text(name))); }

    void kind(NodeId on, const Op& kind) { is_good &= tree_.check(on, kind, problem_); }

    template <std::same_as<NodeId>... Nodes>
    void relate(const Op& relation, Nodes... nodes) {
        const std::array<NodeId, sizeof...(nodes)> all{nodes...};
        is_good &= tree_.relate(relation, all, problem_);
    }

    static Owned<> text(const char* text) {
        return Owned<>::steal(PyUnicode_FromString(text));
    }

    static Owned<> number(long value) { return Owned<>::steal(PyLong_FromLong(value)); }

    bool is_good = true;

private:
    Tree& tree_;
    Diagnostic problem_;
};

bool add_kinds_by_hand(Tree& tree, const Owned<>& type, const Owned<>& model) {
    Hand hand(tree);
    const NodeId x = hand.local("x");
    hand.kind(x, hand.op<TypeMatch>(type));
    hand.kind(x, hand.op<Equals>(Hand::number(3)));
    const NodeId training =
        hand.step(hand.local("cfg"), hand.op<Attr>(Hand::text("training")));
    hand.kind(training, hand.op<IsTrue>());
    const NodeId device =
        hand.step(hand.local("cfg"), hand.op<Attr>(Hand::text("device")));
    hand.kind(device, hand.op<Equals>(Hand::text("cuda:0")));
    const NodeId items = hand.local("items");
    hand.kind(items, hand.op<Length>(Hand::number(2)));
    const NodeId first = hand.step(items, hand.op<Item>(Hand::number(0)));
    hand.kind(first, hand.op<TypeMatch>(type));
    const NodeId second =
        hand.step(hand.local("items"), hand.op<Item>(Hand::number(1)));
    hand.kind(second, hand.op<IntRange>(Hand::number(0), Hand::number(64)));
    const NodeId flags = hand.step(0, hand.op<Global>(Hand::text("FLAGS")));
    const NodeId debug = hand.step(flags, hand.op<DictItem>(Hand::text("debug")));
    hand.kind(debug, hand.op<IsFalse>());
    hand.kind(hand.local("model"), hand.op<IdMatch>(model));
    const Op same = hand.op<SameObject>();
    const NodeId a = hand.local("a");
    hand.relate(same, a, hand.local("b"));
    return hand.is_good;
}

bool add_integers_by_hand(Tree& tree) {
    Hand hand(tree);
    const NodeId x = hand.local("x");
    hand.relate(hand.op<Integers>(Hand::text("a % 8 == 0")), x);
    const NodeId n = hand.local("n");
    hand.local("n");
    hand.relate(hand.op<Integers>(Hand::text("0 < a and a <= 64")), n);
    const NodeId items = hand.local("items");
    const NodeId count = hand.local("n");
    hand.relate(hand.op<Integers>(Hand::text("len(a) == b * 2")), items, count);
    return hand.is_good;
}

using Build = std::function<bool(Tree& to)>;

void register_build(const Register& add, const std::string& name, int claims,
                    const Build& build_into) {
    add(name, [claims, build_into](benchmark::State& state) {
        bool built = true;
        for ([[maybe_unused]] auto _ : state) {
            Tree tree;
            built &= build_into(tree);
            benchmark::DoNotOptimize(tree.node_count());
        }
        demand_pass(state, built);
        state.counters["claim"] =
            benchmark::Counter(claims, benchmark::Counter::kIsIterationInvariantRate |
                                           benchmark::Counter::kInvert);
    });
}

/// Both ways under one name; they must give the same tree.
void register_pair(const Register& add, const std::string& name, int claims,
                   const Build& by_dsl, const Build& by_hand) {
    Tree one;
    Tree other;
    if (!by_dsl(one) || !by_hand(other) || one.text() != other.text())
        give_up("the trees of " + name + " differ");
    register_build(add, name + "/dsl", claims, by_dsl);
    register_build(add, name + "/by_hand", claims, by_hand);
}

}  // namespace

void register_expressions(const Register& add) {
    const auto type = Owned<>::share(as_object(&PyLong_Type));
    const Owned<> model = evaluated("type('Model', (), {})()");
    register_pair(
        add, "expressions/kinds", kind_claims,
        [type, model](Tree& to) {
            Diagnostic problem;
            return dsl::build(kinds_by_dsl, to, problem, type, model);
        },
        [type, model](Tree& to) { return add_kinds_by_hand(to, type, model); });
    register_pair(
        add, "expressions/integers", integer_claims,
        [](Tree& to) {
            Diagnostic problem;
            return dsl::build(integers_by_dsl, to, problem);
        },
        add_integers_by_hand);
}

}  // namespace guardtree::bench
