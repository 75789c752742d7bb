// Google Benchmark program: evaluating guards inside C++, on release builds only.
// SPDX-License-Identifier: MIT
//
//     bench_evaluate [--seconds=S | --iterations=N] [--smoke] [benchmark's own options]
//
// --seconds: the least time of each benchmark (Google Benchmark's default is 0.5).
// --iterations: how often each runs, for counts of instructions. Before 1.8, Google
// Benchmark has no option for it.
// --smoke: every benchmark once, in any build, to see that it runs; its numbers mean
// nothing and are printed only as JSON, which then says so in its context.
#include <Python.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "guarded_function.h"
#include "interpreter.h"
#include "subjects.h"

namespace guardtree::bench {
namespace {

/// Why numbers of this build would mislead; null when they would not.
const char* reason_to_refuse() {
#ifdef Py_DEBUG
    return "CPython is a debug build";
#elif !defined(NDEBUG) || !defined(__OPTIMIZE__)
    return "guardtree is a debug build";
#else
    return nullptr;
#endif
}

/// Runs the benchmarks and prints nothing.
class Silent : public benchmark::BenchmarkReporter {
public:
    bool ReportContext(const Context&) override { return true; }

    void ReportRuns(const std::vector<Run>&) override {}
};

struct Settings {
    bool smoke = false;
    bool json = false;
    double seconds = 0;
    int iterations = 0;
};

/// Takes our own options out of the list.
Settings take_settings(std::vector<char*>& arguments) {
    Settings settings;
    std::vector<char*> rest;
    for (char* argument : arguments) {
        const std::string text = argument;
        if (text == "--smoke")
            settings.smoke = true;
        else if (text.starts_with("--seconds="))
            settings.seconds = std::atof(argument + 10);
        else if (text.starts_with("--iterations="))
            settings.iterations = std::atoi(argument + 13);
        else
            rest.push_back(argument);
        settings.json = settings.json || text == "--benchmark_format=json";
    }
    arguments = rest;
    return settings;
}

void register_all(const Settings& settings) {
    const Register add = [&](const std::string& name,
                             std::function<void(benchmark::State&)> measure) {
        auto* made = benchmark::RegisterBenchmark(
            name.c_str(), [measure](benchmark::State& state) { measure(state); });
        if (settings.smoke)
            made->Iterations(1);
        else if (settings.iterations > 0)
            made->Iterations(settings.iterations);
        else if (settings.seconds > 0)
            made->MinTime(settings.seconds);
    };
    register_lookups(add);
    register_assumptions(add);
    register_c_abi(add);
    register_tables(add);
    register_kinds_and_steps(add);
    register_slopes(add);
    register_sweep(add);
    register_building(add);
    register_expressions(add);
    register_text(add);
}

int run(int argc, char** argv) {
    std::vector<char*> arguments(argv, argv + argc);
    const Settings settings = take_settings(arguments);
    const char* reason = reason_to_refuse();
    if (reason && !settings.smoke) {
        std::fprintf(stderr,
                     "bench_evaluate: %s, so its numbers would mean nothing: build the "
                     "release preset for a release CPython (or --smoke)\n",
                     reason);
        return 1;
    }
    start_interpreter();
    benchmark::AddCustomContext("python", PY_VERSION);
    benchmark::AddCustomContext("compiler", __VERSION__);
    benchmark::AddCustomContext("smoke", settings.smoke ? "yes" : "no");
    register_all(settings);
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
    if (settings.smoke && !settings.json) {
        Silent silent;
        const size_t count_run = benchmark::RunSpecifiedBenchmarks(&silent);
        std::printf("%zu benchmarks run%s\n", count_run,
                    has_broken() ? ", some did not do what they measure" : "");
        return has_broken() ? 1 : 0;
    }
    return benchmark::RunSpecifiedBenchmarks() > 0 && !has_broken() ? 0 : 1;
}

}  // namespace
}  // namespace guardtree::bench

int main(int argc, char** argv) {
    return guardtree::bench::run(argc, argv);
}
