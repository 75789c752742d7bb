// Every file of guards/steps/, derived by guards/derive.cmake. Do not edit.
// SPDX-License-Identifier: MIT
#pragma once

#include "steps/attr.h"
#include "steps/builtin.h"
#include "steps/closure.h"
#include "steps/dict_item.h"
#include "steps/f_locals.h"
#include "steps/global.h"
#include "steps/instance_attr.h"
#include "steps/item.h"
#include "steps/list_item.h"
#include "steps/local.h"
#include "steps/tuple_item.h"
#include "steps/type.h"

// clang-format off
#define GUARDTREE_STEPS(X) \
    X(Attr, attr) \
    X(Builtin, builtin) \
    X(Closure, closure) \
    X(DictItem, dict_item) \
    X(FLocals, f_locals) \
    X(Global, global) \
    X(InstanceAttr, instance_attr) \
    X(Item, item) \
    X(ListItem, list_item) \
    X(Local, local) \
    X(TupleItem, tuple_item) \
    X(Type, type)

namespace guardtree {
using AllSteps = TypeList<Attr, Builtin, Closure, DictItem, FLocals, Global, InstanceAttr, Item, ListItem, Local, TupleItem, Type>;
}
