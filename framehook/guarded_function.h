// A function whose calls are guarded where they arrive, at its vectorcall slot: no
// frame exists yet, and every other function runs as if we were not there.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>
#include <vector>

#include "../guards/lookup/table.h"

namespace guardtree {

/// The entries of one function. A call is looked up by its arguments, bound as the
/// function binds them; a hit calls the entry's payload, any callable, with the call's
/// own arguments, a miss the function. Guards run user code with all guarding off in
/// their thread, as the hook's do.
///
/// Holds its function weakly: whoever keeps this in the function's `__dict__` makes it
/// live as long as the function, and every cycle through entries the collector's.
/// Needs the GIL.
class GuardedFunction : public Counted {
public:
    /// Takes the calls of `function` over. Null with an exception set: NotImplemented-
    /// Error on CPython 3.11, ValueError for a function that others have taken over,
    /// or an `__init__` whose calls do not all arrive.
    static Shared<GuardedFunction> take(PyFunctionObject* function);

    /// restore()s what is still guarded.
    ~GuardedFunction();

    /// What guards the calls of `function`, or null.
    static GuardedFunction* find(PyFunctionObject* function) noexcept;

    /// Every function is on its own again: at interpreter exit.
    static void let_all_go() noexcept;

    /// Null when it has died.
    PyFunctionObject* function() const noexcept;

    /// The code that entries are compiled for. Calls run plain while the function has
    /// another.
    PyCodeObject* code() const noexcept { return code_.get(); }

    const Shared<Table>& table() const noexcept { return table_; }

    /// Adds an entry whose payload is callable, behind all others; one of function_of
    /// (`is_made`) follows our defaults from here on. The values that it hands over are
    /// further keyword arguments. O(entries).
    void add(Shared<Entry> entry, bool is_made);

    /// The function that an entry's code makes: `called` with all else of ours, and,
    /// once it is added, the defaults and names as they are at each call. `called`:
    /// that code, or the same with further arguments. Null with an exception set:
    /// ValueError where `replacement` does not fit (replacement_problem).
    Owned<> function_of(PyCodeObject* replacement, PyCodeObject* called);

    /// Takes an entry out. False when it is not in the table.
    bool remove(const Entry& entry);

    /// Forgets all entries and gives the slot back. False where somebody has put their
    /// own entry above ours since: ours stays below it and passes calls on.
    bool restore() noexcept;

    int traverse(visitproc visit, void* arg) const;

    bool is_restored() const noexcept { return is_restored_; }

    uint64_t hits() const noexcept;

    uint64_t misses = 0;      ///< calls that were looked up and ran plain
    uint64_t other_code = 0;  ///< calls that ran plain because the code is another

private:
    explicit GuardedFunction(PyFunctionObject* function, Identity identity) noexcept;

    enum class Found { target, nothing, exception };

    struct Call {
        PyObject* const* arguments;
        size_t count;
        PyObject* keywords;
        bool is_held = false;  ///< by a HeldCall
    };

    /// What a hit calls, and what it gets besides the call's own arguments.
    struct Target {
        Owned<> callable;
        Owned<> names;   ///< or null
        Owned<> values;  ///< a tuple, as long as the names
        bool is_like = true;  ///< the function, as far as it follows that
    };

    static PyObject* call(PyObject* function, PyObject* const* arguments, size_t count,
                          PyObject* keywords);
    static PyObject* call_held(const Entry& entry, PyFunctionObject* function,
                               const Call& call);
    const Entry* find_in_view(PyFunctionObject* function,
                              PyObject* const* arguments) const noexcept;
    Found find_bound(PyFunctionObject* function, const Call& call, Target& target);
    static PyObject* call_with_values(const Target& target, const Call& call);
    static PyObject* call_bound(GuardedFunction& guarded, PyFunctionObject* function,
                                const Call& call);
    static PyObject* find_and_call(GuardedFunction& guarded, PyFunctionObject* function,
                                   const Call& call);
    static PyObject* call_target(const Target& target, const Call& call);
    static PyObject* call_alike(const Target& target, PyFunctionObject* function,
                                const Call& call);
    bool may_run_user_code(const Call& call) const noexcept;
    void note_miss() noexcept;
    void set_table(Shared<Table> table) noexcept;

    // What a call reads comes first.
    Identity function_;
    Owned<PyCodeObject> code_;
    Shared<Table> table_ = Table::empty();
    /// The number of arguments of calls whose vector the table can read as it is.
    Py_ssize_t direct_count_ = -1;
    bool is_restored_ = false;
    References references_;
    uint64_t dropped_hits_ = 0;
};

}  // namespace guardtree
