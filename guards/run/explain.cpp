// The observer that converts ops that did not pass into sentences.
// SPDX-License-Identifier: MIT
#include "explain.h"

#include "../../framelocals/no_memory.h"

#include <algorithm>

#include "../assumptions/report.h"
#include "../operands/native_found.h"

#include "user_code.h"
#include "walk.h"

namespace guardtree {
namespace {

/// Keeps values alive. Their text is produced after the walk, because repr runs user
/// code.
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

    bool is_reported(const Op& op, std::span<PyObject* const> found) {
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
        if (is_reported(op, found)) return;
        References kept;
        for (PyObject* each : found) kept.push_back(Owned<>::share(each));
        records.push_back({&op, std::move(kept), verdict, std::move(error)});
    }
};

/// What a native check reports about the value. Empty if it reports nothing.
std::string found_by_native(PyObject* capsule, PyObject* value) {
    const char* const name = PyCapsule_GetName(capsule);
    const bool tells = name && (std::string_view(name) == native_check_found ||
                                std::string_view(name) == native_pure_found);
    if (!tells) return {};
    const auto* functions =
        static_cast<const NativeFound*>(PyCapsule_GetPointer(capsule, name));
    const ExceptionPause pause;
    const auto text =
        Owned<>::steal(functions->found(value, PyCapsule_GetContext(capsule)));
    std::string found = text && PyUnicode_Check(text.get()) ? utf8(text.get()) : "";
    drop_exception();
    return found;
}

std::string found_by(const Op& op, PyObject* value) {
    const NativeFunction* native = nullptr;
    if (op.code() == code_of<Native>) native = &op.as<Native>().function;
    if (op.code() == code_of<NativePure>) native = &op.as<NativePure>().function;
    if (native) {
        std::string found = found_by_native(native->capsule, value);
        if (!found.empty()) return found;
    }
    return dispatch(op, [&]<class T>(const T& concrete) {
        if constexpr (TellsWhatItFound<T>)
            return concrete.found(value);
        else
            return found_text(value);
    });
}

/// The guard as the call that creates it.
std::string expected_of(const Program& program, const Op& op) {
    return dispatch(op, [&]<class T>(const T& concrete) -> std::string {
        if constexpr (CalledOverPaths<T>)
            return concrete.call(program.relation_paths(op));
        else
            return call_text(op);
    });
}

std::string reason_of(const Op& op, std::span<PyObject* const> values,
                      std::span<const std::string> paths) {
    return dispatch(op, [&]<class T>(const T& relation) -> std::string {
        if constexpr (TellsWhy<T>) return relation.reason(values, paths);
        return {};
    });
}

/// The values of a relation with their paths: "x = 1 (int), y is unbound". Without the
/// path if there is only one value.
std::string found_by_relation(const Program& program, const Collector::Record& record) {
    constexpr size_t most = 8;
    const std::vector<std::string> paths = program.relation_paths(*record.op);
    const auto sources = program.sources_of(*record.op);
    if (paths.size() == 1 && !record.found[0] && sources[0].from_local)
        return "unbound";
    std::vector<PyObject*> values;
    std::string text;
    size_t missing = 0;
    for (size_t i = 0; i < paths.size(); ++i) {
        PyObject* value = record.found[i].get();
        values.push_back(value);
        if (!value) ++missing;
        if (value && i >= most) continue;
        text += text.empty() ? "" : ", ";
        if (value)
            text += (paths.size() == 1 ? "" : paths[i] + " = ") + found_text(value);
        else
            text += paths[i] + (sources[i].from_local ? " is unbound" : " is missing");
    }
    if (paths.size() > most) text += ", ...";
    const std::string why = missing ? "" : reason_of(*record.op, values, paths);
    return why.empty() ? text : text + "; " + why;
}

std::string found_in(const Program& program, const Collector::Record& record) {
    if (record.op->is_relation()) return found_by_relation(program, record);
    if (record.found.empty()) return "nothing";
    PyObject* found = record.found[0].get();
    return found ? found_by(*record.op, found) : "unbound";
}

std::vector<FactDifference> differences_of(const Collector::Record& record) {
    if (!record.op->is_kind() || record.found.empty() || !record.found[0]) return {};
    return dispatch(*record.op,
                    [&]<class T>(const T& kind) -> std::vector<FactDifference> {
                        if constexpr (TellsDifferences<T>)
                            return kind.differences(record.found[0].get());
                        return {};
                    });
}

Failure describe(const Program& program, const Collector::Record& record) {
    const Op& op = *record.op;
    const auto number = static_cast<size_t>(&op - program.ops().data());
    Failure failure;
    failure.kind = op.info().name;
    failure.expected = expected_of(program, op);
    if (record.error) failure.error = exception_text(record.error.get());
    failure.python = program.claim_text(number);
    failure.path = op.is_relation() ? failure.python : program.path_text(number);
    failure.found = found_in(program, record);
    failure.is_step = op.is_step();
    failure.differences = differences_of(record);
    failure.nodes = program.nodes_of(number);
    failure.note = Owned<>::share(program.note_of(op));
    return failure;
}

}  // namespace

std::string Failure::text() const {
    std::string text = path + ": expected " + expected + ", that is `" + python + "`; ";
    if (!error.empty())
        text += "it raised " + error + " on " + found;
    else if (found == "unbound")
        text += "the variable is unbound";
    else if (found == "nothing")
        text += "there is no such name";
    else
        text += (is_step ? "not found on " : "found ") + found;
    if (note) text += " (note: " + note_text(note.get()) + ")";
    return text;
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
