// The JSON form of operands, by their type. For the writer and the reader.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../framelocals/no_memory.h"
#include "../../guards/ops/op.h"

#include "reader.h"

namespace guardtree {

/// How the writer writes an operand, and what the reader expects.
enum class JsonShape : uint8_t {
    constant,    ///< a value
    expression,  ///< the text of an integer expression
    reference,   ///< null, true, false, Ellipsis or a ref
    type,        ///< a ref to a type
    function,    ///< a ref to a function written in Python
    variable,    ///< a ref to a ContextVar
    kind,        ///< a check without a note
    kinds,       ///< a list of such checks
    facts,       ///< tensor facts by name; "type" is a ref
    code,        ///< no JSON form: a callable, a C function
    state,       ///< no JSON form: an object in an earlier state
};

/// The maximum length of an integer expression. Compiling one recurses over its terms,
/// so its length must be limited.
inline constexpr Py_ssize_t longest_json_expression = 4096;

/// The shapes of the operands of a kind, step or relation, in order.
std::span<const JsonShape> json_shapes(OpCode code);

/// A list of operands (from operand_objects) in the canonical form. If `reason` is set
/// ("its expected is ..."), one of them has no JSON form and the result is meaningless.
/// Runs no user code.
std::string json_operands(OpCode code, std::span<PyObject* const> objects,
                          std::string& reason);

/// An exact str as JSON. Empty if there is no memory.
std::string json_text(PyObject* text);

/// A list of texts: "[a,b]".
std::string json_list(const std::vector<std::string>& items, char open = '[',
                      char close = ']');

/// A text in quotes. It must not need escapes.
inline std::string json_quoted(std::string_view text) {
    return "\"" + std::string(text) + "\"";
}

/// The position of the reader, the problem that stopped it, and the cost so far.
class JsonProgress {
public:
    JsonProgress(const JsonReading& how, Diagnostic& to) : reading(how), problem(to) {}

    /// Adds to the reader's position during its lifetime: ".checks", and the index of a
    /// check.
    class At {
    public:
        At(JsonProgress& progress, std::string_view name)
            : where_(progress.where_), size_(where_.size()) {
            where_ += name;
        }

        At(JsonProgress& progress, std::string_view name, Py_ssize_t index)
            : At(progress, name) {
            where_ += "[" + std::to_string(index) + "]";
        }

        ~At() { where_.resize(size_); }

        At(const At&) = delete;
        At& operator=(const At&) = delete;

    private:
        std::string& where_;
        size_t size_;
    };

    // Each of these fills `problem` and returns false.
    bool refuse(const std::string& text);
    bool refuse_found(const std::string& expected, PyObject* found);

    /// Adds the position to a `problem` that another function filled.
    bool refuse_problem();

    /// For a CPython call that failed. An exception that must reach the program
    /// (KeyboardInterrupt, MemoryError) is kept in `raised`, and `problem` stays empty.
    bool refuse_raised(const std::string& what);

    /// Keeps any pending exception in `raised`.
    bool keep_raised();

    /// Counts work that is not linear in the text. Returns false if it exceeds the
    /// limit.
    bool spend(uint64_t cost);

    uint64_t spent() const noexcept { return spent_; }

    const JsonReading& reading;
    Diagnostic& problem;
    Owned<> raised;

private:
    std::string where_;
    uint64_t spent_ = 0;
};

/// Converts JSON operands to objects that make_op accepts.
class JsonOperandReader {
public:
    explicit JsonOperandReader(JsonProgress& progress) noexcept : progress_(progress) {}

    bool read(OpCode code, PyObject* list, std::vector<Owned<>>& to);

    /// The value if it is a str, otherwise null.
    Owned<> text(PyObject* value);

private:
    struct Tag;
    using Items = std::vector<Owned<>>;

    Owned<> operand(JsonShape shape, PyObject* value);
    Owned<> expression(PyObject* value);
    Owned<> reference(JsonShape shape, PyObject* value);
    Owned<> find(PyObject* name);
    Owned<> kind(PyObject* value);
    Owned<> kinds(PyObject* value);
    Owned<> facts(PyObject* value);

    Owned<> constant(PyObject* value, unsigned depth);
    Owned<> small_int(PyObject* value);
    Owned<> tagged(PyObject* value, unsigned depth);
    bool items(PyObject* body, unsigned depth, Items& to);
    bool spend_on_key(PyObject* key, Py_ssize_t others);

    // Each reads the value of an object with that one key.
    Owned<> of_int(PyObject* body, unsigned);
    Owned<> of_float(PyObject* body, unsigned);
    Owned<> of_float_bits(PyObject* body, unsigned);
    Owned<> of_complex(PyObject* body, unsigned depth);
    Owned<> of_bytes(PyObject* body, unsigned);
    Owned<> of_str(PyObject* body, unsigned);
    Owned<> of_ellipsis(PyObject* body, unsigned);
    Owned<> of_tuple(PyObject* body, unsigned depth);
    Owned<> of_list(PyObject* body, unsigned depth);
    Owned<> of_set(PyObject* body, unsigned depth);
    Owned<> of_frozenset(PyObject* body, unsigned depth);
    Owned<> of_dict(PyObject* body, unsigned depth);
    Owned<> of_range(PyObject* body, unsigned depth);
    Owned<> set_of(PyObject* body, unsigned depth, Owned<> made);

    /// Decodes a text of hexadecimal digits to bytes.
    bool hex(PyObject* body, std::string& to);

    Owned<> refused(const std::string& text);
    Owned<> refused_found(const std::string& expected, PyObject* found);
    Owned<> refused_raised(const std::string& what);

    JsonProgress& progress_;
    unsigned kinds_deep_ = 0;
};

/// The value of a key of an object, or null.
inline PyObject* json_member(PyObject* object, const char* key) {
    return item_by_name(object, key);
}

/// Requires an object with exactly these keys, plus an optional "note" if
/// `may_have_note`.
bool demand_json_keys(JsonProgress& progress, PyObject* object,
                      std::initializer_list<const char*> keys,
                      bool may_have_note = false);

}  // namespace guardtree
