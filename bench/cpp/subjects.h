// The benchmarks by subject: each file registers its own.
// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <string>

#include <benchmark/benchmark.h>

namespace guardtree::bench {

/// Registers one benchmark under a name, with the run's settings.
using Register = std::function<void(const std::string& name,
                                    std::function<void(benchmark::State&)> measure)>;

/// evaluate/<raw, dict, built_dict>/locals:<n>/guards:<n>
void register_sweep(const Register& add);

/// kind/<call>: <value>, step/<call>: <value> and relation/<call>: <values>, one for
/// each example of AllKinds, AllSteps and AllRelations.
void register_kinds_and_steps(const Register& add);

/// slope/<shape>/guards:<n> and by_hand/<shape>/guards:<n>.
void register_slopes(const Register& add);

/// build/values:<n>
void register_building(const Register& add);

/// expressions/<kinds, integers>/<dsl, by_hand>, text/guards:<n>
void register_expressions(const Register& add);
void register_text(const Register& add);

/// lookup/<entry>, evaluate/empty, frame_view, dict_item.
void register_lookups(const Register& add);

/// globals/<assumed, plain>/guards:<n>, store/<watched, unwatched>
void register_assumptions(const Register& add);

/// c_abi/<direct, through>/<guards>, and each /with_view/<guards>.
void register_c_abi(const Register& add);

/// table/<int, type, ...>/<cyclic, random, miss>/entries:<n>, and each /one_by_one;
/// table/<int, type, ...>/<add, make>/entries:<n>
void register_tables(const Register& add);

}  // namespace guardtree::bench
