// Compares the conditions of entries, fact by fact.
// SPDX-License-Identifier: MIT
#include "differences.h"

#include <algorithm>

#include <tsl/robin_map.h>

#include "../objects/constant.h"

namespace guardtree {
namespace {

struct Demand {
    std::string fact;
    std::string text;
};

/// The facts of a tensor one by one; sizes and strides per dimension.
void add_tensor_demands(const std::string& path, const TensorOperand& operand,
                        std::vector<Demand>& to) {
    Py_ssize_t place = 0;
    PyObject* name = nullptr;
    PyObject* demanded = nullptr;
    while (PyDict_Next(operand.spec->facts, &place, &name, &demanded)) {
        const std::string fact = path + "." + utf8(name);
        if (!PyTuple_Check(demanded)) {
            to.push_back({fact, short_repr(demanded)});
            continue;
        }
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(demanded); ++i) {
            PyObject* one = PyTuple_GET_ITEM(demanded, i);
            if (one == Py_None) continue;
            to.push_back({fact + "[" + std::to_string(i) + "]", short_repr(one)});
        }
    }
}

/// The condition of a kind on its value: the fact that its Info names, and its
/// operands.
void add_demands(const std::string& path, const Op& kind, std::vector<Demand>& to) {
    dispatch(kind, [&](const auto& concrete) {
        using T = std::remove_cvref_t<decltype(concrete)>;
        if constexpr (std::same_as<T, TensorMatch>) {
            add_tensor_demands(path, concrete.spec, to);
        } else {
            std::string_view fact = T::info.fact;
            const std::string call = call_text(kind);
            const size_t name = T::info.name.size();
            if (fact.empty()) {
                to.push_back({std::string(T::info.name) + "(" + path + ")",
                              call.substr(name + 1, call.size() - name - 2)});
            } else {
                const bool has_operand = call.size() > name + 2;
                to.push_back({fill_words(fact, {{"value", path}}),
                              has_operand
                                  ? call.substr(name + 1, call.size() - name - 2)
                                  : python_text(kind, path)});
            }
        }
    });
}

std::vector<Demand> demands_of(const Program& program) {
    std::vector<Demand> all;
    for (size_t i = 0; i < program.ops().size(); ++i) {
        const Op& op = program.ops()[i];
        if (op.is_internal() || op.is_step()) continue;
        if (op.is_kind())
            add_demands(program.path_text(i), op, all);
        else
            all.push_back({std::string(op.info().name), program.claim_text(i)});
    }
    return all;
}

bool is_alike(const Difference& difference) {
    return std::ranges::all_of(difference.demands, [&](const std::string& each) {
        return each == difference.demands.front();
    });
}

}  // namespace

std::vector<Difference> differences(const Table& table) {
    std::vector<Difference> all;
    tsl::robin_map<std::string, size_t> places;
    const size_t count = table.entries().size();
    for (size_t i = 0; i < count; ++i) {
        for (Demand& demand : demands_of(table.entries()[i]->program)) {
            const auto [at, is_new] = places.try_emplace(demand.fact, all.size());
            if (is_new) all.push_back({demand.fact, std::vector<std::string>(count)});
            std::string& text = all[at->second].demands[i];
            text += (text.empty() ? "" : " and ") + demand.text;
        }
    }
    std::erase_if(all, is_alike);
    return all;
}

}  // namespace guardtree
