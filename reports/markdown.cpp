#include "reports/markdown.hpp"

#include "reports/budgets.hpp"
#include "reports/glance.hpp"
#include "reports/measurements.hpp"
#include "reports/metrics.hpp"
#include "reports/overview.hpp"
#include "reports/statistics.hpp"
#include "reports/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

constexpr std::size_t max_name_width = 100;
constexpr std::size_t max_note_width = 500;
constexpr std::size_t reserve_bytes = 2'000;  // for the verdict and the sentence about what was left out

bool is_letter_or_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// Means nothing to Markdown where it stands: an underscore inside a word, a colon that begins no address.
bool is_plain(const std::string& text, std::size_t i) {
  const char before = i > 0 ? text[i - 1] : ' ', after = i + 1 < text.size() ? text[i + 1] : ' ';
  if (text[i] == '_') return is_letter_or_digit(before) && is_letter_or_digit(after);
  if (text[i] == ':') return after != '/';
  return is_letter_or_digit(text[i]) || (static_cast<unsigned char>(text[i]) & 0x80U) != 0 ||
         std::string_view(" ,.;=+-/%()").find(text[i]) != std::string_view::npos;
}

// Printable text without markup: everything that could begin some is a character reference.
std::string escaped(std::string_view text, std::size_t width) {
  const std::string shown = shortened(text, width);
  std::string out;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (is_plain(shown, i)) {
      out += shown[i];
    } else {
      out += fmt::format("&#{};", static_cast<int>(shown[i]));
    }
  }
  return out;
}

std::string marked(const std::string& text, Emphasis emphasis) {
  switch (emphasis) {
    case Emphasis::best:
      return fmt::format("**{}**", text);
    case Emphasis::warning:
      return fmt::format("\xE2\x9A\xA0 {}", text);  // warning sign
    case Emphasis::failure:
      return fmt::format("\xE2\x9D\x8C {}", text);  // cross
    case Emphasis::none:
      break;
  }
  return text;
}

void append_row(std::string& out, const std::vector<std::string>& cells) {
  out += '|';
  for (const std::string& cell : cells) out += fmt::format(" {} |", cell);
  out += '\n';
}

void append_rule(std::string& out, const std::vector<bool>& is_number) {
  out += '|';
  for (const bool number : is_number) out += number ? "---:|" : "---|";
  out += '\n';
}

// Names as they are shown, apart where they differ.
std::vector<std::string> shown_policies(std::span<const RunResult> results, const Group& group) {
  std::vector<std::string> specs;
  specs.reserve(group.results.size());
  for (const std::size_t i : group.results) specs.push_back(results[i].policy.spec);
  return shortened_apart(specs, max_name_width);
}

std::string key_table(const Overview& overview, const std::vector<std::string>& policies) {
  std::vector<std::string> titles;
  std::vector<bool> is_number;
  for (const OverviewColumn& column : overview.columns) {
    titles.push_back(column.title);
    is_number.push_back(column.is_number);
  }
  std::string out;
  append_row(out, titles);
  append_rule(out, is_number);
  for (std::size_t policy = 0; policy < overview.rows.size(); ++policy) {
    const std::vector<OverviewCell>& row = overview.rows[policy];
    std::vector<std::string> cells{markdown_name(policies[policy])};
    for (std::size_t i = 1; i < row.size(); ++i) {
      cells.push_back(marked(escaped(row[i].text, max_name_width), row[i].emphasis));
    }
    append_row(out, cells);
  }
  return out;
}

// One number of all workloads. Takes at most a thirty-second of the room, and says what it leaves out.
std::string glance_table(const std::vector<Overview>& overviews, std::string_view title) {
  const Glance glance = glance_of(overviews, title);
  std::string out = fmt::format("### All workloads: {}\n\n", title);
  std::vector<std::string> titles{"workload"};
  for (const std::string& policy : shortened_apart(glance.policies, max_name_width)) {
    titles.push_back(markdown_name(policy));
  }
  append_row(out, titles);
  std::vector<bool> is_number(titles.size(), true);
  is_number[0] = false;
  append_rule(out, is_number);
  std::size_t num_left_out = 0;
  for (const std::vector<OverviewCell>& row : glance.rows) {
    if (out.size() > max_markdown_bytes / 32) {
      ++num_left_out;
      continue;
    }
    std::vector<std::string> cells{markdown_name(row[0].text)};
    for (std::size_t i = 1; i < row.size(); ++i) {
      cells.push_back(marked(escaped(row[i].text, max_name_width), row[i].emphasis));
    }
    append_row(out, cells);
  }
  if (num_left_out > 0) out += fmt::format("\n{} more workloads are not in this table.\n", num_left_out);
  return out + "\n";
}

// Every number of a group: a row per metric, a column per policy.
std::string all_numbers(std::span<const RunResult> results, const Group& group,
                        const std::vector<std::string>& policies) {
  std::vector<std::string> titles{"metric", "unit"};
  std::vector<bool> is_number{false, false};
  std::vector<std::vector<Measurement>> numbers;
  std::vector<std::pair<std::string, std::string>> metrics;  // name, unit; in order of first appearance
  for (const std::string& policy : policies) titles.push_back(markdown_name(policy));
  for (const std::size_t i : group.results) {
    is_number.push_back(true);
    numbers.push_back(counted(results[i]));
    for (Measurement& number : measured(results[i])) numbers.back().push_back(std::move(number));
    for (const Measurement& number : numbers.back()) {
      const std::pair entry(number.metric, number.unit);
      if (std::find(metrics.begin(), metrics.end(), entry) == metrics.end()) metrics.push_back(entry);
    }
  }
  std::string out;
  append_row(out, titles);
  append_rule(out, is_number);
  for (const auto& [name, unit] : metrics) {
    std::vector<std::string> cells{markdown_name(name), escaped(unit, max_name_width)};
    for (const auto& run : numbers) {
      const auto number =
          std::find_if(run.begin(), run.end(), [&, &metric = name](const auto& n) { return n.metric == metric; });
      cells.push_back(number == run.end() ? std::string() : text_of(number->value));
    }
    append_row(out, cells);
  }
  return out;
}

std::string folded(std::string_view summary, const std::string& content) {
  return fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n\n", summary, content);
}

std::string heading_of(const Overview& overview) {
  std::string out = fmt::format("### {}\n\n", markdown_name(overview.workload));
  if (!overview.title.empty()) out += escaped(overview.title, max_note_width) + "  \n";
  return out + escaped(overview.setting, max_note_width) + "\n\n";
}

std::string notes_of(const Overview& overview) {
  std::string out;
  for (const std::string& note : overview.notes) out += fmt::format("- {}\n", escaped(note, max_note_width));
  return out.empty() ? out : out + "\n";
}

// Broken budgets in sight, the others folded. Each table takes at most a quarter of the room; the rest is counted.
std::string budgets_of(const ResultFile& file) {
  const std::vector<std::string> workloads = budget_workloads(file);
  std::string seen, others;
  std::size_t num_left_out = 0;
  for (std::string* table : {&seen, &others}) {
    append_row(*table, {"budget", "workload", "policy", "quantity", "found", "where"});
    append_rule(*table, {false, false, false, false, false, false});
  }
  const std::size_t empty_bytes = seen.size();
  for (std::size_t i = 0; i < file.budgets.size(); ++i) {
    const BudgetLine& budget = file.budgets[i];
    const bool broken = budget.verdict == "broken";
    std::string& table = broken ? seen : others;
    if (table.size() > max_markdown_bytes / 4) {
      ++num_left_out;
      continue;
    }
    const std::string word = broken                       ? marked("broken", Emphasis::failure)
                             : budget.verdict == "passed" ? std::string("kept")
                                                          : "not judged";
    append_row(table, {word, markdown_name(workloads[i]), markdown_name(budget.policy),
                       escaped(quantity_of(budget), max_name_width), escaped(finding_of(budget), max_note_width),
                       markdown_name(fmt::format("{}:{}", budget.suite, budget.line))});
  }
  std::string out = fmt::format("### Budgets\n\n{}.\n\n", escaped(budget_summary(file), max_note_width));
  if (seen.size() > empty_bytes) out += seen + "\n";
  if (others.size() > empty_bytes) out += folded("Budgets that are kept or not judged", others);
  if (num_left_out > 0) out += fmt::format("{} more are in the result file.\n\n", num_left_out);
  return out;
}

std::string legend_and_provenance(const ResultFile& file) {
  std::string out;
  append_row(out, {"setting", "value"});
  append_rule(out, {false, false});
  for (const auto* pairs : {&file.config, &file.provenance.entries}) {
    for (const auto& [key, value] : *pairs) append_row(out, {markdown_name(key), escaped(value, max_note_width)});
  }
  out +=
      "\nPercentiles are nearest rank. x floor: tokens evaluated over the least a perfect cache of one sequence would "
      "evaluate; x tree: over a perfect tree of all prefixes. Best of the completed runs in bold.\n";
  return folded("Settings, machine and how to read this", out);
}

}  // namespace

std::string markdown_name(std::string_view name) {
  return fmt::format("<code>{}</code>", name.empty() ? std::string(" ") : escaped(name, max_name_width));
}

std::string markdown_text(std::string_view text, std::size_t width) { return escaped(text, width); }

std::string write_markdown(const ResultFile& file) {
  const Verdict verdict = verdict_of(file);
  const std::vector<std::string> labels = shortened_apart(workload_labels(file.results), max_name_width);
  std::string out = fmt::format(
      "**{}.**\n\n", marked(verdict.text, verdict.emphasis == Emphasis::best ? Emphasis::none : verdict.emphasis));
  if (!file.budgets.empty()) out += budgets_of(file);
  const std::vector<Group> groups = groups_of(file.results);
  std::vector<Overview> overviews;
  overviews.reserve(groups.size());
  for (const Group& group : groups) {
    overviews.push_back(overview_of(file.results, group, labels[group.results.front()], Units::human));
  }
  if (groups.size() > 1) out += glance_table(overviews, "x floor") + glance_table(overviews, "peak");
  std::size_t num_left_out = 0, num_unfolded = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    const Overview& overview = overviews[i];
    const std::vector<std::string> policies = shown_policies(file.results, group);
    const std::string section = heading_of(overview) + key_table(overview, policies) + "\n" + notes_of(overview);
    if (num_left_out > 0 || out.size() + section.size() + reserve_bytes > max_markdown_bytes) {
      ++num_left_out;
      continue;
    }
    out += section;
    const std::string numbers = folded("All numbers", all_numbers(file.results, group, policies));
    // Folded parts take at most half of the room, so that they never push out a workload's key numbers first.
    if (out.size() + numbers.size() + reserve_bytes > max_markdown_bytes / 2) {
      ++num_unfolded;
    } else {
      out += numbers;
    }
  }
  if (num_left_out + num_unfolded > 0) {
    out += fmt::format(
        "To stay under 1 MiB, {} workloads and the full numbers of {} more are left out here; the result "
        "file has them.\n\n",
        num_left_out, num_unfolded);
  }
  const std::string settings = legend_and_provenance(file);
  if (out.size() + settings.size() < max_markdown_bytes) out += settings;
  return out;
}

}  // namespace kvreplay::reports
