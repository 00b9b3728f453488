// Where results go: files whose extension picks the format, or stdout. Everything is checked before anything runs.
#pragma once

#include "reports/compare/comparison.hpp"
#include "reports/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::cli {

enum class OutputKind { results, explanation, comparison };

class OutputFiles {
 public:
  // `texts` as given to -o: FILE, FORMAT:FILE, - or FORMAT:-. Throws OptionError for an unknown format, a folder that
  // is missing or a name given twice.
  OutputFiles(const std::vector<std::string>& texts, OutputKind kind);

  bool empty() const { return targets_.empty(); }
  bool uses_stdout() const;
  // Whole or not at all, each one. Throws reports::FileError.
  void write(const reports::ResultFile& results) const;
  void write(const reports::Comparison& comparison) const;
  void write(const std::string& text) const;  // an explanation: CSV whatever the name
  std::vector<std::string> paths() const;     // of files, for a closing note

 private:
  struct Target {
    std::string path;    // "-": stdout
    std::string format;  // name in the table of formats
  };
  void write_target(const Target& target, const std::string& text) const;

  std::vector<Target> targets_;
};

// Throws OptionError where no file could be written that `option` names: found now, not after an hour of computing.
void check_place(std::string_view option, const std::string& path);

// Throws OptionError if an input is given twice (its numbers would be there twice) or an output would replace one.
void check_inputs(const std::vector<std::string>& inputs, const OutputFiles& outputs);
// The same for outputs that another option than -o names.
void check_inputs(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                  std::string_view option);

// Throws OptionError for no file at all.
void require_files(const std::vector<std::string>& files);

}  // namespace kvreplay::cli
