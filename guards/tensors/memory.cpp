// Finds overlaps of tensors by sorting their extents.
// SPDX-License-Identifier: MIT
#include "memory.h"

#include <algorithm>
#include <array>
#include <memory>

#include "../../framelocals/no_memory.h"
#include "../objects/constant.h"
#include "../operands/held_object.h"

#include "readers.h"

namespace guardtree {
namespace {

/// The bytes from `begin` up to `end` on a device. Empty if both are equal.
struct Extent {
    intptr_t begin;
    intptr_t end;
    uint32_t device;
    uint16_t number;
};

bool read_extent(PyObject* tensor, Extent& to) noexcept {
    TensorFacts facts;
    if (!read_tensor(tensor, facts) || !facts.sizes || !facts.strides) return false;
    to.device = static_cast<uint32_t>((facts.kind & tensor_device_mask) >> 32);
    to.begin = to.end = reinterpret_cast<intptr_t>(facts.data);
    for (unsigned i = 0; i < facts.rank(); ++i) {
        if (facts.sizes[i] == 0) {
            to.end = to.begin;
            return true;
        }
        const intptr_t length =
            (facts.sizes[i] - 1) * stride_of(facts.shape(), i) * facts.stride_bytes;
        (length < 0 ? to.begin : to.end) += length;
    }
    to.end += facts.item_bytes;
    return facts.data != nullptr;
}

/// The overlapping pairs in order, for printing.
Owned<> tuple_of_pairs(const std::vector<TensorPair>& pairs) {
    auto tuple = Owned<>::steal(PyTuple_New(static_cast<Py_ssize_t>(pairs.size())));
    for (size_t i = 0; tuple && i < pairs.size(); ++i) {
        PyObject* pair = Py_BuildValue("(ii)", pairs[i].first, pairs[i].second);
        if (!pair) return {};
        PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), pair);
    }
    return tuple;
}

}  // namespace

bool OverlapPairs::are_all_of(std::span<PyObject* const> tensors) const noexcept {
    std::array<Extent, max_overlapping_tensors> all;
    size_t count = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
        Extent& extent = all[count];
        if (!read_extent(tensors[i], extent)) return false;
        extent.number = static_cast<uint16_t>(i);
        count += extent.begin != extent.end;
    }
    const std::span<Extent> extents(all.data(), count);
    std::ranges::sort(extents, [](const Extent& a, const Extent& b) {
        return a.device != b.device ? a.device < b.device : a.begin < b.begin;
    });
    size_t found = 0;
    for (size_t i = 0; i < count; ++i) {
        for (size_t j = i + 1; j < count; ++j) {
            if (extents[j].device != extents[i].device) break;
            if (extents[j].begin >= extents[i].end) break;
            const auto [low, high] = std::minmax(extents[i].number, extents[j].number);
            if (!std::ranges::binary_search(*pairs, TensorPair{low, high}))
                return false;
            ++found;
        }
    }
    return found == pairs->size();
}

std::string overlap_text(std::span<PyObject* const> tensors,
                         std::span<const std::string> paths) {
    constexpr size_t most = 4;
    std::vector<Extent> extents(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
        if (!read_extent(tensors[i], extents[i]))
            return paths[i] + " does not tell its memory";
    }
    std::string text;
    size_t count = 0;
    for (size_t j = 1; j < extents.size() && count < most; ++j) {
        for (size_t i = 0; i < j && count < most; ++i) {
            const Extent& a = extents[i];
            const Extent& b = extents[j];
            const bool are_empty = a.begin == a.end || b.begin == b.end;
            const bool overlap =
                a.device == b.device && a.begin < b.end && b.begin < a.end;
            if (are_empty || !overlap) continue;
            text += (count++ ? ", " : "") + paths[i] + " and " + paths[j];
        }
    }
    if (!count) return "none overlap";
    return text + (count == most ? ", ... overlap" : " overlap");
}

bool OverlapPairs::read(PyObject* from, OverlapPairs& to, References& keep,
                        Diagnostic& problem) {
    Constants constants;
    if (!PyTuple_CheckExact(from) || !Constants::read(from, constants, keep, problem)) {
        refuse_operand(problem, expects, from);
        return false;
    }
    auto pairs = std::make_unique<std::vector<TensorPair>>();
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(constants.value); ++i) {
        PyObject* pair = PyTuple_GET_ITEM(constants.value, i);
        int first = -1;
        int second = -1;
        constexpr int limit = static_cast<int>(max_overlapping_tensors);
        const bool is_pair =
            PyTuple_CheckExact(pair) && PyArg_ParseTuple(pair, "ii", &first, &second);
        if (!is_pair || first < 0 || second < 0 || first == second || first >= limit ||
            second >= limit) {
            drop_exception();
            refuse_operand(problem, expects, from);
            return false;
        }
        const auto [low, high] = std::minmax(first, second);
        pairs->push_back({static_cast<uint16_t>(low), static_cast<uint16_t>(high)});
    }
    std::ranges::sort(*pairs);
    // Not std::ranges::unique, because Clang 14 cannot use its subrange.
    pairs->erase(std::unique(pairs->begin(), pairs->end()), pairs->end());
    Owned<> plain = tuple_of_pairs(*pairs);
    if (!plain) {
        drop_exception();
        problem = {PyExc_MemoryError, "no memory for pairs"};
        return false;
    }
    to.value = plain.get();
    keep.push_back(std::move(plain));
    to.pairs = keep_object(std::move(pairs), keep, problem);
    return to.pairs != nullptr;
}

bool same(OverlapPairs a, OverlapPairs b) noexcept {
    return *a.pairs == *b.pairs;
}

size_t hash_of(OverlapPairs a) noexcept {
    size_t hash = a.pairs->size();
    for (const auto& [first, second] : *a.pairs) {
        hash = hash * 31 + (size_t{first} << 16 | second);
    }
    return hash;
}

std::string text_of(OverlapPairs a) {
    return constant_text(a.value);
}

}  // namespace guardtree
