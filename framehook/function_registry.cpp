// The map of guarded functions.
// SPDX-License-Identifier: MIT
#include "function_registry.h"

#include <algorithm>

#include <tsl/robin_map.h>

namespace guardtree {

namespace registry_detail {

constinit Place last_found[place_count] = {};

}  // namespace registry_detail

namespace {

using namespace registry_detail;

struct AddressHash {
    size_t operator()(const PyFunctionObject* function) const noexcept {
        return reinterpret_cast<uintptr_t>(function) >> alignment_bits;
    }
};

using Registry = tsl::robin_map<const PyFunctionObject*, GuardedFunction*, AddressHash>;

/// Never destroyed, because calls may come until the process ends.
Registry& registry() noexcept {
    static auto* made = new Registry();
    return *made;
}

void forget_found() noexcept {
    std::ranges::fill(last_found, Place{});
}

}  // namespace

[[gnu::noinline]] GuardedFunction* registry_detail::find_in_map(
    const PyFunctionObject* function) noexcept {
    const auto at = registry().find(function);
    if (at == registry().end()) return nullptr;
    const size_t place = AddressHash()(function) % place_count;
    last_found[place] = {function, at->second};
    return at->second;
}

void put_guarded(const PyFunctionObject* function, GuardedFunction* guarded) {
    forget_found();
    registry()[function] = guarded;
}

void remove_guarded(const PyFunctionObject* function,
                    const GuardedFunction* guarded) noexcept {
    forget_found();
    const auto at = registry().find(function);
    if (at != registry().end() && at->second == guarded) registry().erase(at);
}

void remove_all_guarded() noexcept {
    forget_found();
    registry().clear();
}

}  // namespace guardtree
