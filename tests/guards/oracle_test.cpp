// Trees evaluated by guardtree and, as printed, by plain Python: every answer agrees.
// SPDX-License-Identifier: MIT
#include "../support/oracle.h"

#include <gtest/gtest.h>

namespace guardtree::tests {
namespace {

TEST_F(Oracle, agrees_on_every_kind_with_every_operand_on_every_value) {
    for (const std::string& kind : all_kinds()) {
        Guards guards(names);
        guards.guard({"local('x')", kind});
        const Printed tree = printed(guards);
        for (Py_ssize_t i = 0; i < value_count; ++i) {
            expect_agreement(guards, tree, locals({value(i)}).get());
            if (HasFatalFailure()) return;
        }
        expect_agreement(guards, locals({}).get());
    }
}

TEST_F(Oracle, agrees_on_every_step_with_every_operand_on_every_value) {
    for (const std::string& step : all_value_steps()) {
        for (const char* kind : {"is_not_none()", "type_match(int)", "equals('a')"}) {
            Guards guards(names);
            guards.guard({"local('x')", step, kind});
            const Printed tree = printed(guards);
            for (Py_ssize_t i = 0; i < value_count; ++i) {
                expect_agreement(guards, tree, locals({value(i)}).get());
                if (HasFatalFailure()) return;
            }
        }
    }
}

TEST_F(Oracle, agrees_on_every_pair_of_steps) {
    const std::vector<std::string> steps = all_value_steps(4);
    const Owned<> values = names.eval(
        "[user, other, [[1], [2, 3]], {'a': {'a': 2}, 1: [1]}, ((1,), 'ab'), "
        "Missing(b=2),"
        " KeepsLen([7, [8]]), properties, {1: 'a', 'b': {'a': 2}}, inner, Named,"
        " iter(((1, 2), [3])), user.method, weakref.ref(user), {(1, 2)}, slotted]");
    for (const std::string& outer : steps) {
        for (const std::string& inner : steps) {
            Guards guards(names);
            guards.guard({"local('x')", outer, inner, "is_not_none()"});
            const Printed tree = printed(guards);
            for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values.get()); ++i) {
                expect_agreement(guards, tree,
                                 locals({PyList_GET_ITEM(values.get(), i)}).get());
                if (HasFatalFailure()) return;
            }
        }
    }
}

TEST_F(Oracle, agrees_that_a_path_is_fetched_once) {
    names.run(
        "class Makes:\n"
        "  made = property(lambda self: Makes())\n"
        "  itself = property(lambda self: self)");
    const Owned<> subject = locals({names.eval("Makes()").get()});
    for (const char* step : {"attr('itself')", "generic_attr('itself')"}) {
        Guards guards(names);
        guards.relate("distinct_objects()", {{"local('x')", "attr('made')"},
                                             {"local('x')", "attr('made')", step}});
        EXPECT_EQ(guards.verdict(subject.get()), Verdict::fail);
        expect_agreement(guards, subject.get());
    }
}

TEST_F(Oracle, agrees_on_a_key_too_long_for_decimal_digits) {
    Guards guards(names);
    guards.guard({"local('x')", "dict_item(1 << 20000)", "is_none()"});
    expect_agreement(guards, locals({names.eval("{}").get()}).get());
    const Owned<> subject = locals({names.eval("{1 << 20000: None}").get()});
    EXPECT_EQ(guards.verdict(subject.get()), Verdict::pass);
    expect_agreement(guards, subject.get());
}

}  // namespace
}  // namespace guardtree::tests
