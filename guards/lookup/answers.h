// What a question about a value with several keys leads to.
// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <memory>

#include "../objects/keys.h"

namespace guardtree {

class Bucket;

/// The buckets that the keys of one value lead to, each once. Borrowed.
class Answers {
public:
    static constexpr size_t max = 7;

    Answers() noexcept = default;

    Answers(const Answers& other) noexcept { *this = other; }

    /// Copies what there is.
    Answers& operator=(const Answers& other) noexcept {
        std::copy(other.begin(), other.end(), found_);
        count_ = other.count_;
        return *this;
    }

    /// Does nothing for null. False if there are `limit` others already.
    bool add(const Bucket* bucket, size_t limit) noexcept {
        if (!bucket || std::find(begin(), end(), bucket) != end()) [[likely]]
            return true;
        if (count_ >= std::min(limit, max)) return false;
        found_[count_++] = bucket;
        return true;
    }

    const Bucket* const* begin() const noexcept { return found_; }

    const Bucket* const* end() const noexcept { return found_ + count_; }

private:
    size_t count_ = 0;
    const Bucket* found_[max];
};

/// What the types of recent values have answered. CPython replaces the version tag of a
/// type if the type or a base changes, and never reuses a tag. A copy is empty.
class AnswersOfTypes {
public:
    struct Known {
        unsigned tag = 0;
        bool is_complete = false;  ///< not so if there were too many answers
        Answers answers;
    };

    AnswersOfTypes() noexcept = default;

    AnswersOfTypes(const AnswersOfTypes&) noexcept {}

    AnswersOfTypes& operator=(const AnswersOfTypes&) noexcept {
        known_.reset();
        return *this;
    }

    AnswersOfTypes(AnswersOfTypes&&) noexcept = default;
    AnswersOfTypes& operator=(AnswersOfTypes&&) noexcept = default;
    ~AnswersOfTypes() = default;

    /// Where the answers of a type are kept. Null without memory.
    Known* at(unsigned tag) noexcept {
        if (!known_) known_.reset(new (std::nothrow) Known[count]);
        return known_ ? &known_[tag % count] : nullptr;
    }

    /// To be called before buckets move.
    void forget() noexcept { known_.reset(); }

private:
    static constexpr size_t count = 32;
    std::unique_ptr<Known[]> known_;
};

}  // namespace guardtree
