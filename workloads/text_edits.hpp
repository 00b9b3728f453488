// Edits of a file's bytes at the places of nodes; all other bytes stay as they are.
#pragma once

#include "workloads/yaml/tree.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::workloads {

// Collects edits, then applies them. Offsets are those of nodes, in the normalised text of the document.
class TextEdits {
 public:
  // `original` are the bytes the document was read from; both must outlive this object.
  TextEdits(std::string_view original, const yaml::Document& document);

  // Whether a map or list is written with braces or brackets.
  bool is_flow(yaml::NodeRef collection) const;

  // "\r\n" if the first line ends so, else "\n".
  std::string line_end() const;

  // Replaces a plain or quoted scalar of one line. Throws InputError for any other.
  void replace_scalar(yaml::NodeRef scalar, const std::string& text);
  void insert_after(std::size_t offset, const std::string& text);
  // Whole lines before the line of `node`.
  void insert_line_before(yaml::NodeRef node, const std::string& lines);
  // Whole lines at the end.
  void append(const std::string& lines);

  std::string applied() const;

 private:
  struct Edit {
    std::size_t removed;
    std::string text;
  };
  std::size_t original_offset(std::size_t offset) const;

  std::string_view original_;
  std::string_view source_;
  std::vector<std::size_t> source_lines_;    // where each line begins
  std::vector<std::size_t> original_lines_;  // the same in the original
  std::multimap<std::size_t, Edit> edits_;   // by offset in the original, equal ones in the order they were made
};

}  // namespace kvreplay::workloads
