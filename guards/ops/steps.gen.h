// Every file of guards/steps/, derived by guards/derive.cmake. Do not edit.
// SPDX-License-Identifier: MIT
#pragma once

#include "../steps/attr.h"
#include "../steps/builtin.h"
#include "../steps/call.h"
#include "../steps/closure.h"
#include "../steps/closure_cell.h"
#include "../steps/code.h"
#include "../steps/compute.h"
#include "../steps/context_var.h"
#include "../steps/defaults.h"
#include "../steps/deque_item.h"
#include "../steps/dict_item.h"
#include "../steps/dict_key.h"
#include "../steps/dict_value.h"
#include "../steps/f_locals.h"
#include "../steps/function_globals.h"
#include "../steps/generic_attr.h"
#include "../steps/global.h"
#include "../steps/instance_attr.h"
#include "../steps/item.h"
#include "../steps/kwdefaults.h"
#include "../steps/list_item.h"
#include "../steps/local.h"
#include "../steps/method_function.h"
#include "../steps/method_self.h"
#include "../steps/module.h"
#include "../steps/module_attr.h"
#include "../steps/mro.h"
#include "../steps/native_get.h"
#include "../steps/plain_attr.h"
#include "../steps/referent.h"
#include "../steps/set_item.h"
#include "../steps/size.h"
#include "../steps/slot.h"
#include "../steps/storage_offset.h"
#include "../steps/stride.h"
#include "../steps/tuple_item.h"
#include "../steps/tuple_iterator_item.h"
#include "../steps/type.h"
#include "../steps/type_dict.h"

// clang-format off
#define GUARDTREE_STEPS(X) \
    X(Attr, attr) \
    X(Builtin, builtin) \
    X(Call, call) \
    X(Closure, closure) \
    X(ClosureCell, closure_cell) \
    X(Code, code) \
    X(Compute, compute) \
    X(ContextVar, context_var) \
    X(Defaults, defaults) \
    X(DequeItem, deque_item) \
    X(DictItem, dict_item) \
    X(DictKey, dict_key) \
    X(DictValue, dict_value) \
    X(FLocals, f_locals) \
    X(FunctionGlobals, function_globals) \
    X(GenericAttr, generic_attr) \
    X(Global, global) \
    X(InstanceAttr, instance_attr) \
    X(Item, item) \
    X(Kwdefaults, kwdefaults) \
    X(ListItem, list_item) \
    X(Local, local) \
    X(MethodFunction, method_function) \
    X(MethodSelf, method_self) \
    X(Module, module) \
    X(ModuleAttr, module_attr) \
    X(Mro, mro) \
    X(NativeGet, native_get) \
    X(PlainAttr, plain_attr) \
    X(Referent, referent) \
    X(SetItem, set_item) \
    X(Size, size) \
    X(Slot, slot) \
    X(StorageOffset, storage_offset) \
    X(Stride, stride) \
    X(TupleItem, tuple_item) \
    X(TupleIteratorItem, tuple_iterator_item) \
    X(Type, type) \
    X(TypeDict, type_dict)

namespace guardtree {
using AllSteps = TypeList<Attr, Builtin, Call, Closure, ClosureCell, Code, Compute, ContextVar, Defaults, DequeItem, DictItem, DictKey, DictValue, FLocals, FunctionGlobals, GenericAttr, Global, InstanceAttr, Item, Kwdefaults, ListItem, Local, MethodFunction, MethodSelf, Module, ModuleAttr, Mro, NativeGet, PlainAttr, Referent, SetItem, Size, Slot, StorageOffset, Stride, TupleItem, TupleIteratorItem, Type, TypeDict>;
}
