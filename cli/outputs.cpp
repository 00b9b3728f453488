#include "cli/outputs.hpp"

#include "policies/option_error.hpp"
#include "reports/atomic_file.hpp"
#include "reports/compare/writers.hpp"
#include "reports/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace kvreplay::cli {
namespace {

constexpr const char* explanation_format = "csv";

std::vector<std::string> format_names(OutputKind kind) {
  std::vector<std::string> names;
  if (kind == OutputKind::comparison) {
    for (const reports::ComparisonFormat& format : reports::comparison_formats()) names.emplace_back(format.name);
    return names;
  }
  for (const reports::Format& format : reports::format_table()) names.emplace_back(format.name);
  return names;
}

bool is_format(const std::string& name, OutputKind kind) {
  return kind == OutputKind::comparison ? reports::find_comparison_format(name) != nullptr
                                        : reports::find_format(name) != nullptr;
}

std::string format_by_name_of(const std::string& path, OutputKind kind) {
  if (path == "-") return "json";
  return std::string(kind == OutputKind::comparison ? reports::comparison_format_for_path(path).name
                                                    : reports::format_for_path(path).name);
}

// FORMAT:FILE or FILE; a prefix that names no format belongs to the file's name.
std::pair<std::string, std::string> split_format(const std::string& text, OutputKind kind) {
  const auto colon = text.find(':');
  if (colon != std::string::npos && is_format(text.substr(0, colon), kind)) {
    return {text.substr(0, colon), text.substr(colon + 1)};
  }
  if (colon != std::string::npos && text.substr(colon + 1) == "-") {
    throw policies::OptionError(fmt::format("-o {}: no format is called '{}'", text, text.substr(0, colon)),
                                text.substr(0, colon), format_names(kind));
  }
  return {"", text};
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  const auto resolved = [&error](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  };
  return resolved(a) == resolved(b) || std::filesystem::equivalent(a, b, error);
}

}  // namespace

void check_place(std::string_view option, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path.empty()) throw policies::OptionError(fmt::format("{} needs a file name, or - for stdout", option));
  if (fs::is_directory(path, error)) {
    throw policies::OptionError(fmt::format("{} {}: is a directory; name a file in it", option, path));
  }
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error)) {
    throw policies::OptionError(fmt::format("{} {}: there is no folder {}", option, path, folder.string()));
  }
  try {
    reports::check_writable(path);
  } catch (const reports::FileError& fault) {
    throw policies::OptionError(fmt::format("{} {}: {} ({})", option, path, fault.problem, fault.cure));
  }
}

void check_inputs(const std::vector<std::string>& inputs, const OutputFiles& outputs) {
  check_inputs(inputs, outputs.paths(), "-o");
}

void check_inputs(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                  std::string_view option) {
  for (auto input = inputs.begin(); input != inputs.end(); ++input) {
    const auto is_same = [&input](const std::string& other) { return same_file(*input, other); };
    if (std::any_of(inputs.begin(), input, is_same)) {
      throw policies::OptionError(fmt::format("{}: given twice, its runs would count twice", *input));
    }
    if (std::any_of(outputs.begin(), outputs.end(), is_same)) {
      throw policies::OptionError(
          fmt::format("{} {}: would replace a file that is read; choose another name", option, *input));
    }
  }
}

void require_files(const std::vector<std::string>& files) {
  if (files.empty()) throw policies::OptionError("FILE is required ('kvreplay list workloads' names some)");
}

OutputFiles::OutputFiles(const std::vector<std::string>& texts, OutputKind kind) {
  for (const std::string& text : texts) {
    auto [format, path] = split_format(text, kind);
    if (path != "-") check_place("-o", path);
    if (kind == OutputKind::explanation) {
      if (!format.empty() && format != explanation_format) {
        throw policies::OptionError(fmt::format("-o {}: explain writes csv only", text));
      }
      if (format.empty() && path != "-" && !path.ends_with(".csv")) {
        throw policies::OptionError(fmt::format("-o {}: explain writes csv; name it .csv, or csv:{}", text, text));
      }
      format = explanation_format;
    } else if (format.empty()) {
      format = format_by_name_of(path, kind);
    }
    const auto same = [&p = path](const Target& target) {
      return target.path == p || (p != "-" && same_file(target.path, p));
    };
    if (std::any_of(targets_.begin(), targets_.end(), same)) {
      throw policies::OptionError(fmt::format("-o {}: given twice, the second would replace the first", path));
    }
    targets_.push_back({std::move(path), std::move(format)});
  }
}

bool OutputFiles::uses_stdout() const {
  return std::any_of(targets_.begin(), targets_.end(), [](const Target& target) { return target.path == "-"; });
}

void OutputFiles::write(const reports::ResultFile& results) const {
  for (const Target& target : targets_) write_target(target, reports::find_format(target.format)->write(results));
}

void OutputFiles::write(const reports::Comparison& comparison) const {
  for (const Target& target : targets_) {
    write_target(target, reports::find_comparison_format(target.format)->write(comparison));
  }
}

void OutputFiles::write(const std::string& text) const {
  for (const Target& target : targets_) write_target(target, text);
}

void OutputFiles::write_target(const Target& target, const std::string& text) const {
  if (target.path != "-") return reports::write_atomically(target.path, text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw reports::FileError("stdout", "cannot be written", "is the pipe or the disk behind it gone or full?");
  }
}

std::vector<std::string> OutputFiles::paths() const {
  std::vector<std::string> paths;
  for (const Target& target : targets_) {
    if (target.path != "-") paths.push_back(target.path);
  }
  return paths;
}

}  // namespace kvreplay::cli
