// What stays the same of a value, by the layout of CPython's objects.
// SPDX-License-Identifier: MIT
#include "what_stays.h"

#include <cstddef>

#include "../../framelocals/attributes.h"
#include "../../framelocals/dict_watch.h"
#include "../objects/dict_lookup.h"
#include "../objects/plain_attribute.h"
#include "../objects/static_attribute.h"

#include "what_is_read.h"

namespace guardtree {
namespace {

using Stay = WhatStays::Stay;
using TestKind = AssumptionTest::Kind;

static_assert(offsetof(PyTypeObject, tp_version_tag) % sizeof(void*) == 0 &&
                  offsetof(PyTypeObject, tp_finalize) ==
                      offsetof(PyTypeObject, tp_version_tag) + sizeof(void*),
              "a version tag and its padding must be one word");

/// What is known of a value that words or tests tell of.
Stay stay_if(bool is_kept) noexcept {
    return is_kept ? Stay::compared : Stay::unknown;
}

/// What is known of a value in a dict.
Stay stay_of(DictCare care) noexcept {
    if (care == DictCare::events) return Stay::watched;
    return care == DictCare::tag ? Stay::compared : Stay::unknown;
}

}  // namespace

bool WhatStays::has_type(Value value) {
    PyTypeObject* type = Py_TYPE(value.object);
    if (!value.is_lasting() || !instances_keep_class(type)) {
        compare(value.stay, &value.object->ob_type, type);
    }
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return true;
    const Owned<> weak = Owned<>::steal(PyWeakref_NewRef(as_object(type), nullptr));
    if (!weak) PyErr_Clear();
    if (!weak) return false;
    compare(Stay::watched, &reinterpret_cast<PyWeakReference*>(weak.get())->wr_object,
            type);
    held_.push_back(weak);
    return true;
}

bool WhatStays::has_dict_of(Value value) {
    PyObject* const* place = place_of_dict(value.object);
    if (!place || !has_type(value)) return false;
    compare_size(value);
    compare(value.stay, place, *place);
    return true;
}

bool WhatStays::keeps_dict_of_module(Value module) {
    PyObject* const* place = place_of_dict(module.object);
    if (!place) return false;
    if (!module.is_lasting() && !has_type(module)) return false;
    if (module.stay != Stay::watched) compare(module.stay, place, *place);
    return true;
}

Stay WhatStays::keep_globals_of(Value function) {
    auto* const object = reinterpret_cast<PyFunctionObject*>(function.object);
    compare(function.stay, &object->func_globals, object->func_globals);
    return Stay::compared;
}

bool WhatStays::keeps_attribute(Value value, PyObject* name) {
    if (place_of_dict(value.object)) return keep_own(value, name) != Stay::unknown;
    if (PyType_Check(value.object)) return false;
    PyTypeObject* const type = Py_TYPE(value.object);
    if (has_managed_dict(type) || !has_type(value)) return false;
    if (type->tp_dictoffset == 0) return true;
    compare_size(value);
    compare(value.stay, _PyObject_GetDictPtr(value.object), nullptr);
    return true;
}

bool WhatStays::keeps_names_of_class(Value value, PyObject* name) {
    PyTypeObject* const type = Py_TYPE(value.object);
    if (PyType_Check(value.object) || !version_tag(type)) return false;
    const Borrowed<> found = find_in_mro(type, name);
    if (found && slot_content(found.get(), value.object).is_slot) return false;
    return keeps_names_of(value, name);
}

Stay WhatStays::keep_own(Value value, PyObject* name) {
    if (!has_dict_of(value)) return Stay::unknown;
    return use(*place_of_dict(value.object), name, Reads::item, {});
}

Stay WhatStays::keep_plain(Value value, PyObject* name, PyObject* found) {
    const PlainPlace place = plain_place(value.object, name);
    switch (place.kind) {
    case PlainPlace::Kind::instance: {
        const HashedKey key{name, hash_of_str(name)};
        const bool is_default =
            place.has_default &&
            presence_in_instance(value.object, key) == Presence::absent;
        if (is_default) {
            return stay_if(keeps_names_of_class(value, name) &&
                           keeps_attribute(value, name) && keeps_binding(found));
        }
        const bool is_kept = place.is_lasting && keeps_names_of_class(value, name);
        return is_kept ? keep_own(value, name) : Stay::unknown;
    }
    case PlainPlace::Kind::class_of: return stay_if(keeps_names_of(value, name));
    case PlainPlace::Kind::in_class:
        return stay_if(
            place.is_lasting && keeps_names_of(value, name) &&
            keeps_version(reinterpret_cast<PyTypeObject*>(value.object), name) &&
            keeps_binding(found));
    case PlainPlace::Kind::class_name: {
        if (!keeps_names_of(value, name)) return Stay::unknown;
        auto* const type = reinterpret_cast<PyHeapTypeObject*>(value.object);
        compare(value.stay, &type->ht_name, type->ht_name);
        held_.push_back(Owned<>::share(found));  // no other str gets its address
        return Stay::compared;
    }
    case PlainPlace::Kind::item:
        return value.is_lasting() && keeps_names_of(value, name) ? value.stay
                                                                 : Stay::unknown;
    default: return Stay::unknown;
    }
}

bool WhatStays::compares_place(Value value, PyObject* name) {
    const PlainPlace place = plain_place(value.object, name);
    const bool is_slot = place.kind == PlainPlace::Kind::slot;
    if (!is_slot && place.kind != PlainPlace::Kind::item) return false;
    if (!keeps_names_of(value, name)) return false;
    if (!is_slot) return compares_item(value, place.at);
    PyObject* const* slot = place.address_in(value.object);
    compare(value.stay, slot, *slot);
    return true;
}

bool WhatStays::compares_item(Value owner, Py_ssize_t index) {
    if (!has_type(owner)) return false;
    const Py_ssize_t& size = reinterpret_cast<PyVarObject*>(owner.object)->ob_size;
    compare(Stay::compared, &size, reinterpret_cast<const void*>(size));
    if (PyList_Check(owner.object)) {
        // As tests, not as words: a list that changes may free them, so that an item
        // is read only where they have not moved.
        PyObject** const& items =
            reinterpret_cast<PyListObject*>(owner.object)->ob_item;
        compare(Stay::compared, &items, items);
    }
    PyObject* const* const place =
        PySequence_Fast_ITEMS(owner.object) + (index < 0 ? index + size : index);
    compare(Stay::compared, place, *place);
    return true;
}

Stay WhatStays::use(PyObject* dict, PyObject* key, Reads reads, Value value) {
    if (!dict) return Stay::unknown;
    DictUse made{dict, 0, part_of(reads), number_, arming_};
    if (made.part == DictPart::item && !plain_hash(key, made.hash)) {
        return Stay::unknown;
    }
    const auto [known, is_new] =
        stays_.insert({{dict, made.hash, made.part}, Stay::unknown});
    if (!is_new) return known->second;
    uses_.push_back(made);  // first: it is taken back where there is no memory
    const DictCare care = use_dict(assumption_, made);
    if (care == DictCare::tag) compare_tag(made, key, value);
    return known->second = stay_of(care);
}

Stay WhatStays::use_entry(PyObject* dict, Py_ssize_t position, Value value) {
    if (!dict || dict_news(dict) != DictNews::tag) return Stay::unknown;
    PyObject* const* const place = place_of_entry(dict, position).value;
    if (!place || use(dict, nullptr, Reads::keys, value) != Stay::compared) {
        return Stay::unknown;
    }
    compare(Stay::compared, place_of_keys(dict), dict_keys(dict));
    compare(Stay::compared, place, *place);
    return Stay::compared;
}

void WhatStays::compare(Stay stay, const void* at, const void* expected,
                        TestKind kind) {
    if (!compared_.insert(at).second) return;
    if (stay == Stay::watched) {
        words_.push_back({at, expected});
        word_ops_.push_back(number_);
    } else {
        add({at, {expected}, number_, kind, {}});
    }
}

void WhatStays::finish_tests() {
    for (const AssumptionTest& test : tests_) KeptWord::add_test(test, test_words_);
    test_words_.push_back(KeptWord::end());
}

void WhatStays::compare_size(Value value) {
    if (value.is_lasting() || Py_TYPE(value.object)->tp_itemsize == 0) return;
    const Py_ssize_t& size = reinterpret_cast<PyVarObject*>(value.object)->ob_size;
    compare(value.stay, &size, reinterpret_cast<const void*>(size));
}

bool WhatStays::keeps_version(PyTypeObject* type, PyObject* name) {
    if (!version_tag(type) || !has_usual_mro(type)) return false;
    // With the padding behind it, which nobody writes.
    const void* const place = &type->tp_version_tag;
    compare(Stay::compared, place, word_at(place));
    if (name) compare_entry(type, name);
    return true;
}

void WhatStays::compare_entry(PyTypeObject* type, PyObject* name) {
    const HashedKey key{name, hash_of_str(name)};
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(type->tp_mro); ++i) {
        PyObject* const each = PyTuple_GET_ITEM(type->tp_mro, i);
        const Owned<> dict = type_dict(reinterpret_cast<PyTypeObject*>(each));
        PyObject* const* place = dict ? place_in_dict(dict.get(), key) : nullptr;
        if (!place || !*place) continue;
        compare(Stay::compared, place_of_keys(dict.get()), dict_keys(dict.get()));
        compare(Stay::compared, place, *place);
        return;
    }
}

bool WhatStays::keeps_names_of(Value value, PyObject* name) {
    return has_type(value) && keeps_version(Py_TYPE(value.object), name);
}

bool WhatStays::keeps_binding(PyObject* found) {
    return instances_keep_class(Py_TYPE(found)) ||
           keeps_names_of({found, Stay::compared}, nullptr);
}

void WhatStays::compare_tag(const DictUse& made, PyObject* key, Value value) {
    // What is not a dict any more has no tag.
    if (value.object == made.dict && !value.is_lasting()) has_type(value);
    const uint64_t* tag = dict_tag(made.dict);
    compare(Stay::compared, tag, reinterpret_cast<const void*>(*tag), TestKind::tag);
    if (made.part != DictPart::item) return;
    PyObject* const* place = place_in_dict(made.dict, {key, made.hash});
    if (!place) return;
    // A key that is no exact str makes a new table, with the same tag where its
    // value is the one that was there.
    compare(Stay::compared, place_of_keys(made.dict), dict_keys(made.dict));
    compare(Stay::compared, place, *place);
}

}  // namespace guardtree
