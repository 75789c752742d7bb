// The observer that turns ops that did not pass into sentences.
// SPDX-License-Identifier: MIT
#include "explain.h"

#include "walk.h"

namespace guardtree {
namespace {

/// Keeps values; texts are made after the walk, because repr runs user code.
struct Collector {
    static constexpr bool goes_on = true;

    struct Record {
        Op op;
        Owned<> source;
        Verdict verdict;
        Owned<> error;
    };

    std::vector<Record> records;
    std::vector<bool> reported_unbound;

    void did_not_pass(const Op& op, PyObject* source, Verdict verdict,
                      Owned<>& error) noexcept {
        if (!source && op.is_from_local()) {
            if (reported_unbound.size() <= op.source) {
                reported_unbound.resize(op.source + size_t{1});
            }
            if (reported_unbound[op.source]) return;
            reported_unbound[op.source] = true;
        }
        records.push_back({op, Owned<>::share(source), verdict, std::move(error)});
    }
};

std::string error_text(PyObject* exception) {
    if (!exception) return {};
    const ExceptionPause pause;
    auto text = Owned<>::steal(PyObject_Str(exception));
    const char* message = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
    std::string result = Py_TYPE(exception)->tp_name;
    if (message && *message) result += std::string(": ") + message;
    PyErr_Clear();
    return result;
}

Failure describe(const Program& program, const Collector::Record& record) {
    const Op& op = record.op;
    const Tree& tree = program.tree();
    Failure failure;
    failure.kind = op.info().name;
    failure.expected = call_text(op);
    failure.error = error_text(record.error.get());
    if (op.is_kind()) {
        failure.path = tree.path_text(op.node);
        failure.python = python_text(op, failure.path);
    } else {
        failure.path = tree.path_text(op.node);
        failure.python = failure.path;
    }
    if (record.source) {
        failure.found = found_text(record.source.get());
    } else {
        failure.found = op.is_from_local() ? "unbound" : "nothing";
    }
    return failure;
}

}  // namespace

std::string Failure::text() const {
    std::string text = path + ": expected " + expected + ", that is `" + python + "`; ";
    if (!error.empty()) return text + "it raised " + error + " on " + found;
    if (found == "unbound") return text + "the variable is unbound";
    if (found == "nothing") return text + "there is no such name";
    return text + (path == python ? "not to be had from " : "found ") + found;
}

std::string Explanation::text() const {
    if (verdict == Verdict::pass) return "all guards pass";
    std::string text;
    for (const Failure& failure : failures) {
        if (!text.empty()) text += "\n";
        text += failure.text();
    }
    return text;
}

bool explain(const Program& program, const View& view, Explanation& to) {
    std::vector<PyObject*> values(program.value_count());
    Collector collector;
    Owned<> error;
    to.verdict = walk(program, view, values.data(), error, collector);
    if (PyErr_Occurred()) return false;
    for (const Collector::Record& record : collector.records) {
        to.failures.push_back(describe(program, record));
    }
    return true;
}

}  // namespace guardtree
