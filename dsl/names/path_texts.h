// The paths of a tree as text, each created on first use. Internal.
// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "../../guards/tree/tree.h"

namespace guardtree {

/// The nodes in preorder, the root first.
std::vector<NodeId> preorder_of(const Tree& tree);

/// The texts of paths, built from the text of each step over a mark.
class PathTexts {
public:
    explicit PathTexts(const Tree& tree) : tree_(tree), steps_(tree.node_count()) {}

    /// `text_of(step, value)`
    void add(NodeId id, auto text_of) {
        std::string text = text_of(tree_.node(id).step, std::string(mark));
        const size_t place = text.find(mark);
        if (place != text.npos) {
            steps_[id].behind = text.substr(place + mark.size());
            text.resize(place);
        }
        steps_[id].before = std::move(text);
    }

    std::string operator[](NodeId id) const {
        std::vector<NodeId> path;
        for (; id != 0; id = tree_.node(id).parent) path.push_back(id);
        std::string text;
        for (const NodeId step : path) text += steps_[step].before;
        for (size_t i = path.size(); i-- > 0;) text += steps_[path[i]].behind;
        return text;
    }

private:
    static constexpr std::string_view mark = "\x01";  // does not occur in Python text

    struct Step {
        std::string before;
        std::string behind;
    };

    const Tree& tree_;
    std::vector<Step> steps_;
};

}  // namespace guardtree
