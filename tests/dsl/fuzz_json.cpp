// A libFuzzer target: no text crashes the JSON reader, and what it reads is written and
// read again as the same bytes.
// SPDX-License-Identifier: MIT
//
// A corpus is texts of to_json().
#include <Python.h>

#include "../../dsl/json/reader.h"
#include "../../dsl/json/writer.h"

#include "fuzz.h"

namespace guardtree::tests {
namespace {

/// The canonical text. Refs lead to objects of any kind, not all of which can be
/// written: those are dropped.
std::string written(const Tree& tree, std::vector<std::string>& dropped) {
    std::string text;
    Diagnostic problem;
    demand(to_json(tree, {.drop_unportable = true}, text, dropped, problem),
           "a tree that was read is not written", problem.message);
    return text;
}

void run(std::string_view text) {
    const JsonReading reading{.allow_calls = true};
    Tree tree;
    Diagnostic problem;
    const bool is_read = from_json(text, reading, tree, problem);
    demand(!PyErr_Occurred(), "an exception was left pending");
    demand(is_read || (problem && !problem.message.empty()), "refused without a word");
    if (!is_read) {
        demand(tree.node_count() == 1, "a refused text left something in the tree");
        return;
    }
    std::vector<std::string> dropped;
    const std::string first = written(tree, dropped);
    Tree again;
    demand(from_json(first, reading, again, problem), "the writer's text is refused",
           problem.message);
    dropped.clear();
    const std::string second = written(again, dropped);
    demand(dropped.empty(), "what was written once is not written again", first);
    demand(second == first, "the second text differs", second);
}

}  // namespace
}  // namespace guardtree::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (!Py_IsInitialized()) guardtree::tests::start();
    guardtree::tests::run({reinterpret_cast<const char*>(data), size});
    return 0;
}
