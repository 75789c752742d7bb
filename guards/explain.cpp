// The observer that turns ops that did not pass into sentences.
// SPDX-License-Identifier: MIT
#include "explain.h"

#include <algorithm>

#include "assumptions/report.h"
#include "lookup.h"

namespace guardtree {
namespace {

/// Keeps values; texts are made after the walk, because repr runs user code.
struct Collector {
    static constexpr bool goes_on = true;
    static constexpr bool hears_each = true;

    struct Record {
        const Op* op;
        References found;
        Verdict verdict;
        Owned<> error;
    };

    std::vector<Record> records;
    std::vector<bool> reported_unbound;
    size_t ran = 0;

    void runs(const Op& op) noexcept {
        if (!op.is_internal()) ++ran;
    }

    bool is_told_already(const Op& op, std::span<PyObject* const> found) {
        const bool is_complete =
            std::ranges::all_of(found, [](PyObject* each) { return each != nullptr; });
        if (is_complete || op.is_relation()) return false;
        if (reported_unbound.size() <= op.source) {
            reported_unbound.resize(op.source + size_t{1});
        }
        if (reported_unbound[op.source]) return true;
        reported_unbound[op.source] = true;
        return false;
    }

    void did_not_pass(const Op& op, std::span<PyObject* const> found, Verdict verdict,
                      Owned<>& error) noexcept {
        if (is_told_already(op, found)) return;
        References kept;
        for (PyObject* each : found) kept.push_back(Owned<>::share(each));
        records.push_back({&op, std::move(kept), verdict, std::move(error)});
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

/// A kind that has more to say of a value than its repr.
template <class T>
concept TellsWhatItFound = requires(const T& kind, PyObject* value) {
    { kind.found(value) } -> std::same_as<std::string>;
};

std::string found_by(const Op& op, PyObject* value) {
    return dispatch(op, [&]<class T>(const T& concrete) {
        if constexpr (TellsWhatItFound<T>)
            return concrete.found(value);
        else
            return found_text(value);
    });
}

std::string found_in(const Collector::Record& record) {
    if (record.found.empty()) return "nothing";
    std::string text;
    for (const Owned<>& each : record.found) {
        if (!each) return record.op->is_relation() ? "a value missing" : "unbound";
        text += (text.empty() ? "" : ", ") + found_by(*record.op, each.get());
    }
    return text;
}

Failure describe(const Program& program, const Collector::Record& record) {
    const Op& op = *record.op;
    const auto number = static_cast<size_t>(&op - program.ops().data());
    Failure failure;
    failure.kind = op.info().name;
    failure.expected = call_text(op);
    failure.error = error_text(record.error.get());
    failure.python = program.claim_text(number);
    failure.path = op.is_relation() ? failure.python : program.path_text(number);
    failure.found = found_in(record);
    failure.note = Owned<>::share(program.note_of(op));
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
    for (const std::string& each : invalidated) text += "\n" + each;
    return text;
}

namespace {

bool explain_held(const Program& program, const View& view, Explanation& to) {
    std::vector<PyObject*> values(program.value_count());
    Collector collector;
    Owned<> error;
    to.verdict = walk(program, view, values.data(), error, collector);
    if (PyErr_Occurred()) return false;
    to.checks_run = collector.ran;
    to.invalidated = report_assumptions(program).invalidated;
    for (const Collector::Record& record : collector.records) {
        to.failures.push_back(describe(program, record));
    }
    return true;
}

}  // namespace

bool explain(const Program& program, const View& view, Explanation& to) {
    return with_user_code(
        view, [&](const View& held) { return explain_held(program, held, to); });
}

}  // namespace guardtree
