// Calls that bind as those of one function do: looked up by their arguments, then
// handed to what the entry that was found calls.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <cstdint>

#include "../guards/lookup/table.h"

#include "policy.h"

namespace guardtree {

/// A call as CPython hands it over (PEP 590).
struct VectorCall {
    PyObject* const* arguments;
    size_t count;
    PyObject* keywords;
};

/// What a hit calls, and what it gets besides the call's own arguments.
struct Target {
    Owned<> callable;
    Owned<> names;   ///< of the values, which are further keyword arguments; or null
    Owned<> values;  ///< a tuple; without names they are the only arguments. Or null
    const Entry* entry = nullptr;  ///< of the table, which the caller keeps
    bool is_like = true;           ///< the function, as far as it follows that
    bool takes_arguments = false;  ///< it gets all arguments as bound, by position
};

/// The entries of one function's calls, and what becomes of calls that no entry serves:
/// the function runs as it is, or somebody is asked. Who owns this decides where calls
/// come from: a function's own entry (GuardedFunction) or a callable of its own
/// (Dispatcher).
///
/// Holds the function weakly. Needs the GIL.
class GuardedCalls : public Counted {
public:
    virtual ~GuardedCalls() = default;

    /// Null when it has died.
    PyFunctionObject* function() const noexcept;

    /// The code that entries are compiled for. Calls run plain while the function has
    /// another.
    PyCodeObject* code() const noexcept { return code_.get(); }

    const Shared<Table>& table() const noexcept { return table_; }

    /// Adds an entry whose payload is callable, behind all others; one of function_of
    /// (`is_made`) follows our defaults from here on. At the limit it takes the place
    /// of the least recently used one. O(entries).
    void add(Shared<Entry> entry, bool is_made);

    /// The function that an entry's code makes: `called` with all else of ours, and,
    /// once it is added, the defaults and names as they are at each call. `called`:
    /// that code, or the same with further arguments. Null with an exception set:
    /// ValueError where `replacement` does not fit (replacement_problem).
    Owned<> function_of(PyCodeObject* replacement, PyCodeObject* called) const;

    /// Takes an entry out. False when it is not in the table.
    bool remove(const Entry& entry);

    uint64_t hits() const noexcept;

    /// The calls are given back: no entry would serve one.
    bool is_over() const noexcept { return is_over_; }

    /// No entry may be added: the table is full, and full tables are kept.
    bool is_closed() const noexcept {
        return when_full == WhenFull::keep && table_->entries().size() >= entry_limit;
    }

    /// A call that no entry serves may run as it is.
    bool has_plain() const noexcept { return !is_bare_; }

    /// Runs a call as it is. `has_plain`.
    PyObject* run_plain(PyFunctionObject* function, const VectorCall& call) const;

    /// Calls of ours are calls of a Python function, whose globals, closure and
    /// defaults entries of code can have.
    bool is_of_function() const noexcept {
        return !is_bare_ && (!plain_ || plain_.get() == as_object(function()));
    }

    /// Somebody is asked about calls that no entry serves, or they cannot run.
    bool asks() const noexcept { return is_bare_ || on_miss; }

    enum class Found { target, nothing, exception };

    /// Looks a call up in `table`, of entries made for our code; nothing is found where
    /// the function has another, or the call does not fit. The caller keeps this, the
    /// table, the call. Counts nothing.
    Found find(const Table& table, PyFunctionObject* function, const VectorCall& call,
               Target& target) const;

    /// The same for a call that is bound: `view`, whose values are held.
    static Found find(const Table& table, PyFunctionObject* function, const View& view,
                      Target& target);

    /// Of a target that takes the arguments as bound: makes them its values. False with
    /// MemoryError set.
    static bool hand_over_arguments(const View& view, Target& target) noexcept;

    /// Calls what was found; nothing of this is read afterwards.
    static PyObject* call_target(const Target& target, PyFunctionObject* function,
                                 const VectorCall& call);

    int traverse(visitproc visit, void* arg) const;

    Owned<> on_miss;            ///< who is asked, or null
    PyObject* owner = nullptr;  ///< the Python object that has this, borrowed; or null
    size_t entry_limit = SIZE_MAX;
    WhenFull when_full = WhenFull::evict;

    uint64_t misses = 0;      ///< calls that were looked up and not served
    uint64_t other_code = 0;  ///< calls that ran plain because the code is another
    uint64_t evicted = 0;     ///< entries that gave their place to others
    uint64_t compiled = 0;    ///< entries that on_miss made

protected:
    GuardedCalls(PyFunctionObject* function, Identity identity) noexcept;

    /// Reads CPython's own entry of functions (plain_entry). False with an exception
    /// set.
    static bool find_plain_entry(PyFunctionObject* function) noexcept;

    /// The body of both entries (dispatch.h). `heeds_pause`: calls run plain while
    /// guards or callbacks run in this thread.
    template <bool heeds_pause>
    static PyObject* dispatch(GuardedCalls& calls, PyFunctionObject* function,
                              const VectorCall& call);

    void set_table(Shared<Table> table) noexcept;

    /// Drops the entries and who is asked, for good; the counts stay.
    void end() noexcept;

    Identity function_;
    References references_;  ///< what `function_` needs
    Owned<> plain_;          ///< what a call that no entry serves calls; null: function
    Owned<> kept_function_;  ///< or null: somebody else keeps it
    bool is_bare_ = false;   ///< there is nothing to run plain
    bool is_over_ = false;

private:
    const Entry* find_in_view(PyFunctionObject* function,
                              PyObject* const* arguments) const noexcept;
    static const Entry* find_in_vector(const GuardedCalls& calls,
                                       PyFunctionObject* function,
                                       const VectorCall& call) noexcept;
    static PyObject* call_in_order(GuardedCalls& calls, PyFunctionObject* function,
                                   const VectorCall& call);
    static PyObject* call_held(const Entry& entry, PyFunctionObject* function,
                               const VectorCall& call);
    static PyObject* call_bound(GuardedCalls& calls, PyFunctionObject* function,
                                const VectorCall& call, bool heeds_pause);
    static PyObject* call_positional(GuardedCalls& calls, PyFunctionObject* function,
                                     const VectorCall& call);
    static PyObject* serve(GuardedCalls& calls, PyFunctionObject* function,
                           const VectorCall& call);
    static PyObject* find_and_call(GuardedCalls& calls, PyFunctionObject* function,
                                   const VectorCall& call, const View* bound = nullptr);
    static PyObject* find_and_pass(GuardedCalls& calls, PyFunctionObject* function,
                                   const VectorCall& call);
    Found find_quietly(const View& view, const PyFunctionObject* function,
                       const VectorCall& call, Target& target) const noexcept;
    static PyObject* missed(GuardedCalls& calls, PyFunctionObject* function,
                            const VectorCall& call);
    bool may_run_user_code(const VectorCall& call) const noexcept;

    // What a call reads comes first.
    Owned<PyCodeObject> code_;
    Shared<Table> table_ = Table::empty();
    /// The number of arguments of calls whose vector the table can read as it is; -1
    /// where there are none.
    Py_ssize_t direct_count_ = -1;
    /// That of calls whose vector is the first slots of their frame.
    Py_ssize_t positional_count_ = -1;
    bool passes_arguments_ = false;  ///< an entry's payload may get them as bound
    uint64_t dropped_hits_ = 0;
};

/// Answers a call that no entry serves and that somebody is asked about, or that cannot
/// run plain: set by the layer that knows what on_miss is given. The result of the
/// call, or null with an exception set.
using MissAnswer = PyObject* (*)(GuardedCalls& calls, PyFunctionObject* function,
                                 const VectorCall& call);
void set_miss_answer(MissAnswer answer) noexcept;

/// The calls of a Dispatcher: a callable of its own, whose calls bind as the function's
/// do.
class DispatchedCalls : public GuardedCalls {
public:
    /// `plain`: what runs a call that no entry serves; null: nothing does. Null with an
    /// exception set.
    static Shared<DispatchedCalls> make(PyFunctionObject* function, PyObject* plain);

    /// A call of the Dispatcher.
    static PyObject* call(DispatchedCalls& calls, const VectorCall& call);

    /// What `make` was given, or null.
    PyObject* plain() const noexcept { return plain_.get(); }

    /// Its Python object is going, or is emptied by the collector.
    void release() noexcept {
        owner = nullptr;
        end();
    }

private:
    using GuardedCalls::GuardedCalls;
};

}  // namespace guardtree
