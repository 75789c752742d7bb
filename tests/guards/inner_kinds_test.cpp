// not_ and any_of: verdicts, nesting, texts, what is refused. native: the same of C
// functions.
// SPDX-License-Identifier: MIT
#include <Python.h>

#include <gtest/gtest.h>

#include "../../guards/operands/native_function.h"
#include "../support/guards.h"
#include "../support/interpreter.h"

namespace guardtree::tests {
namespace {

class InnerKindsTest : public Interpreter {
protected:
    void SetUp() override {
        names.run(
            "def raises(value): raise ValueError('why')\n"
            "ran = []\n"
            "def note(value): ran.append(value); return False\n"
            "def nest(n):\n"
            "  kind = ('is_none',)\n"
            "  for _ in range(n): kind = ('not_', kind)\n"
            "  return kind\n");
    }

    Verdict verdict(const std::string& kind, const std::string& value) {
        Guards guards(names);
        guards.guard({"local('x')", kind});
        return guards.verdict("{'x': " + value + "}");
    }

    std::string refusal(const std::string& kind) {
        try {
            Guards(names).op(kind);
        } catch (const PythonError& error) {
            return error.what();
        }
        return "accepted";
    }

    std::string python(const std::string& kind) {
        return python_text(Guards(names).op(kind), "x");
    }

    Namespace names;
};

TEST_F(InnerKindsTest, a_kind_is_negated_and_its_error_stays_an_error) {
    EXPECT_EQ(verdict("not_(('is_none',))", "1"), Verdict::pass);
    EXPECT_EQ(verdict("not_(('is_none',))", "None"), Verdict::fail);
    EXPECT_EQ(verdict("not_(('python', raises))", "1"), Verdict::error);
    EXPECT_EQ(verdict("not_(('not_', ('python', raises)))", "1"), Verdict::error);
}

TEST_F(InnerKindsTest, the_first_kind_that_does_not_fail_answers) {
    EXPECT_EQ(verdict("any_of((('is_none',), ('python', raises)))", "None"),
              Verdict::pass);
    EXPECT_EQ(verdict("any_of((('is_none',), ('python', raises)))", "1"),
              Verdict::error);
    EXPECT_EQ(verdict("any_of((('python', raises), ('is_none',)))", "None"),
              Verdict::error);
    EXPECT_EQ(
        verdict("any_of((('python', note), ('is_none',), ('python', note)))", "None"),
        Verdict::pass);
    EXPECT_TRUE(names.is_true("ran == [None]"));
    EXPECT_EQ(verdict("any_of(())", "None"), Verdict::fail);
    EXPECT_FALSE(PyErr_Occurred());
}

TEST_F(InnerKindsTest, print_as_python_and_as_calls) {
    EXPECT_EQ(python("not_(('type_match', int))"), "not (type(x) is int)");
    EXPECT_EQ(python("any_of((('is_none',), ('type_match', int)))"),
              "(x is None or type(x) is int)");
    EXPECT_EQ(python("not_(('any_of', (('is_none',), ('not_', ('int_range', 0, 9)))))"),
              "not ((x is None or not (type(x) is int and 0 <= x <= 9)))");
    for (const char* call :
         {"not_(('is_none',))", "not_(('int_range', 0, 9))",
          "any_of((('is_none',), ('equals', (1, 'a'))))", "any_of(())",
          "any_of((('not_', ('not_', ('is_true',))),))", "not_(('has_attr', 'a b'))"}) {
        EXPECT_EQ(call_text(Guards(names).op(call)), call);
    }
}

TEST_F(InnerKindsTest, are_the_same_by_what_they_ask) {
    Guards guards(names);
    const auto same = [&](const char* a, const char* b) {
        const Op first = guards.op(a);
        const Op second = guards.op(b);
        if (same_op(first, second)) {
            EXPECT_EQ(hash_op(first), hash_op(second));
        }
        return same_op(first, second);
    };
    EXPECT_TRUE(same("not_(('equals', 1))", "not_(('equals', 1))"));
    EXPECT_FALSE(same("not_(('equals', 1))", "not_(('equals', True))"));
    EXPECT_FALSE(same("any_of((('is_none',),))", "any_of(())"));
    EXPECT_FALSE(same("any_of((('is_none',), ('is_true',)))",
                      "any_of((('is_true',), ('is_none',)))"));
}

TEST_F(InnerKindsTest, objects_for_introspection_are_what_was_given) {
    Guards guards(names);
    const Op op = guards.op("not_(('any_of', (('is_none',), ('int_range', 0, 9))))");
    names.set("given", object_of(op.as<Not>().kind).get());
    EXPECT_TRUE(
        names.is_true("given == ('any_of', (('is_none',), ('int_range', 0, 9)))"));
}

TEST_F(InnerKindsTest, what_is_no_kind_is_refused) {
    EXPECT_EQ(refusal("not_(('attr', 'a'))"),
              "not_(kind): there is no kind called 'attr'");
    EXPECT_EQ(refusal("not_(('type_match', 3))"),
              "not_(kind): type_match(expected): expected a type, found 3 (int)");
    EXPECT_EQ(refusal("not_(('is_none', 1))"),
              "not_(kind): is_none takes 0 operand(s), 1 given");
    for (const char* call : {"not_(())", "not_('is_none')", "not_((1,))", "not_(None)",
                             "any_of(('is_none',))", "any_of(3)", "any_of([])"}) {
        EXPECT_NE(refusal(call), "accepted") << call;
    }
}

TEST_F(InnerKindsTest, deep_nesting_is_refused) {
    EXPECT_EQ(verdict("not_(nest(31))", "None"), Verdict::pass);
    EXPECT_NE(refusal("not_(nest(32))").find("kinds nest at most 32 deep"),
              std::string::npos);
    EXPECT_NE(refusal("not_(nest(100000))").find("kinds nest at most 32 deep"),
              std::string::npos);
    EXPECT_EQ(refusal("not_(nest(31))"), "accepted") << "the count starts anew";
}

TEST_F(InnerKindsTest, operands_live_and_die_with_the_tree) {
    names.run("t = tuple([object()])");
    const Owned<> held = names.eval("t");
    const Py_ssize_t before = Py_REFCNT(held.get());
    {
        Guards guards(names);
        guards.guard({"local('x')", "not_(('not_', ('id_match', t)))"});
        EXPECT_EQ(Py_REFCNT(held.get()), before + 1);
        EXPECT_EQ(guards.verdict("{'x': t}"), Verdict::pass);
    }
    EXPECT_EQ(Py_REFCNT(held.get()), before);
}

int odd_context(PyObject*, void* context) {
    return *static_cast<const int*>(context);
}

PyObject* nothing(PyObject*, void*) {
    return nullptr;
}

PyObject* raising(PyObject*, void*) {
    PyErr_SetString(PyExc_ValueError, "why");
    return nullptr;
}

class NativeTest : public InnerKindsTest {
protected:
    template <class Function>
    Owned<> capsule(Function* function, const char* name) {
        return Owned<>::steal(
            PyCapsule_New(reinterpret_cast<void*>(function), name, nullptr));
    }
};

TEST_F(NativeTest, the_function_gets_the_capsules_context) {
    int answer = 1;
    const Owned<> made = capsule(odd_context, NativeCheck::name);
    PyCapsule_SetContext(made.get(), &answer);
    names.set("check", made.get());
    EXPECT_EQ(verdict("native(check)", "1"), Verdict::pass);
    answer = 0;
    EXPECT_EQ(verdict("native(check)", "1"), Verdict::fail);
    answer = -1;
    Guards guards(names);
    guards.guard({"local('x')", "native(check)"});
    EXPECT_EQ(guards.verdict("{'x': 1}"), Verdict::error);
    ASSERT_TRUE(guards.error);
    EXPECT_EQ(as_object(Py_TYPE(guards.error.get())), PyExc_SystemError);
    EXPECT_FALSE(PyErr_Occurred());
}

TEST_F(NativeTest, null_is_nothing_and_an_exception_an_error) {
    names.set("nothing", capsule(nothing, NativeGetter::name).get());
    names.set("raising", capsule(raising, NativeGetter::name).get());
    Guards guards(names);
    guards.guard({"local('x')", "native_get(nothing)", "is_none()"});
    EXPECT_EQ(guards.verdict("{'x': 1}"), Verdict::fail);
    Guards other(names);
    other.guard({"local('x')", "native_get(raising)", "is_none()"});
    EXPECT_EQ(other.verdict("{'x': 1}"), Verdict::error);
    EXPECT_FALSE(PyErr_Occurred());
}

TEST_F(NativeTest, a_capsule_of_another_name_is_refused) {
    names.set("other", capsule(nothing, "other").get());
    names.set("getter", capsule(nothing, NativeGetter::name).get());
    EXPECT_NE(refusal("native(other)").find("guardtree.native_check"),
              std::string::npos);
    EXPECT_NE(refusal("native(getter)"), "accepted");
    EXPECT_NE(refusal("native(len)"), "accepted");
    EXPECT_EQ(refusal("native_get(getter)"), "accepted");
}

}  // namespace
}  // namespace guardtree::tests
