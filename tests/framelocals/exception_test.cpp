// Taking exceptions away and putting them back.
// SPDX-License-Identifier: MIT
#include "../../framelocals/exception.h"

#include <gtest/gtest.h>

#include "../support/interpreter.h"
#include "../support/python.h"

namespace guardtree::tests {
namespace {

class ExceptionTest : public Interpreter {
protected:
    void raise(const std::string& text) {
        names.run("def raises(): raise " + text);
        const auto result =
            Owned<>::steal(PyObject_CallNoArgs(names.eval("raises").get()));
        EXPECT_FALSE(result);
    }

    Namespace names;
};

TEST_F(ExceptionTest, nothing_is_taken_when_nothing_is_pending) {
    EXPECT_FALSE(take_exception());
    raise_taken({});
    EXPECT_FALSE(PyErr_Occurred());
}

TEST_F(ExceptionTest, a_taken_exception_is_an_instance_with_its_traceback) {
    raise("ValueError('why')");
    Owned<> taken = take_exception();
    EXPECT_FALSE(PyErr_Occurred());
    names.set("taken", taken.get());
    EXPECT_TRUE(names.is_true("type(taken) is ValueError and taken.args == ('why',)"));
    EXPECT_TRUE(
        names.is_true("taken.__traceback__.tb_frame.f_code.co_name == 'raises'"));
    names.run("taken = None");
    PyObject* object = taken.get();
    raise_taken(std::move(taken));
    EXPECT_EQ(take_exception().get(), object);
}

TEST_F(ExceptionTest, an_exception_set_as_type_and_text_is_made_an_instance) {
    PyErr_SetString(PyExc_KeyError, "text");
    const Owned<> taken = take_exception();
    EXPECT_TRUE(PyExceptionInstance_Check(taken.get()));
}

TEST_F(ExceptionTest, a_pause_hides_an_exception_and_brings_it_back) {
    raise("ValueError('kept')");
    {
        const ExceptionPause pause;
        EXPECT_FALSE(PyErr_Occurred());
        raise("TypeError('lost')");
        PyErr_Clear();
    }
    EXPECT_EQ(taken_error_text(), "ValueError: kept");
}

TEST_F(ExceptionTest, only_exceptions_that_are_a_guards_own_stay_with_it) {
    for (const char* text :
         {"ValueError", "RecursionError", "StopIteration", "OSError"}) {
        raise(text);
        EXPECT_FALSE(must_propagate()) << text;
        PyErr_Clear();
    }
    for (const char* text : {"KeyboardInterrupt", "SystemExit", "GeneratorExit",
                             "MemoryError", "type('M', (MemoryError,), {})"}) {
        raise(text);
        EXPECT_TRUE(must_propagate()) << text;
        PyErr_Clear();
    }
}

}  // namespace
}  // namespace guardtree::tests
