#include "workloads/suite_paths.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

namespace kvreplay::workloads {
namespace {

namespace fs = std::filesystem;

// Relative paths below `folder` that fit the parts of a pattern from `part` on. A folder that cannot be read has none.
void collect(const fs::path& folder, const fs::path& so_far, const std::vector<std::string>& parts, std::size_t part,
             std::vector<fs::path>& found) {
  if (found.size() > max_suite_workloads) return;
  const bool is_last = part + 1 == parts.size();
  std::error_code error;
  const auto take = [&](const fs::path& relative) {
    if (!is_last) return collect(folder, relative, parts, part + 1, found);
    if (fs::is_regular_file(folder / relative, error)) found.push_back(relative);
  };
  if (!is_glob(parts[part])) return take(so_far / parts[part]);
  for (const auto& entry : fs::directory_iterator(folder / so_far, error)) {
    const std::string name = entry.path().filename().string();
    if (fnmatch(parts[part].c_str(), name.c_str(), FNM_PERIOD) == 0) take(so_far / name);
  }
}

}  // namespace

bool is_glob(const std::string& pattern) { return pattern.find_first_of("*?[") != std::string::npos; }

std::vector<SuiteWorkload> workloads_at(const std::string& suite_path, const std::string& pattern) {
  const fs::path folder = fs::path(suite_path).parent_path();
  std::vector<fs::path> relative;
  if (is_glob(pattern)) {
    std::vector<std::string> parts;
    for (const fs::path& part : fs::path(pattern)) parts.push_back(part.string());
    collect(folder.empty() ? "." : folder, {}, parts, 0, relative);
    std::sort(relative.begin(), relative.end());
  } else {
    std::error_code error;
    if (fs::is_regular_file(folder / pattern, error)) relative.emplace_back(pattern);
  }
  std::vector<SuiteWorkload> workloads;
  for (const fs::path& path : relative) {
    workloads.push_back({(folder / path).lexically_normal().string(), path.lexically_normal().string()});
  }
  return workloads;
}

}  // namespace kvreplay::workloads
