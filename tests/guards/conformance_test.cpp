// The same questions to every kind and step, asked with their own examples.
// SPDX-License-Identifier: MIT
#include <Python.h>

#include <regex>

#include <gtest/gtest.h>

#include "../../guards/objects/builtin_length.h"
#include "../support/allocations.h"
#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

/// Names of typed tests: "type_match" instead of "/0".
struct InfoName {
    template <class T>
    static std::string GetName(int) {
        return std::string(T::info.name);
    }
};

template <class>
struct TypesOf;

template <class... Ts>
struct TypesOf<TypeList<Ts...>> {
    using type = ::testing::Types<Ts...>;
};

std::string repr(PyObject* object) {
    return text_of_str(Owned<>::steal(PyObject_Repr(object)).get());
}

/// What kinds and steps share: the oracle's names, operands read from an example.
template <class T>
class Conformance : public Interpreter {
protected:
    void SetUp() override {
        set_up_builtin_length();
        names.load_oracle();
        names.run("FLAG = True");
        if (examples().empty()) GTEST_SKIP() << "its examples need NumPy or torch";
    }

    /// Those that can run here: NumPy may not be installed.
    static auto examples() {
        using One = std::remove_cvref_t<decltype(T::examples[0])>;
        std::vector<One> all;
        for (const One& each : T::examples) {
            std::string texts(each.operands);
            if constexpr (std::same_as<One, Example>)
                texts += std::string(each.pass) + std::string(each.fail);
            else
                texts += std::string(each.value) + std::string(each.fail);
            if (can_run(texts)) all.push_back(each);
        }
        return all;
    }

    Owned<> operands_of(const auto& example) {
        const std::string inner(example.operands);
        return names.eval(inner.empty() ? "()" : "(" + inner + ",)");
    }

    T read(PyObject* operands) {
        T made;
        const std::span<PyObject* const> items(PySequence_Fast_ITEMS(operands),
                                               static_cast<size_t>(Py_SIZE(operands)));
        if (!read_operands(items, made, keep, problem))
            throw PythonError(problem.message);
        return made;
    }

    /// `info.python` over `value` and the operands, by name. Names that are operands
    /// are Python's own names there: `value.name` is text, not a look-up of `name`.
    /// Kinds inside kinds are text too.
    Owned<> ask_oracle(const T& concrete, PyObject* value) {
        std::string text(T::info.python);
        names.set("value", value);
        [[maybe_unused]] const auto bind = [&](const auto& one) {
            const auto& operand = concrete.*one.member;
            const std::regex word("\\b" + std::string(one.name) + "\\b");
            if constexpr (std::same_as<std::remove_cvref_t<decltype(operand)>, Name>) {
                text = std::regex_replace(text, word, text_of(operand));
            } else if constexpr (requires { operand.python("value"); }) {
                text = std::regex_replace(text, word, operand.python("value"));
            } else {
                names.set(std::string(one.name), object_of(operand).get());
            }
        };
        std::apply([&](const auto&... each) { (bind(each), ...); }, T::operands());
        return names.eval(text);
    }

    /// The sentence names each operand, as written in a call, and the value.
    void expect_sentence(const std::string& sentence, const T& concrete,
                         const std::string& found) {
        EXPECT_NE(sentence.find(call_text(Op(concrete))), std::string::npos)
            << sentence;
        EXPECT_NE(sentence.find(found), std::string::npos) << sentence;
        const bool names_operands = std::apply(
            [&](const auto&... each) {
                [[maybe_unused]] const auto says = [&](const auto& operand) {
                    const std::string text = text_of(concrete.*operand.member);
                    return sentence.find(text) != std::string::npos;
                };
                return (true && ... && says(each));
            },
            T::operands());
        EXPECT_TRUE(names_operands) << sentence;
    }

    Namespace names;
    References keep;
    Diagnostic problem;
};

template <class K>
class KindConformance : public Conformance<K> {
protected:
    Verdict check(const K& kind, PyObject* value) {
        const auto answer = kind.check(value);
        if constexpr (std::same_as<decltype(answer), const Verdict>)
            return answer;
        else
            return answer ? Verdict::pass : Verdict::fail;
    }

    /// False for examples of a kind that passes every value.
    static bool can_fail(const Example& example) { return !example.fail.empty(); }

    /// The values of an example: one that passes, and one that fails, if there is one.
    static std::vector<std::string_view> values_of(const Example& example) {
        if (!can_fail(example)) return {example.pass};
        return {example.pass, example.fail};
    }

    /// A program of one check of this kind on local x.
    std::string call(const Example& example) {
        return std::string(K::info.name) + "(" + std::string(example.operands) + ")";
    }
};

TYPED_TEST_SUITE(KindConformance, TypesOf<AllKinds>::type, InfoName);

TYPED_TEST(KindConformance, answers_its_examples_as_documented_and_as_the_oracle) {
    for (const Example& example : this->examples()) {
        SCOPED_TRACE(this->call(example));
        const Owned<> operands = this->operands_of(example);
        const TypeParam kind = this->read(operands.get());
        for (const std::string_view text : this->values_of(example)) {
            const bool passes = text.data() == example.pass.data();
            const std::string source(text);
            SCOPED_TRACE(source);
            const Owned<> value = this->names.eval(source);
            EXPECT_EQ(this->check(kind, value.get()),
                      passes ? Verdict::pass : Verdict::fail);
            EXPECT_EQ(PyObject_IsTrue(this->ask_oracle(kind, value.get()).get()),
                      passes);
        }
    }
}

TYPED_TEST(KindConformance, leaves_references_and_the_error_state_alone) {
    for (const Example& example : this->examples()) {
        SCOPED_TRACE(this->call(example));
        const Owned<> operands = this->operands_of(example);
        const TypeParam kind = this->read(operands.get());
        for (const std::string_view source : this->values_of(example)) {
            const Owned<> value = this->names.eval(std::string(source));
            this->check(kind, value.get());  // fills caches of types and exceptions
            const Py_ssize_t before = Py_REFCNT(value.get());
            this->check(kind, value.get());
            EXPECT_EQ(Py_REFCNT(value.get()), before) << source;
            EXPECT_FALSE(PyErr_Occurred()) << source;
        }
    }
}

TYPED_TEST(KindConformance, allocates_nothing_unless_it_calls_python) {
    if (TypeParam::info.calls_python) return;
    for (const Example& example : this->examples()) {
        SCOPED_TRACE(this->call(example));
        const Owned<> operands = this->operands_of(example);
        const TypeParam kind = this->read(operands.get());
        for (const std::string_view source : this->values_of(example)) {
            const Owned<> value = this->names.eval(std::string(source));
            this->check(kind, value.get());  // the first array registers its type
            const Allocations made =
                allocations_of([&] { this->check(kind, value.get()); });
            EXPECT_EQ(made.all(), 0u) << source;
        }
    }
}

TYPED_TEST(KindConformance,
           answers_alike_in_a_program_on_a_slot_and_on_a_fetched_value) {
    for (const Example& example : this->examples()) {
        SCOPED_TRACE(this->call(example));
        Guards on_slot(this->names);
        on_slot.guard({"local('x')", this->call(example)});
        Guards on_item(this->names);
        on_item.guard({"local('x')", "tuple_item(0)", this->call(example)});
        const auto locals = [](std::string_view value, const char* comma) {
            return "{'x': (" + std::string(value) + comma + ")}";
        };
        EXPECT_EQ(on_slot.verdict(locals(example.pass, "")), Verdict::pass);
        EXPECT_EQ(on_item.verdict(locals(example.pass, ",")), Verdict::pass);
        EXPECT_EQ(on_slot.verdict("{}"), Verdict::fail);
        if (!this->can_fail(example)) continue;
        EXPECT_EQ(on_slot.verdict(locals(example.fail, "")), Verdict::fail);
        EXPECT_EQ(on_item.verdict(locals(example.fail, ",")), Verdict::fail);
    }
}

TYPED_TEST(KindConformance, says_operand_and_value_when_it_fails) {
    for (const Example& example : this->examples()) {
        if (!this->can_fail(example)) continue;
        SCOPED_TRACE(this->call(example));
        Guards guards(this->names);
        guards.guard({"local('x')", this->call(example)});
        const Owned<> value = this->names.eval(std::string(example.fail));
        this->names.set("value", value.get());
        const Explanation explanation = guards.explained("{'x': value}");
        EXPECT_EQ(explanation.verdict, guards.verdict("{'x': value}"));
        ASSERT_EQ(explanation.failures.size(), 1u);
        EXPECT_EQ(explanation.failures[0].kind, TypeParam::info.name);
        const auto& kind = guards.program().ops()[0].template as<TypeParam>();
        std::string found = short_repr(value.get());
        if constexpr (requires { kind.found(value.get()); }) {
            found = kind.found(value.get());
        }
        this->expect_sentence(explanation.text(), kind, found);
    }
}

TYPED_TEST(KindConformance, refuses_a_wrong_number_of_operands) {
    const std::string name(TypeParam::info.name);
    const size_t count = std::tuple_size_v<decltype(TypeParam::operands())>;
    std::string operands;
    for (size_t i = 0; i <= count; ++i) operands += "0, ";
    Guards guards(this->names);
    try {
        guards.op(name + "(" + operands.substr(0, operands.size() - 2) + ")");
        FAIL() << "accepted";
    } catch (const PythonError& error) {
        EXPECT_EQ(error.what(), name + " takes " + std::to_string(count) +
                                    " operand(s), " + std::to_string(count + 1) +
                                    " given");
    }
}

template <class S>
class StepConformance : public Conformance<S> {
protected:
    std::string call(const StepExample& example) {
        return std::string(S::info.name) + "(" + std::string(example.operands) + ")";
    }

    /// A function that has what the roots name: local x, or free variable x.
    Owned<PyCodeObject> bound(S& step) {
        for (const char* function :
             {"def f(x): pass",
              "def g():\n  x = 3\n  def f(): return x\n  return f\n"
              "f = g()"}) {
            Owned<PyCodeObject> code = this->names.code(function);
            std::string text;
            if constexpr (BindsToCode<S>) {
                if (!step.bind(code.get(), text)) continue;
            }
            return code;
        }
        throw PythonError("no function fits");
    }

    /// What the step fetches from `value`; for roots, from a view over the mapping.
    Owned<> fetch(S step, PyObject* value) {
        if constexpr (RootStep<S>) {
            const Owned<PyCodeObject> code = bound(step);
            const Scope scope{.code = code.get(),
                              .globals = this->names.dict(),
                              .builtins = Namespace::builtins()};
            std::vector<SlotName> wanted;
            if constexpr (BindsToCode<S>) {
                wanted.push_back(
                    {find_slot(code.get(), step.name.value), step.name.value});
            }
            const MappingScene scene(scope, value, wanted);
            this->names.set("L", value);
            if constexpr (RememberingRoot<S>) {
                return Owned<>::share(step.get(scene.view(), Remembered(place)).get());
            } else if constexpr (returns_owned<S>) {
                return step.get(scene.view());
            } else {
                return Owned<>::share(step.get(scene.view()).get());
            }
        } else if constexpr (returns_owned<S>) {
            return step.get(value);
        } else if constexpr (RememberingStep<S>) {
            return Owned<>::share(step.get(value, Remembered(place)).get());
        } else {
            return Owned<>::share(step.get(value).get());
        }
    }

    uint16_t place = 0;  ///< what remembering steps remember from one to the next

    /// False for examples of steps that never fail on a value.
    static bool can_fail(const StepExample& example) { return !example.fail.empty(); }

    /// The oracle's value; roots read the names L, G and B, and locals as names.
    Owned<> ask(const S& step, PyObject* value) {
        if constexpr (RootStep<S>) {
            this->names.set("G", this->names.dict());
            this->names.set("B", Namespace::builtins());
            this->names.set("L", value);
            PyDict_Update(this->names.dict(), value);
        }
        return this->ask_oracle(step, value);
    }
};

TYPED_TEST_SUITE(StepConformance, TypesOf<AllSteps>::type, InfoName);

TYPED_TEST(StepConformance, fetches_what_its_examples_and_the_oracle_say) {
    for (const StepExample& example : this->examples()) {
        SCOPED_TRACE(this->call(example) + " on " + std::string(example.value));
        const TypeParam step = this->read(this->operands_of(example).get());
        const Owned<> value = this->names.eval(std::string(example.value));
        const Owned<> found = this->fetch(step, value.get());
        ASSERT_TRUE(found);
        const Owned<> documented = this->names.eval(std::string(example.result));
        EXPECT_EQ(repr(found.get()), repr(documented.get()));
        const Owned<> oracle = this->ask(step, value.get());
        EXPECT_EQ(repr(found.get()), repr(oracle.get()));
    }
}

TYPED_TEST(StepConformance, fetches_nothing_and_raises_nothing_where_documented) {
    for (const StepExample& example : this->examples()) {
        if (!this->can_fail(example)) continue;
        SCOPED_TRACE(this->call(example) + " on " + std::string(example.fail));
        const TypeParam step = this->read(this->operands_of(example).get());
        const Owned<> value = this->names.eval(std::string(example.fail));
        EXPECT_FALSE(this->fetch(step, value.get()));
        EXPECT_FALSE(PyErr_Occurred());
        EXPECT_THROW(this->ask(step, value.get()), PythonError);
    }
}

TYPED_TEST(StepConformance, leaves_references_and_the_error_state_alone) {
    for (const StepExample& example : this->examples()) {
        for (const std::string_view source : {example.value, example.fail}) {
            if (source.empty()) continue;
            SCOPED_TRACE(this->call(example) + " on " + std::string(source));
            const TypeParam step = this->read(this->operands_of(example).get());
            const Owned<> value = this->names.eval(std::string(source));
            this->fetch(step, value.get());  // fills caches of types and dicts
            const Py_ssize_t before = Py_REFCNT(value.get());
            this->fetch(step, value.get());
            EXPECT_EQ(Py_REFCNT(value.get()), before);
            EXPECT_FALSE(PyErr_Occurred());
        }
    }
}

TYPED_TEST(StepConformance, allocates_nothing_unless_it_calls_python) {
    if (TypeParam::info.calls_python || RootStep<TypeParam>) return;
    for (const StepExample& example : this->examples()) {
        SCOPED_TRACE(this->call(example) + " on " + std::string(example.value));
        const TypeParam step = this->read(this->operands_of(example).get());
        const Owned<> value = this->names.eval(std::string(example.value));
        this->fetch(step, value.get());  // the first array registers its type
        const Allocations made =
            allocations_of([&] { this->fetch(step, value.get()); });
        // An int of its own, where CPython has no spare one (3.14 keeps some).
        const std::string result(example.result);
        const bool makes_int =
            returns_owned<TypeParam> &&
            this->names.is_true("type(" + result + ") is int and " + result + " > 256");
        EXPECT_LE(made.all(), makes_int ? 1u : 0u);
    }
}

TYPED_TEST(StepConformance, says_operand_and_value_when_it_fetches_nothing) {
    for (const StepExample& example : this->examples()) {
        if (RootStep<TypeParam> || !this->can_fail(example)) continue;
        SCOPED_TRACE(this->call(example) + " on " + std::string(example.fail));
        Guards guards(this->names);
        guards.guard({"local('x')", this->call(example), "is_not_none()"});
        const Owned<> value = this->names.eval(std::string(example.fail));
        this->names.set("value", value.get());
        const Explanation explanation = guards.explained("{'x': value}");
        EXPECT_EQ(explanation.verdict, Verdict::fail);
        EXPECT_EQ(guards.verdict("{'x': value}"), Verdict::fail);
        ASSERT_EQ(explanation.failures.size(), 1u);
        EXPECT_EQ(explanation.failures[0].kind, TypeParam::info.name);
        const auto& kind = guards.program().ops()[0].template as<TypeParam>();
        std::string found = short_repr(value.get());
        if constexpr (requires { kind.found(value.get()); }) {
            found = kind.found(value.get());
        }
        this->expect_sentence(explanation.text(), kind, found);
    }
}

}  // namespace
}  // namespace guardtree::tests
