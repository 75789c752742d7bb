// CPython in this process: started once, and the objects that benchmarks are about.
// SPDX-License-Identifier: MIT
#pragma once
#include <Python.h>

#include <string>

#include "../../framelocals/ref.h"

namespace guardtree::bench {

/// Starts the CPython this was built for, with a fixed hash seed and without the cyclic
/// garbage collector, for the rest of the process: subjects live until its end.
void start_interpreter();

/// What an expression gives, over builtins and `names` (null: none). An expression that
/// raises ends the process: the benches are wrong then.
Owned<> evaluated(const std::string& expression, PyObject* names = nullptr);

/// What `name` is after running `source` with `globals`.
Owned<> defined(const std::string& source, const char* name, PyObject* globals);

/// An empty namespace with builtins.
Owned<> new_globals();

/// Ends the process with a sentence, and with Python's exception when one is set.
[[noreturn]] void give_up(const std::string& sentence);

}  // namespace guardtree::bench
