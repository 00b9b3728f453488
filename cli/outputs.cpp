#include "cli/outputs.hpp"

#include "policies/option_error.hpp"
#include "reports/atomic_file.hpp"
#include "reports/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace kvreplay::cli {
namespace {

constexpr const char* explanation_format = "csv";

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const reports::Format& format : reports::format_table()) names.emplace_back(format.name);
  return names;
}

// FORMAT:FILE or FILE; a prefix that names no format belongs to the file's name.
std::pair<std::string, std::string> split_format(const std::string& text) {
  const auto colon = text.find(':');
  if (colon != std::string::npos && reports::find_format(text.substr(0, colon)) != nullptr) {
    return {text.substr(0, colon), text.substr(colon + 1)};
  }
  if (colon != std::string::npos && text.substr(colon + 1) == "-") {
    throw policies::OptionError(fmt::format("-o {}: no format is called '{}'", text, text.substr(0, colon)),
                                text.substr(0, colon), format_names());
  }
  return {"", text};
}

void check_place(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path.empty()) throw policies::OptionError("-o needs a file name, or - for stdout");
  if (fs::is_directory(path, error)) {
    throw policies::OptionError(fmt::format("-o {}: is a directory; name a file in it", path));
  }
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error)) {
    throw policies::OptionError(fmt::format("-o {}: there is no folder {}", path, folder.string()));
  }
}

}  // namespace

OutputFiles::OutputFiles(const std::vector<std::string>& texts, OutputKind kind) {
  for (const std::string& text : texts) {
    auto [format, path] = split_format(text);
    if (path != "-") check_place(path);
    if (kind == OutputKind::explanation) {
      if (!format.empty() && format != explanation_format) {
        throw policies::OptionError(fmt::format("-o {}: explain writes csv only", text));
      }
      format = explanation_format;
    } else if (format.empty()) {
      format = path == "-" ? "json" : std::string(reports::format_for_path(path).name);
    }
    const auto same = [&p = path](const Target& target) { return target.path == p; };
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
