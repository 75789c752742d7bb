// One instruction of a program: a kind, a step or a relation with its operands,
// trivially copyable.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../framelocals/compiler.h"

#include "item_block.h"
#include "kinds.gen.h"
#include "name_block.h"
#include "relations.gen.h"
#include "steps.gen.h"

namespace guardtree {

class Assumption;

/// Every kind, step and relation. They have operands, and Python has a method for each.
#define GUARDTREE_OPS(X) GUARDTREE_KINDS(X) GUARDTREE_STEPS(X) GUARDTREE_RELATIONS(X)

/// What an op does.
enum class OpCode : uint16_t {
#define X(type, stem) type,
    GUARDTREE_OPS(X)
#undef X
    // Ops that only the compiler adds; no tree contains them.
    ItemBlock,      ///< item_block.h
    NameBlock,      ///< name_block.h
    RelationBlock,  ///< before relations that one joined relation decides
    Assumption,     ///< assumptions/assumption.h
    AssumptionEnd,  ///< after the ops that an assumption covers
    Done,           ///< after all other ops
};

inline constexpr uint16_t kind_count = 0
#define X(type, stem) +1
    GUARDTREE_KINDS(X)
#undef X
    ;

inline constexpr uint16_t step_count = 0
#define X(type, stem) +1
    GUARDTREE_STEPS(X)
#undef X
    ;

inline constexpr const Info* op_infos[] = {
#define X(type, stem) &type::info,
    GUARDTREE_OPS(X)
#undef X
};

constexpr bool is_kind(OpCode code) noexcept {
    return static_cast<uint16_t>(code) < kind_count;
}

constexpr bool is_step(OpCode code) noexcept {
    return static_cast<uint16_t>(static_cast<uint16_t>(code) - kind_count) < step_count;
}

/// An op that the compiler added. The ops that it covers follow it, or precede an
/// AssumptionEnd.
constexpr bool is_internal(OpCode code) noexcept {
    return code >= OpCode::ItemBlock;
}

constexpr bool is_relation(OpCode code) noexcept {
    return static_cast<uint16_t>(code) >= kind_count + step_count && !is_internal(code);
}

template <class T>
inline constexpr OpCode code_of = OpCode{};

#define GUARDTREE_NAMED(Concept, folder, type, stem)                                  \
    static_assert(Concept<type>, "guards/" folder "/" #stem ".h: " #type              \
                                 " does not satisfy " #Concept                        \
                                 " (guards/concepts/kind.h)");                        \
    static_assert(type::info.name == #stem,                                           \
                  "guards/" folder "/" #stem ".h: info.name must equal the file's "); \
    template <>                                                                       \
    inline constexpr OpCode code_of<type> = OpCode::type;
#define GUARDTREE_KIND(type, stem) GUARDTREE_NAMED(GuardKind, "kinds", type, stem)
#define GUARDTREE_STEP(type, stem) GUARDTREE_NAMED(GuardStep, "steps", type, stem)
#define GUARDTREE_RELATION(type, stem) \
    GUARDTREE_NAMED(GuardRelation, "relations", type, stem)
GUARDTREE_KINDS(GUARDTREE_KIND)
GUARDTREE_STEPS(GUARDTREE_STEP)
GUARDTREE_RELATIONS(GUARDTREE_RELATION)
#undef GUARDTREE_KIND
#undef GUARDTREE_STEP
#undef GUARDTREE_RELATION
#undef GUARDTREE_NAMED

/// An instruction of 32 bytes. Sources and destinations are indices into the walk's
/// values. If is_from_local is true, the op reads its source directly from a raw slot
/// of the view instead. Fetching a local is an addressing mode, not an op, which saves
/// 1.5 ns per guard (bench `evaluate`).
class Op {
public:
    Op() noexcept = default;

    template <Described T>
    explicit Op(const T& operands) noexcept
        : dispatch_code_(static_cast<uint16_t>(static_cast<unsigned>(code_of<T>) * 2)) {
        new (payload_) T(operands);
    }

    explicit Op(const ItemBlockOperands& operands) noexcept
        : dispatch_code_(static_cast<uint16_t>(OpCode::ItemBlock) * 2) {
        new (payload_) ItemBlockOperands(operands);
    }

    explicit Op(const NameBlockOperands& operands) noexcept
        : dispatch_code_(static_cast<uint16_t>(OpCode::NameBlock) * 2) {
        new (payload_) NameBlockOperands(operands);
    }

    /// A RelationBlock of the program's joined relation `number`.
    static Op relation_block(size_t number) noexcept {
        Op made(OpCode::RelationBlock, nullptr);
        made.id = static_cast<uint32_t>(number);
        return made;
    }

    /// An Assumption or AssumptionEnd of `of`, or Done, whose `of` is null.
    Op(OpCode code, Assumption* of) noexcept
        : dispatch_code_(static_cast<uint16_t>(static_cast<unsigned>(code) * 2)) {
        new (payload_) Assumption*(of);
    }

    OpCode code() const noexcept { return static_cast<OpCode>(dispatch_code_ >> 1); }

    /// The index of the walk's jump table: two entries per code, one for each
    /// addressing mode.
    unsigned dispatch_code() const noexcept { return dispatch_code_; }

    bool is_from_local() const noexcept { return dispatch_code_ & 1; }

    /// Makes the op read a slot of the view. `source` is then the number of the slot.
    void read_local(uint16_t slot) noexcept {
        dispatch_code_ |= 1;
        source = slot;
    }

    /// Makes an Assumption or AssumptionEnd start at the value in `source`.
    void set_start_at_value() noexcept { place = 1; }

    bool starts_at_value() const noexcept { return place != 0; }

    void set_skip(size_t ops) noexcept { skip = ops & 0x7fffffff; }

    bool is_kind() const noexcept { return guardtree::is_kind(code()); }

    bool is_step() const noexcept { return guardtree::is_step(code()); }

    bool is_relation() const noexcept { return guardtree::is_relation(code()); }

    bool is_internal() const noexcept { return guardtree::is_internal(code()); }

    const Info& info() const noexcept {
        return *op_infos[static_cast<uint16_t>(code())];
    }

    template <Described T>
    const T& as() const noexcept {
        return *std::launder(reinterpret_cast<const T*>(payload_));
    }

    template <Described T>
    T& as() noexcept {
        return *std::launder(reinterpret_cast<T*>(payload_));
    }

    /// The address of the operands of any op, for callers that do not know T.
    const void* operands() const noexcept { return payload_; }

    const ItemBlockOperands& item_block() const noexcept {
        return *std::launder(reinterpret_cast<const ItemBlockOperands*>(payload_));
    }

    const NameBlockOperands& name_block() const noexcept {
        return *std::launder(reinterpret_cast<const NameBlockOperands*>(payload_));
    }

    /// The program's assumption that an Assumption or AssumptionEnd refers to.
    Assumption& assumption() const noexcept {
        return **std::launder(reinterpret_cast<Assumption* const*>(payload_));
    }

private:
    uint16_t dispatch_code_ = 0;

public:
    uint16_t source = 0;  ///< value index, or slot number when is_from_local
    uint16_t destination =
        0;  ///< steps: where the fetched value goes; relations: scratch
    /// RememberingStep: where it found its value. Relations: the number of values.
    /// Assumptions: whether they start at a value.
    mutable uint16_t place = 0;
    /// Steps: the number of following ops that need the fetched value; explain skips
    /// them. Blocks and assumptions: the number of following ops that they cover. Ends
    /// of assumptions: the number of preceding ops. Relations: the index of the first
    /// source.
    uint32_t skip : 31 = 0;
    /// Remembering steps: other steps look up names in the same object.
    uint32_t is_shared : 1 = 0;
    /// The id in the tree: node of a step, check of a kind, number of a relation. Of a
    /// RelationBlock the number of its joined relation.
    uint32_t id = 0;

private:
    alignas(8) std::byte payload_[op_payload_size] = {};
};

/// A RelationBlock gathers the values of its joined relation on the stack.
inline constexpr size_t max_joined_values = 64;

static_assert(sizeof(Op) == 32 && std::is_trivially_copyable_v<Op>,
              "two ops to a cache line");

/// Calls `visit` with the concrete kind, step or relation. For building, printing and
/// binding, not for the walk.
template <class Visitor>
decltype(auto) dispatch(const Op& op, Visitor&& visit) {
    switch (op.code()) {
#define X(type, stem) \
    case OpCode::type: return visit(op.as<type>());
        GUARDTREE_OPS(X)
#undef X
    default: break;
    }
    unreachable();
}

/// The same code and the same operands.
bool same_op(const Op& a, const Op& b) noexcept;

/// Agrees with same_op.
size_t hash_op(const Op& op) noexcept;

/// The op in Python, over `value`: "x.training is True" for is_true on "x.training".
std::string python_text(const Op& op, const std::string& value);

/// The text of a path. `steps` starts with the last step. `text_of(step, value)`
/// returns the text of a step applied to `value`, which occurs in it once. `start` is
/// the text that the first step applies to. The time is linear in the length of the
/// result.
template <class TextOf>
std::string nested_text(std::span<const Op* const> steps, std::string start,
                        TextOf text_of) {
    static constexpr std::string_view mark = "\x01";  // does not occur in Python text
    std::string before;
    std::vector<std::string> behind;
    for (const Op* step : steps) {
        std::string text = text_of(*step, std::string(mark));
        const size_t place = text.find(mark);
        if (place == text.npos) {  // a root, which has no value before it
            start = std::move(text);
            break;
        }
        before.append(text, 0, place);
        behind.push_back(text.substr(place + mark.size()));
    }
    before += start;
    for (size_t i = behind.size(); i-- > 0;) before += behind[i];
    return before;
}

/// Words of a text, each with its replacement.
using WordTexts = std::vector<std::pair<std::string_view, std::string>>;

/// Replaces whole words in `pattern`, except inside string literals.
std::string fill_words(std::string_view pattern, const WordTexts& words);

/// Whether a name can be written without quotes, on its own and after a dot. It must
/// not be a keyword or an identifier that Python's parser may normalise (those beyond
/// ASCII).
bool is_plain_name(PyObject* name);

/// The op as the call that makes it: "type_match(int)".
std::string call_text(const Op& op);

/// A relation in Python, over the paths of its values.
std::string relation_text(const Op& relation, std::span<const std::string> paths);

/// Why a relation cannot take `count` values. Empty if it can.
std::string arity_problem(const Op& relation, size_t count);

/// The exact type of every value that passes. Null if the kind does not say. Not for
/// the walk.
PyTypeObject* exact_type_of(const Op& kind) noexcept;

/// The kinds that a kind contains. Empty for other kinds.
std::span<const Op> inner_kinds_of(const Op& kind) noexcept;

/// Whether one of the kinds that a kind contains may run user code. True for an op that
/// contains none.
bool inner_kinds_call_python(const Op& op) noexcept;

/// Whether an op may run user code. Inline, because building a tree asks this of each
/// op, and nearly all ops run none.
inline bool calls_python(const Op& op) noexcept {
    return op.info().calls_python && inner_kinds_call_python(op);
}

/// Whether an op is a step that returns a new reference.
bool makes_reference(const Op& op) noexcept;

/// Whether a step may reuse the place of a value that no op needs any more (kind.h).
bool may_take_over(const Op& op) noexcept;

/// The keys by which a table finds entries with this kind. Empty if the kind has none.
/// Not for the walk.
std::vector<Keys> keys_of(const Op& kind);

/// True for a step that starts a path.
bool is_root_step(const Op& op) noexcept;

/// False if an operand refers to an object that has died. The op can then never pass
/// again.
bool is_alive(const Op& op) noexcept;

/// "equals(expected): ", the start of a message about an operand.
inline std::string operand_place(std::string_view op, std::string_view operand) {
    return std::string(op) + "(" + std::string(operand) + "): ";
}

/// Reads the operands of a `T` from `arguments`, in order. Adds the objects that they
/// refer to to `keep`.
template <Described T>
bool read_operands(std::span<PyObject* const> arguments, T& to, References& keep,
                   Diagnostic& problem) {
    constexpr auto operands = T::operands();
    constexpr size_t wanted =
        std::tuple_size_v<std::remove_cvref_t<decltype(operands)>>;
    if (arguments.size() != wanted) {
        problem = {PyExc_TypeError, std::string(T::info.name) + " takes " +
                                        std::to_string(wanted) + " operand(s), " +
                                        std::to_string(arguments.size()) + " given"};
        return false;
    }
    return std::apply(
        [&](const auto&... each) {
            [[maybe_unused]] size_t i = 0;
            [[maybe_unused]] auto read = [&](const auto& one) {
                using Value = std::remove_cvref_t<decltype(to.*one.member)>;
                if (Value::read(arguments[i++], to.*one.member, keep, problem))
                    return true;
                problem.message =
                    operand_place(T::info.name, one.name) + problem.message;
                return false;
            };
            return (read(each) && ...);
        },
        operands);
}

}  // namespace guardtree
