// Every file of guards/kinds/, derived by guards/derive.cmake. Do not edit.
// SPDX-License-Identifier: MIT
#pragma once

#include "../kinds/any_of.h"
#include "../kinds/complex_is_nan.h"
#include "../kinds/data_aligned.h"
#include "../kinds/dict_contains.h"
#include "../kinds/dict_key_set.h"
#include "../kinds/dict_keys.h"
#include "../kinds/dict_lacks.h"
#include "../kinds/dict_version.h"
#include "../kinds/divisible_by.h"
#include "../kinds/equals.h"
#include "../kinds/exists.h"
#include "../kinds/float_is_nan.h"
#include "../kinds/function_match.h"
#include "../kinds/has_attr.h"
#include "../kinds/has_static_attr.h"
#include "../kinds/id_match.h"
#include "../kinds/id_match_held.h"
#include "../kinds/instance_of.h"
#include "../kinds/int_range.h"
#include "../kinds/int_sign.h"
#include "../kinds/is_false.h"
#include "../kinds/is_none.h"
#include "../kinds/is_not_none.h"
#include "../kinds/is_true.h"
#include "../kinds/is_truthy.h"
#include "../kinds/lacks_attr.h"
#include "../kinds/lacks_instance_attr.h"
#include "../kinds/lacks_plain_attr.h"
#include "../kinds/lacks_static_attr.h"
#include "../kinds/length.h"
#include "../kinds/mapping_keys.h"
#include "../kinds/native.h"
#include "../kinds/native_pure.h"
#include "../kinds/not_.h"
#include "../kinds/one_of.h"
#include "../kinds/python.h"
#include "../kinds/range_iterator.h"
#include "../kinds/set_contains.h"
#include "../kinds/set_equals.h"
#include "../kinds/set_lacks.h"
#include "../kinds/str_prefix.h"
#include "../kinds/tensor_match.h"
#include "../kinds/tuple_iterator_length.h"
#include "../kinds/type_match.h"
#include "../kinds/type_version.h"
#include "../kinds/user_length.h"
#include "../kinds/weakref_alive.h"

// clang-format off
#define GUARDTREE_KINDS(X) \
    X(AnyOf, any_of) \
    X(ComplexIsNan, complex_is_nan) \
    X(DataAligned, data_aligned) \
    X(DictContains, dict_contains) \
    X(DictKeySet, dict_key_set) \
    X(DictKeys, dict_keys) \
    X(DictLacks, dict_lacks) \
    X(DictVersion, dict_version) \
    X(DivisibleBy, divisible_by) \
    X(Equals, equals) \
    X(Exists, exists) \
    X(FloatIsNan, float_is_nan) \
    X(FunctionMatch, function_match) \
    X(HasAttr, has_attr) \
    X(HasStaticAttr, has_static_attr) \
    X(IdMatch, id_match) \
    X(IdMatchHeld, id_match_held) \
    X(InstanceOf, instance_of) \
    X(IntRange, int_range) \
    X(IntSign, int_sign) \
    X(IsFalse, is_false) \
    X(IsNone, is_none) \
    X(IsNotNone, is_not_none) \
    X(IsTrue, is_true) \
    X(IsTruthy, is_truthy) \
    X(LacksAttr, lacks_attr) \
    X(LacksInstanceAttr, lacks_instance_attr) \
    X(LacksPlainAttr, lacks_plain_attr) \
    X(LacksStaticAttr, lacks_static_attr) \
    X(Length, length) \
    X(MappingKeys, mapping_keys) \
    X(Native, native) \
    X(NativePure, native_pure) \
    X(Not, not_) \
    X(OneOf, one_of) \
    X(Python, python) \
    X(RangeIterator, range_iterator) \
    X(SetContains, set_contains) \
    X(SetEquals, set_equals) \
    X(SetLacks, set_lacks) \
    X(StrPrefix, str_prefix) \
    X(TensorMatch, tensor_match) \
    X(TupleIteratorLength, tuple_iterator_length) \
    X(TypeMatch, type_match) \
    X(TypeVersion, type_version) \
    X(UserLength, user_length) \
    X(WeakrefAlive, weakref_alive)

namespace guardtree {
using AllKinds = TypeList<AnyOf, ComplexIsNan, DataAligned, DictContains, DictKeySet, DictKeys, DictLacks, DictVersion, DivisibleBy, Equals, Exists, FloatIsNan, FunctionMatch, HasAttr, HasStaticAttr, IdMatch, IdMatchHeld, InstanceOf, IntRange, IntSign, IsFalse, IsNone, IsNotNone, IsTrue, IsTruthy, LacksAttr, LacksInstanceAttr, LacksPlainAttr, LacksStaticAttr, Length, MappingKeys, Native, NativePure, Not, OneOf, Python, RangeIterator, SetContains, SetEquals, SetLacks, StrPrefix, TensorMatch, TupleIteratorLength, TypeMatch, TypeVersion, UserLength, WeakrefAlive>;
}
