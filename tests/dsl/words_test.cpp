// The DSL in C++: the word of each kind, step and relation builds what its name makes.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "../../dsl/cpp/expressions.h"
#include "../../guards/objects/builtin_length.h"
#include "../../guards/ops/named_op.h"
#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

using namespace guardtree::dsl;

/// A claim with the word of `T`: of the kind itself, of what the step fetches, of two
/// locals. `inner` is the kind by itself.
template <class T>
struct WordOf;

#define X(type, stem)                                          \
    template <>                                                \
    struct WordOf<guardtree::type> {                           \
        static constexpr auto claim(const auto&... operands) { \
            return local("x").stem(operands...);               \
        }                                                      \
        static constexpr auto inner(const auto&... operands) { \
            return kinds::stem(operands...);                   \
        }                                                      \
    };
GUARDTREE_KINDS(X)
#undef X

#define X(type, stem)                                          \
    template <>                                                \
    struct WordOf<guardtree::type> {                           \
        static constexpr auto claim(const auto&... operands) { \
            if constexpr (RootStep<guardtree::type>)           \
                return dsl::stem(operands...).is_none();       \
            else                                               \
                return local("x").stem(operands...).is_none(); \
        }                                                      \
    };
GUARDTREE_STEPS(X)
#undef X

#define X(type, stem)                                              \
    template <>                                                    \
    struct WordOf<guardtree::type> {                               \
        static constexpr auto claim(const auto&... operands) {     \
            return dsl::stem(operands..., local("x"), local("y")); \
        }                                                          \
    };
GUARDTREE_RELATIONS(X)
#undef X

/// The same by name.
bool add_by_name(std::string_view name, std::span<PyObject* const> operands, Tree& to,
                 Diagnostic& problem) {
    OpCode code{};
    Op op;
    const auto local_node = [&](const char* text, NodeId& node) {
        const auto owned = Owned<>::steal(PyUnicode_FromString(text));
        PyObject* operand = owned.get();
        Op step;
        return make_op(code_of<Local>, {&operand, 1}, step, to.references(), problem) &&
               to.child(0, step, node, problem);
    };
    if (!find_op(name, code) || !make_op(code, operands, op, to.references(), problem))
        return false;
    NodeId nodes[2] = {};
    if (!(op.is_step() && is_root_step(op)) && !local_node("x", nodes[0])) return false;
    if (op.is_kind()) return to.check(nodes[0], op, problem);
    if (op.is_step())
        return to.child(nodes[0], op, nodes[1], problem) &&
               to.check(nodes[1], Op(IsNone{}), problem);
    return local_node("y", nodes[1]) && to.relate(op, nodes, problem);
}

template <class T, size_t... I>
bool add_by_word([[maybe_unused]] std::span<PyObject* const> operands, Tree& to,
                 Diagnostic& problem, std::index_sequence<I...>) {
    return build(WordOf<T>::claim(placeholder<I>...), to, problem, operands[I]...);
}

template <class T, size_t... I>
bool add_inner_by_word([[maybe_unused]] std::span<PyObject* const> operands, Tree& to,
                       Diagnostic& problem, std::index_sequence<I...>) {
    return build(local("x").not_(WordOf<T>::inner(placeholder<I>...)), to, problem,
                 operands[I]...);
}

template <class... Ks, class... Ss, class... Rs>
::testing::Types<Ks..., Ss..., Rs...> all_of(TypeList<Ks...>, TypeList<Ss...>,
                                             TypeList<Rs...>);

using AllWords = decltype(all_of(AllKinds{}, AllSteps{}, AllRelations{}));

struct InfoName {
    template <class T>
    static std::string GetName(int) {
        return std::string(T::info.name);
    }
};

template <class T>
class DslWords : public Interpreter {
protected:
    void SetUp() override {
        set_up_builtin_length();
        names.load_oracle();
    }

    /// The operands of each example that can run here.
    std::vector<Owned<>> operands() const {
        std::vector<Owned<>> all;
        for (const auto& each : T::examples) {
            const std::string text(each.operands);
            if (can_run(text))
                all.push_back(names.eval(text.empty() ? "()" : "(" + text + ",)"));
        }
        return all;
    }

    static std::span<PyObject* const> items(const Owned<>& tuple) {
        return {PySequence_Fast_ITEMS(tuple.get()),
                static_cast<size_t>(PyTuple_GET_SIZE(tuple.get()))};
    }

    Namespace names;
};

TYPED_TEST_SUITE(DslWords, AllWords, InfoName);

TYPED_TEST(DslWords, build_what_their_names_make) {
    constexpr auto each_operand = std::make_index_sequence<operand_count<TypeParam>>();
    const auto all = this->operands();
    size_t compared = 0;
    for (const Owned<>& operands : all) {
        Tree by_name;
        Tree by_word;
        Diagnostic problem;
        if (!add_by_name(TypeParam::info.name, this->items(operands), by_name,
                         problem)) {
            EXPECT_TRUE(GuardRelation<TypeParam>) << problem.message;
            continue;  // a relation of another number of values than two
        }
        ++compared;
        EXPECT_TRUE(add_by_word<TypeParam>(this->items(operands), by_word, problem,
                                           each_operand))
            << problem.message;
        EXPECT_EQ(by_word.text(), by_name.text());
        if constexpr (GuardKind<TypeParam>) {
            EXPECT_TRUE(same_op(by_word.check_at(0).kind, by_name.check_at(0).kind));
        }
    }
    EXPECT_TRUE(compared > 0 || all.empty());
}

TYPED_TEST(DslWords, of_kinds_stand_by_themselves_in_other_kinds) {
    if constexpr (GuardKind<TypeParam>) {
        constexpr auto each_operand =
            std::make_index_sequence<operand_count<TypeParam>>();
        for (const Owned<>& operands : this->operands()) {
            const auto name = Owned<>::steal(
                PyUnicode_FromString(std::string(TypeParam::info.name).c_str()));
            const Owned<> head = tests::tuple_of({name.get()});
            const auto kind =
                Owned<>::steal(PySequence_Concat(head.get(), operands.get()));
            PyObject* operand = kind.get();
            Tree by_name;
            Tree by_word;
            Diagnostic problem;
            ASSERT_TRUE(add_by_name("not_", {&operand, 1}, by_name, problem))
                << problem.message;
            ASSERT_TRUE(add_inner_by_word<TypeParam>(this->items(operands), by_word,
                                                     problem, each_operand))
                << problem.message;
            EXPECT_EQ(by_word.text(), by_name.text());
            EXPECT_TRUE(same_op(by_word.check_at(0).kind, by_name.check_at(0).kind));
        }
    }
}

}  // namespace
}  // namespace guardtree::tests
