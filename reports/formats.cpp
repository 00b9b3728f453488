#include "reports/formats.hpp"

#include "reports/bencher.hpp"
#include "reports/format_lookup.hpp"
#include "reports/github_action.hpp"
#include "reports/google_benchmark.hpp"
#include "reports/html.hpp"
#include "reports/junit.hpp"
#include "reports/markdown.hpp"
#include "reports/perfetto.hpp"
#include "reports/result_csv.hpp"
#include "reports/result_json.hpp"
#include "reports/text.hpp"

#include <array>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

constexpr std::array formats{
    Format{"json", ".json", "result file, schema kvreplay.result/1: everything there is", write_result_json},
    Format{"markdown", ".md", "tables for people, a pull request or a CI summary", write_markdown},
    Format{"csv", ".csv", "one number a line: workload, policy, repetition, metric, unit, value", write_result_csv},
    Format{"google-benchmark", ".gbench.json", "Google Benchmark's JSON, for its compare.py and CI actions",
           write_google_benchmark},
    Format{"html", ".html", "one page for people: tables and charts, works offline", write_html},
    Format{"junit", ".junit.xml", "JUnit XML for CI servers: outcome and verification of every run", write_junit},
    Format{"perfetto", ".trace.json", "trace for ui.perfetto.dev and chrome://tracing: evaluations, memory",
           write_perfetto},
    Format{"github-action-benchmark", ".action.json", "list for github-action-benchmark, customSmallerIsBetter",
           write_github_action},
    Format{"bencher", ".bencher.json", "Bencher Metric Format, for bencher.dev", write_bencher},
};

}  // namespace

std::span<const Format> format_table() { return formats; }

const Format* find_format(std::string_view name) { return row_named(format_table(), name); }

UnknownFormat::UnknownFormat(const std::string& path, const std::string& known_extensions)
    : std::invalid_argument(fmt::format("{}: the end of the name picks the format; known are {}", shortened(path, 200),
                                        known_extensions)) {}

const Format& format_for_path(const std::string& path) {
  const Format* format = row_for_path(format_table(), path);
  if (format == nullptr) throw UnknownFormat(path, extensions_of(format_table()));
  return *format;
}

}  // namespace kvreplay::reports
