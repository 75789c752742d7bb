// The concepts of kinds and steps refuse what would be unsound; compiling is the test.
// SPDX-License-Identifier: MIT
#include "../../guards/concepts/kind.h"

#include <gtest/gtest.h>

#include "../../guards/ops/op.h"

namespace guardtree::tests {
namespace {

struct Fine {
    static constexpr Info info{.name = "fine", .summary = "", .python = "True"};
    static constexpr Example examples[] = {{"", "1", "2"}};

    static constexpr auto operands() { return std::tuple{}; }

    bool check(PyObject*) const noexcept { return true; }
};

static_assert(GuardKind<Fine> && !GuardStep<Fine>);

struct MayThrow : Fine {
    bool check(PyObject*) const { return true; }
};

static_assert(!GuardKind<MayThrow>, "a check is noexcept");

struct Mutates : Fine {
    bool check(PyObject*) noexcept { return true; }
};

static_assert(!GuardKind<Mutates>, "a check is const");

struct HasErrors : Fine {
    Verdict check(PyObject*) const noexcept { return Verdict::error; }
};

static_assert(!GuardKind<HasErrors>, "only kinds that say calls_python can be errors");

struct SaysSo : HasErrors {
    static constexpr Info info{
        .name = "says_so", .summary = "", .python = "True", .calls_python = true};
};

static_assert(GuardKind<SaysSo>);

struct TooLarge : Fine {
    char payload[op_payload_size + 1] = {};
};

static_assert(!GuardKind<TooLarge>, "operands fit in an op");

struct OwnsSomething : Fine {
    Owned<> object;
};

static_assert(!GuardKind<OwnsSomething>, "a kind is trivially copyable");

struct NoExample {
    static constexpr Info info = Fine::info;

    static constexpr auto operands() { return std::tuple{}; }

    bool check(PyObject*) const noexcept { return true; }
};

static_assert(!GuardKind<NoExample>, "a kind has an example");

struct RawResult : Fine {
    PyObject* get(PyObject*) const noexcept { return nullptr; }
};

static_assert(!GuardStep<RawResult>, "a step says whether its result is owned");

static_assert(RootStep<Local> && !ValueStep<Local>);
static_assert(ValueStep<ListItem> && !RootStep<ListItem>);
static_assert(BindsToCode<Local> && BindsToCode<Closure> && !BindsToCode<Global>);
static_assert(returns_owned<Attr> && returns_owned<Item>);
static_assert(!returns_owned<ListItem> && !returns_owned<Local>);
static_assert(sizeof(Op) == 32 && std::is_trivially_copyable_v<Op>);

TEST(Kind, the_concepts_hold_at_compile_time) {
    SUCCEED();
}

}  // namespace
}  // namespace guardtree::tests
