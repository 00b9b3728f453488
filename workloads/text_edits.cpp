#include "workloads/text_edits.hpp"

#include <algorithm>

namespace kvreplay::workloads {
namespace {

std::vector<std::size_t> line_begins(std::string_view text, std::size_t first) {
  std::vector<std::size_t> begins{first};
  for (std::size_t at = first; at < text.size(); ++at) {
    if (text[at] == '\n') begins.push_back(at + 1);
  }
  return begins;
}

}  // namespace

TextEdits::TextEdits(std::string_view original, const yaml::Document& document)
    : original_(original),
      source_(document.source()),
      source_lines_(line_begins(source_, 0)),
      original_lines_(line_begins(original, original.starts_with("\xEF\xBB\xBF") ? 3 : 0)) {}

std::size_t TextEdits::original_offset(std::size_t offset) const {
  const auto after = std::upper_bound(source_lines_.begin(), source_lines_.end(), offset);
  const auto line = static_cast<std::size_t>(after - source_lines_.begin()) - 1;
  return original_lines_[line] + (offset - source_lines_[line]);
}

bool TextEdits::is_flow(yaml::NodeRef collection) const {
  const char first = source_[collection.offset()];
  return first == '{' || first == '[';
}

std::string TextEdits::line_end() const {
  const std::size_t end = original_.find('\n');
  const bool crlf = end != std::string_view::npos && end > 0 && original_[end - 1] == '\r';
  return crlf ? "\r\n" : "\n";
}

void TextEdits::replace_scalar(yaml::NodeRef scalar, const std::string& text) {
  const std::size_t begin = scalar.offset();
  std::size_t end = begin + scalar.text().size();
  if (scalar.quoted()) {
    const char quote = source_[begin];
    end = source_.find_first_of(std::string("\n\\") + quote, begin + 1);
    if ((quote != '"' && quote != '\'') || end == std::string_view::npos || source_[end] != quote) {
      throw scalar.fault("write this number plainly, so that it can be updated");
    }
    ++end;
  }
  edits_.emplace(original_offset(begin), Edit{end - begin, text});
}

void TextEdits::insert_after(std::size_t offset, const std::string& text) {
  edits_.emplace(original_offset(offset), Edit{0, text});
}

void TextEdits::insert_line_before(yaml::NodeRef node, const std::string& lines) {
  const std::size_t line = static_cast<std::size_t>(node.mark().line) - 1;
  edits_.emplace(original_lines_[line], Edit{0, lines});
}

void TextEdits::append(const std::string& lines) {
  const bool complete = original_.empty() || original_.back() == '\n';
  edits_.emplace(original_.size(), Edit{0, (complete ? "" : line_end()) + lines});
}

std::string TextEdits::applied() const {
  std::string text;
  std::size_t done = 0;
  for (const auto& [at, edit] : edits_) {
    text += original_.substr(done, at - done);
    text += edit.text;
    done = at + edit.removed;
  }
  text += original_.substr(done);
  return text;
}

}  // namespace kvreplay::workloads
