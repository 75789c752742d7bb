// Operands as JSON: how each is written, by its type. For the writer and the reader.
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

/// What the writer does with an operand, and what the reader expects there.
enum class JsonShape : uint8_t {
    constant,    ///< a value
    expression,  ///< the text of an integer expression
    reference,   ///< null, true, false, Ellipsis or a ref
    type,        ///< a ref to a type
    function,    ///< a ref to a function written in Python
    variable,    ///< a ref to a ContextVar
    kind,        ///< a check without a note
    kinds,       ///< a list of them
    facts,       ///< values by name; "type" is a ref
    code,        ///< has no form: a callable, a C function
    state,       ///< has no form: an object as it was
};

/// Compiling an integer expression recurses over its terms: a text is not to choose how
/// far.
inline constexpr Py_ssize_t longest_json_expression = 4096;

/// The shapes of the operands of a kind, step or relation, in order.
std::span<const JsonShape> json_shapes(OpCode code);

/// A list of operands, given as operand_objects gives them, in the canonical form. With
/// a `reason` ("its expected is ...") one has no form, and the text means nothing. Runs
/// no user code.
std::string json_operands(OpCode code, std::span<PyObject* const> objects,
                          std::string& reason);

/// An exact str; empty when there is no memory.
std::string json_text(PyObject* text);

/// A list of texts: "[a,b]".
std::string json_list(const std::vector<std::string>& items, char open = '[',
                      char close = ']');

/// A text that needs no escapes, in quotes.
inline std::string json_quoted(std::string_view text) {
    return "\"" + std::string(text) + "\"";
}

/// The place in a text that is being read, what stopped the reading, and its cost.
class JsonProgress {
public:
    JsonProgress(const JsonReading& how, Diagnostic& to) : reading(how), problem(to) {}

    /// Says where the reader is while this lives: ".checks", and of which of them.
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

    // Each fills `problem` and is false.
    bool refuse(const std::string& text);
    bool refuse_found(const std::string& expected, PyObject* found);

    /// What others filled `problem` with, at this place.
    bool refuse_problem();

    /// For a call of CPython's that failed. What has to reach the program (Ctrl-C, no
    /// memory) is kept in `raised`, and `problem` stays empty.
    bool refuse_raised(const std::string& what);

    /// The pending exception, whatever it is, is kept in `raised`.
    bool keep_raised();

    /// Counts work that is more than linear in the text; false when it is too much.
    bool spend(uint64_t cost);

    uint64_t spent() const noexcept { return spent_; }

    const JsonReading& reading;
    Diagnostic& problem;
    Owned<> raised;

private:
    std::string where_;
    uint64_t spent_ = 0;
};

/// Makes objects of operands: what make_op takes.
class JsonOperandReader {
public:
    explicit JsonOperandReader(JsonProgress& progress) noexcept : progress_(progress) {}

    bool read(OpCode code, PyObject* list, std::vector<Owned<>>& to);

    /// A str, or null.
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

    // The values of objects of one key, by it.
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

    /// The bytes of a text of hexadecimal digits.
    bool hex(PyObject* body, std::string& to);

    Owned<> refused(const std::string& text);
    Owned<> refused_found(const std::string& expected, PyObject* found);
    Owned<> refused_raised(const std::string& what);

    JsonProgress& progress_;
    unsigned kinds_deep_ = 0;
};

/// The value of a key of an object; null when it is not there.
inline PyObject* json_member(PyObject* object, const char* key) {
    return item_by_name(object, key);
}

/// An object of exactly these keys, and perhaps a "note" where that `may` be.
bool demand_json_keys(JsonProgress& progress, PyObject* object,
                      std::initializer_list<const char*> keys,
                      bool may_have_note = false);

}  // namespace guardtree
