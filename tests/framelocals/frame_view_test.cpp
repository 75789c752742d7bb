// Views of real frames before their first instruction.
// SPDX-License-Identifier: MIT
#include <Python.h>

#include <gtest/gtest.h>

#include "../../framelocals/views/view.h"
#include "../support/allocations.h"
#include "../support/frames.h"
#include "../support/interpreter.h"
#include "../support/python.h"

namespace guardtree::tests {
namespace {

class FrameViewTest : public Interpreter {
protected:
    /// Calls `f` as defined by `text` and shows its frame.
    void look(const std::string& text, const std::string& arguments,
              const std::function<void(const View&)>& at) {
        names.run(text);
        bool seen = false;
        call_viewed(names.eval("f").get(), names.eval(arguments).get(),
                    [&](const View& view) {
                        seen = true;
                        at(view);
                    });
        EXPECT_TRUE(seen);
    }

    Namespace names;
};

TEST_F(FrameViewTest, arguments_are_in_their_slots_and_locals_unbound) {
    look("def f(a, *rest, k=5, **more): local = a; return local", "(1, 2)",
         [&](const View& view) {
             EXPECT_EQ(PyLong_AsLong(view.local(0).get()), 1);
             EXPECT_EQ(PyLong_AsLong(view.local(1).get()), 5);
             EXPECT_EQ(PyTuple_Size(view.local(2).get()), 1);
             EXPECT_EQ(PyDict_Size(view.local(3).get()), 0);
             EXPECT_FALSE(view.local(4));
         });
}

TEST_F(FrameViewTest, a_cell_argument_is_still_raw_and_a_free_variable_is_its_content) {
    look(
        "def g(free):\n  def f(x): return (lambda: (x, free))\n  return f\nf = "
        "g('free')",
        "('raw',)", [&](const View& view) {
            EXPECT_EQ(text_of_str(view.local(0).get()), "raw");
            EXPECT_EQ(text_of_str(view.free_variable(0).get()), "free");
        });
}

TEST_F(FrameViewTest, knows_code_function_globals_and_builtins) {
    look("def f(): pass", "()", [&](const View& view) {
        EXPECT_EQ(as_object(view.code().get()), names.eval("f.__code__").get());
        EXPECT_EQ(view.function().get(), names.eval("f").get());
        EXPECT_EQ(view.globals().get(), names.dict());
        EXPECT_EQ(view.builtins().get(), Namespace::builtins());
        EXPECT_FALSE(view.closure());
    });
}

TEST_F(FrameViewTest, reading_slots_allocates_nothing_and_counts_no_reference) {
    look("def f(x, y): pass", "([], {})", [&](const View& view) {
        const Py_ssize_t before = Py_REFCNT(view.local(0).get());
        const Allocations made = allocations_of([&] {
            for (int i = 0; i < 2; ++i) static_cast<void>(view.value(i));
        });
        EXPECT_EQ(made.all(), 0u);
        EXPECT_EQ(Py_REFCNT(view.local(0).get()), before);
        EXPECT_EQ(view.dicts_built(), 0);
    });
}

TEST_F(FrameViewTest, the_dict_of_locals_is_built_once_and_counted) {
    const uint64_t before = dicts_built();
    look("def f(x, y=2): z = 1", "(1,)", [&](const View& view) {
        const Borrowed<> first = view.f_locals();
        EXPECT_EQ(view.f_locals(), first);
        EXPECT_EQ(view.dicts_built(), 1);
        names.set("seen", first.get());
    });
    EXPECT_EQ(dicts_built(), before + 1);
    EXPECT_TRUE(names.is_true("seen == {'x': 1, 'y': 2}"));
}

}  // namespace
}  // namespace guardtree::tests
