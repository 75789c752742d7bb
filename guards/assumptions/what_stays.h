// What stays the same of the values that an assumption is about, and what is compared
// to know it. Internal.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "../concepts/kind.h"

#include "assumption.h"
#include "watched_dicts.h"

namespace guardtree {

/// The words, tests and watched dicts of an assumption that is being armed. A function
/// `keeps_...` notes what has to stay for a fact to stay, and returns false if nothing
/// can tell; `keep_...` returns what is then known of the value that was fetched;
/// `compares_...` notes a place that is compared, and says nothing of what is in it.
/// Nothing here runs user code.
class WhatStays {
public:
    /// What is known of a value whenever the assumption is asked.
    enum class Stay : uint8_t {
        unknown,   ///< it may be another object at the same address: all is read anew
        compared,  ///< it is this very object where the tests before it have passed
        watched,   ///< it is: an event would have ended the assumption
    };

    /// A value on the way.
    struct Value {
        PyObject* object = nullptr;
        Stay stay = Stay::unknown;

        bool is_lasting() const noexcept { return stay != Stay::unknown; }
    };

    explicit WhatStays(Assumption& of) noexcept : assumption_(of) {}

protected:
    /// The value's type stays: because it cannot change, or compared. True when the
    /// type object is lasting: a heap type is told by a weak reference from one at the
    /// same address.
    bool has_type(Value value);

    /// After a test that compares the value's type was added: no later one need do so.
    void need_not_compare_type(Value value) {
        compared_.insert(&value.object->ob_type);
    }

    /// The object keeps its attributes in a dict, and stays with it.
    bool has_dict_of(Value value);

    /// The module stays with its dict. A module that lasts does, and another class that
    /// it is given is a module's too; but the collector takes the dict away from one
    /// that it destroys, and what is read by its address must not have gone.
    bool keeps_dict_of_module(Value module);

    /// A function that lasts stays with its globals, until the collector destroys it.
    Stay keep_globals_of(Value function);

    /// What the value's own dict says of a name stays, or that it has no dict.
    bool keeps_attribute(Value value, PyObject* name);

    /// The value stays of a type whose MRO says the same of a name. Not of a slot.
    bool keeps_names_of_class(Value value, PyObject* name);

    /// What the value's own dict has by a name.
    Stay keep_own(Value value, PyObject* name);

    /// What plain_attribute has found.
    Stay keep_plain(Value value, PyObject* name, PyObject* found);

    /// Compares the slot, or the field of a named tuple, in which plain_attribute has
    /// found what it gives. The object there may be another one at the same address.
    /// False if it lies elsewhere, or if nothing tells of the class.
    bool compares_place(Value value, PyObject* name);

    /// The same of an item of a list or a tuple.
    bool compares_item(Value owner, Py_ssize_t index);

    /// Notes that a part of a dict is read, and what tells of its changes. `value`: the
    /// dict, where it was itself fetched.
    Stay use(PyObject* dict, PyObject* key, Reads reads, Value value);

    /// The same of the value at a position, of a dict without events: its tag, its
    /// table and the value's word.
    Stay use_entry(PyObject* dict, Py_ssize_t position, Value value);

    /// A word that is compared each time; once is enough. `stay`: of what it lies in.
    void compare(Stay stay, const void* at, const void* expected,
                 AssumptionTest::Kind kind = AssumptionTest::Kind::word);

    void add(const AssumptionTest& test) { tests_.push_back(test); }

    /// After the last test: how a check reads them.
    void finish_tests();

    Assumption& assumption_;
    uint32_t number_ = 0;  ///< of the op that is looked at
    std::vector<AssumptionTest> tests_;
    std::vector<KeptWord> test_words_;
    std::vector<KeptWord> words_;
    std::vector<uint32_t> word_ops_;
    std::vector<DictUse> uses_;
    References held_;

private:
    /// Where objects of a type have several sizes, the dict's place goes by theirs:
    /// another object at the address may have it elsewhere.
    void compare_size(Value value);

    /// The MRO of a type that was compared before stays, and what is in its dicts. Up
    /// to CPython 3.12, `name` has to say which entry: see version_tag.
    bool keeps_version(PyTypeObject* type, PyObject* name);

    /// The first entry of a name in the dicts of an MRO.
    void compare_entry(PyTypeObject* type, PyObject* name);

    /// The value's type stays, and what its MRO says of a name (or of all, if null).
    bool keeps_names_of(Value value, PyObject* name);

    /// What a class has does not become a descriptor.
    bool keeps_binding(PyObject* found);

    /// The tag of a dict, and the word of the item: a specialised store of an attribute
    /// drops the old value, whose finalizer may ask, before it makes the new tag
    /// (STORE_ATTR_WITH_HINT, Python/ceval.c of 3.11).
    void compare_tag(const DictUse& made, PyObject* key, Value value);

    const uint64_t arming_ = assumption_counts.tried++;
    std::set<const void*> compared_;
    std::map<std::tuple<PyObject*, Py_hash_t, DictPart>, Stay> stays_;
};

}  // namespace guardtree
