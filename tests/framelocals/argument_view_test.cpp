// Views over argument vectors: bound as the callee itself binds them.
// SPDX-License-Identifier: MIT
#include <Python.h>

#include <gtest/gtest.h>

#include "../../framelocals/views/view.h"
#include "../support/allocations.h"
#include "../support/interpreter.h"
#include "../support/python.h"

namespace guardtree::tests {
namespace {

class ArgumentsViewTest : public Interpreter {
protected:
    /// Binds a call of `f` and compares with what `f` itself gets: `f` returns
    /// locals().
    void expect_like_the_call(const std::string& arguments,
                              const std::string& keywords) {
        SCOPED_TRACE("f(*" + arguments + ", **" + keywords + ")");
        const Owned<> positional = names.eval("tuple(" + arguments + ")");
        const Owned<> named = names.eval(keywords);
        const Owned<> names_tuple = Owned<>::steal(PySequence_Tuple(named.get()));
        std::vector<PyObject*> vector;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(positional.get()); ++i) {
            vector.push_back(PyTuple_GET_ITEM(positional.get(), i));
        }
        const size_t count = vector.size();
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names_tuple.get()); ++i) {
            vector.push_back(
                PyDict_GetItem(named.get(), PyTuple_GET_ITEM(names_tuple.get(), i)));
        }
        const Owned<> f = names.eval("f");
        auto* function = reinterpret_cast<PyFunctionObject*>(f.get());
        auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
        std::vector<SlotWord> storage(static_cast<size_t>(code->co_nlocalsplus));
        ArgumentsView view(function, storage);
        const bool fits =
            view.bind(vector.data(), count | PY_VECTORCALL_ARGUMENTS_OFFSET,
                      vector.size() > count ? names_tuple.get() : nullptr);
        EXPECT_FALSE(PyErr_Occurred());
        const auto expected =
            Owned<>::steal(PyObject_Call(f.get(), positional.get(), named.get()));
        if (!expected) {
            EXPECT_EQ(taken_error_text().rfind("TypeError", 0), 0u);
            EXPECT_FALSE(fits);
            return;
        }
        ASSERT_TRUE(fits);
        EXPECT_EQ(view.dicts_built(), 0);
        EXPECT_EQ(
            PyObject_RichCompareBool(view.f_locals().get(), expected.get(), Py_EQ), 1)
            << short_repr(view.f_locals().get()) << short_repr(expected.get());
    }

    static std::string short_repr(PyObject* object) {
        return text_of_str(Owned<>::steal(PyObject_Repr(object)).get());
    }

    Namespace names;
};

TEST_F(ArgumentsViewTest, binds_every_call_of_every_signature_as_the_callee_does) {
    for (const char* signature : {"",
                                  "a",
                                  "a, b",
                                  "a, b=2",
                                  "a=1, b=2",
                                  "a, /",
                                  "a, /, b",
                                  "a, b=2, /, c=3",
                                  "*, a",
                                  "*, a=1",
                                  "*, a, b=2",
                                  "a, *, b",
                                  "*rest",
                                  "a, *rest",
                                  "a=1, *rest, b=2",
                                  "**more",
                                  "a, /, **more",
                                  "a, **more",
                                  "a, *rest, b, **more",
                                  "*rest, **more",
                                  "a=1, /, b=2, *rest, c=3, d=4, **more"}) {
        SCOPED_TRACE(signature);
        names.run("def f(" + std::string(signature) + "): return locals()");
        for (const char* arguments : {"()", "(10,)", "(10, 20)", "(10, 20, 30, 40)"}) {
            for (const char* keywords :
                 {"{}", "{'a': 100}", "{'b': 200}", "{'b': 200, 'a': 100}",
                  "{'c': 300}", "{'rest': 1}", "{'more': 1}",
                  "{'d': 4, 'c': 5, 'zz': 6}"}) {
                expect_like_the_call(arguments, keywords);
            }
        }
    }
}

TEST_F(ArgumentsViewTest, binds_defaults_that_were_changed_on_the_function) {
    names.run(
        "def f(a, b=2, *, c=3): return locals()\n"
        "f.__defaults__ = (10, 20)\nf.__kwdefaults__ = None");
    expect_like_the_call("()", "{}");
    expect_like_the_call("()", "{'c': 1}");
    names.run("f.__defaults__ = (10, 20, 30, 40)");
    expect_like_the_call("()", "{'c': 1}");
}

TEST_F(ArgumentsViewTest, free_variables_and_cells_are_those_of_the_function) {
    names.run(
        "def g(free=7):\n  def f(a):\n    def h(): return a, free\n    return h\n"
        "  return f\nf = g()");
    const Owned<> f = names.eval("f");
    std::array<SlotWord, 4> storage{};
    ArgumentsView view(reinterpret_cast<PyFunctionObject*>(f.get()), storage);
    const Owned<> argument = names.eval("[1]");
    PyObject* const vector[] = {argument.get()};
    ASSERT_TRUE(view.bind(vector, 1, nullptr));
    EXPECT_EQ(view.local(0).get(), argument.get());
    EXPECT_EQ(PyLong_AsLong(view.free_variable(0).get()), 7);
    EXPECT_EQ(view.function().get(), f.get());
    EXPECT_EQ(view.globals().get(), names.dict());
}

TEST_F(ArgumentsViewTest, allocates_nothing_without_a_variable_signature) {
    names.run("def f(a, b=2, *, c=3): pass");
    const Owned<> f = names.eval("f");
    const Owned<> keywords = names.eval("('c',)");
    std::array<SlotWord, 3> storage{};
    PyObject* const vector[] = {Py_None, Py_True};
    bool fits = false;
    const Allocations made = allocations_of([&] {
        ArgumentsView view(reinterpret_cast<PyFunctionObject*>(f.get()), storage);
        fits = view.bind(vector, 1, keywords.get());
    });
    EXPECT_TRUE(fits);
    EXPECT_EQ(made.all(), 0u);
}

TEST_F(ArgumentsViewTest, releases_rest_and_keywords) {
    names.run("def f(*rest, **more): pass");
    const Owned<> f = names.eval("f");
    const Owned<> keywords = names.eval("('k',)");
    const Owned<> value = names.eval("['value']");
    const Py_ssize_t before = Py_REFCNT(value.get());
    {
        std::array<SlotWord, 2> storage{};
        ArgumentsView view(reinterpret_cast<PyFunctionObject*>(f.get()), storage);
        PyObject* const vector[] = {value.get(), value.get()};
        ASSERT_TRUE(view.bind(vector, 1, keywords.get()));
        EXPECT_EQ(Py_REFCNT(value.get()), before + 2);
    }
    EXPECT_EQ(Py_REFCNT(value.get()), before);
}

}  // namespace
}  // namespace guardtree::tests
