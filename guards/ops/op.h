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

/// Every kind, every step and every relation: what has operands and is bound.
#define GUARDTREE_OPS(X) GUARDTREE_KINDS(X) GUARDTREE_STEPS(X) GUARDTREE_RELATIONS(X)

/// What an op does.
enum class OpCode : uint16_t {
#define X(type, stem) type,
    GUARDTREE_OPS(X)
#undef X
    // The compiler's own, which no tree has.
    ItemBlock,      ///< item_block.h
    NameBlock,      ///< name_block.h
    Assumption,     ///< assumptions/assumption.h
    AssumptionEnd,  ///< behind the ops that an assumption speaks for
    Done,           ///< behind all others
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

/// Made by the compiler; the ops that it speaks for follow (or precede) it.
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

/// 32 bytes. Sources and destinations are indices into the walk's values, except that
/// an op that is_from_local reads its source straight from the view's raw slot:
/// fetching a local is an addressing mode, not an op (bench `evaluate`: 1.5 ns per
/// guard less).
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

    /// An Assumption, an AssumptionEnd, or Done, which is of none.
    Op(OpCode code, Assumption* of) noexcept
        : dispatch_code_(static_cast<uint16_t>(static_cast<unsigned>(code) * 2)) {
        new (payload_) Assumption*(of);
    }

    OpCode code() const noexcept { return static_cast<OpCode>(dispatch_code_ >> 1); }

    /// What the walk jumps by: the code, twice, for both addressing modes.
    unsigned dispatch_code() const noexcept { return dispatch_code_; }

    bool is_from_local() const noexcept { return dispatch_code_ & 1; }

    /// Makes the op read a slot of the view; its source is the slot's number then.
    void read_local(uint16_t slot) noexcept {
        dispatch_code_ |= 1;
        source = slot;
    }

    /// Makes an assumption, or its end, start at the value that is its source.
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

    /// Of any op, by address: as<T>() where T is not at hand.
    const void* operands() const noexcept { return payload_; }

    const ItemBlockOperands& item_block() const noexcept {
        return *std::launder(reinterpret_cast<const ItemBlockOperands*>(payload_));
    }

    const NameBlockOperands& name_block() const noexcept {
        return *std::launder(reinterpret_cast<const NameBlockOperands*>(payload_));
    }

    /// The program's, which an assumption or its end is about.
    Assumption& assumption() const noexcept {
        return **std::launder(reinterpret_cast<Assumption* const*>(payload_));
    }

private:
    uint16_t dispatch_code_ = 0;

public:
    uint16_t source = 0;  ///< value index, or slot number when is_from_local
    uint16_t destination =
        0;  ///< steps: where the fetched value goes; relations: scratch
    /// What a RememberingStep remembers; relations: how many values; assumptions:
    /// whether they start at a value.
    mutable uint16_t place = 0;
    /// Steps: the ops that need the value it fetches, which explain jumps. Blocks
    /// and assumptions: the ops that it speaks for, behind it; ends of assumptions:
    /// before it. Relations: the first of its sources.
    uint32_t skip : 31 = 0;
    /// Remembering steps: others read the same object for their names.
    uint32_t is_shared : 1 = 0;
    /// The tree's: node of a step, check of a kind, number of a relation.
    uint32_t id = 0;

private:
    alignas(8) std::byte payload_[op_payload_size] = {};
};

static_assert(sizeof(Op) == 32 && std::is_trivially_copyable_v<Op>,
              "two ops to a cache line");

/// Calls `visit` with the concrete kind or step. Cold: for building, printing, binding.
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

/// A path from the texts of its steps, the last step first: `text_of(step, value)` says
/// what a step is over a value, and has the value once. `start` is what the first step
/// is over. Linear in the text that is made.
template <class TextOf>
std::string nested_text(std::span<const Op* const> steps, std::string start,
                        TextOf text_of) {
    static constexpr std::string_view mark = "\x01";  // in no Python text
    std::string before;
    std::vector<std::string> behind;
    for (const Op* step : steps) {
        std::string text = text_of(*step, std::string(mark));
        const size_t place = text.find(mark);
        if (place == text.npos) {  // a root: nothing is before it
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

/// Words of a text, and what stands for each.
using WordTexts = std::vector<std::pair<std::string_view, std::string>>;

/// `pattern` with whole words replaced; string literals stay.
std::string fill_words(std::string_view pattern, const WordTexts& words);

/// Whether a name is the same alone and behind a dot as in quotes: no keyword, and no
/// identifier that Python's parser may spell anew (those beyond ASCII).
bool is_plain_name(PyObject* name);

/// The op as the call that makes it: "type_match(int)".
std::string call_text(const Op& op);

/// A relation in Python, over the paths of its values.
std::string relation_text(const Op& relation, std::span<const std::string> paths);

/// Why a relation cannot take `count` values; empty when it can.
std::string arity_problem(const Op& relation, size_t count);

/// The one exact type of what passes; null where a kind does not tell. Cold.
PyTypeObject* exact_type_of(const Op& kind) noexcept;

/// The kinds that a kind is made of; of others, empty.
std::span<const Op> inner_kinds_of(const Op& kind) noexcept;

/// What a table finds entries with this kind by: empty when it says nothing. Cold.
std::vector<Keys> keys_of(const Op& kind);

/// True for a step that starts a path.
bool is_root_step(const Op& op) noexcept;

/// False when an operand is an object that has died: the op can never pass again.
bool is_alive(const Op& op) noexcept;

/// "equals(expected): ", before what is wrong with an operand.
inline std::string operand_place(std::string_view op, std::string_view operand) {
    return std::string(op) + "(" + std::string(operand) + "): ";
}

/// Reads the operands of a `T` from Python `arguments`, in order. What they refer to is
/// added to `keep`.
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
