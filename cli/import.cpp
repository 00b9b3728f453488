// import: turns recorded traffic of other formats into a workload file.

#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "cli/terminal.hpp"
#include "policies/option_error.hpp"
#include "reports/atomic_file.hpp"
#include "workloads/importers/registry.hpp"
#include "workloads/licence.hpp"
#include "workloads/yaml/source_text.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <memory>

namespace kvreplay::cli {
namespace {

namespace importers = workloads::importers;

struct ImportTexts {
  std::string format, file, output;
  std::string rows, max_input, scale, slots, block;
  std::string id, title, licence = "NOASSERTION";
  bool skip_bad = false;
};

const importers::Importer& importer_of(const std::string& format) {
  if (const importers::Importer* const importer = importers::find_importer(format)) return *importer;
  std::vector<std::string> names;
  for (const importers::Importer& row : importers::importer_table()) names.emplace_back(row.name);
  throw policies::OptionError(fmt::format("import knows no format '{}'", format), format, names);
}

bool takes(const importers::Importer& importer, const std::string& option) {
  return fmt::format(" {} ", importer.options).find(" " + option + " ") != std::string::npos;
}

importers::ImportOptions import_options(const importers::Importer& importer, const ImportTexts& texts) {
  constexpr workloads::Count most = 1'000'000'000;
  const auto read = [&](const std::string& option, const std::string& text) -> std::optional<workloads::Count> {
    if (text.empty()) return std::nullopt;
    if (option != "--rows" && !takes(importer, option)) {
      throw policies::OptionError(fmt::format("{} takes no {} (it takes: --rows --skip-bad{}{})", importer.name, option,
                                              importer.options.empty() ? "" : " ", importer.options));
    }
    return parse_count(option, text, 1, most);
  };
  importers::ImportOptions options;
  options.rows = read("--rows", texts.rows);
  options.max_input = read("--max-input", texts.max_input);
  options.scale = read("--scale", texts.scale).value_or(1);
  options.slots = read("--slots", texts.slots).value_or(1);
  options.block = read("--block", texts.block);
  options.skip_bad = texts.skip_bad;
  options.id = texts.id;
  options.title = texts.title;
  options.licence = texts.licence;
  return options;
}

void check_output(const ImportTexts& texts) {
  std::error_code error;
  if (texts.output.empty() || texts.output == "-" || std::filesystem::is_directory(texts.output, error)) {
    throw policies::OptionError(fmt::format("-o {}: import writes a file; name one", texts.output));
  }
  check_place("-o", texts.output);
  if (std::filesystem::equivalent(texts.file, texts.output, error)) {
    throw policies::OptionError(fmt::format("-o {}: is the file to be imported", texts.output));
  }
}

// A text of the file's head: what could not be written as it is given must not be written otherwise.
void check_line(const char* option, const std::string& text) {
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < text.size(); at += bytes) {
    std::string fault = workloads::yaml::fault_of_character(text, at, bytes);
    if (fault.empty() && (text[at] == '\n' || text[at] == '\t' || text[at] == '\r')) fault = "a line break or tab";
    if (!fault.empty()) throw policies::OptionError(fmt::format("{} takes one line of text: it has {}", option, fault));
  }
}

void check_head(const ImportTexts& texts) {
  check_line("--id", texts.id);
  check_line("--title", texts.title);
  if (workloads::is_licence(texts.licence)) return;
  throw policies::OptionError(
      fmt::format("--licence takes {}, not {}", workloads::licence_form, workloads::yaml::shown(texts.licence)));
}

int import(const ImportTexts& texts) {
  const importers::Importer& importer = importer_of(texts.format);
  check_output(texts);
  check_head(texts);
  const importers::Imported imported = importers::import_trace(importer, texts.file, import_options(importer, texts));
  reports::write_atomically(texts.output, imported.text);
  for (const importers::ImportNote& note : imported.notes) {
    say(fmt::format("note: {}: {} (first in line {}{}{})", note.reason, note.rows, note.first_line,
                    note.example.empty() ? "" : ": ", note.example));
  }
  if (!imported.unused.empty()) {
    const bool more = imported.unused.size() == importers::Imported::max_unused;
    say(fmt::format("note: not used of {}: {}{}", texts.file, fmt::join(imported.unused, ", "), more ? ", ..." : ""));
  }
  fmt::print("{}: {} of {} rows read taken from {}, {} bytes\n", texts.output, imported.rows_taken, imported.rows_read,
             texts.file, imported.text.size());
  return exit_ok;
}

std::string format_help() {
  std::string text = "Formats, each with its options:";
  for (const importers::Importer& importer : importers::importer_table()) {
    text += fmt::format("\n  {:<17} {}\n{:20}--rows --skip-bad{}{}", importer.name, importer.summary, "",
                        importer.options.empty() ? "" : " ", importer.options);
  }
  return text;
}

}  // namespace

void add_import(CLI::App& program, Command& chosen) {
  auto texts = std::make_shared<ImportTexts>();
  CLI::App* command = program.add_subcommand("import", "Turn a public trace or a raw recording into a workload file");
  command->add_option("FORMAT", texts->format, "Format of FILE, see below")->required();
  command->add_option("FILE", texts->file, "What to import")->required();
  command->add_option("-o,--output", texts->output, "Workload file to write, whole or not at all")->required();
  command->add_option("--rows", texts->rows, "Take at most so many rows");
  command->add_option("--max-input", texts->max_input, "Leave out requests with a longer prompt, in tokens");
  command->add_option("--scale", texts->scale, "Divide all lengths, and the block size, by this");
  command->add_option("--slots", texts->slots, "Requests under way at a time, one token each in turn; default 1");
  command->add_option("--block", texts->block, "Tokens of a block hash; default: the format's (Bailian: 16)");
  command->add_flag("--skip-bad", texts->skip_bad, "Count rows that cannot be read instead of ending at the first");
  command->add_option("--id", texts->id, "meta.id; default: the file's name");
  command->add_option("--title", texts->title, "meta.title");
  command->add_option("--licence", texts->licence, "meta.licence, an SPDX expression")->capture_default_str();
  command->footer(format_help());
  command->callback([texts, &chosen] { chosen = [texts] { return import(*texts); }; });
}

}  // namespace kvreplay::cli
