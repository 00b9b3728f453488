// A place in a text that is read line by line.
#pragma once

#include "workloads/input_error.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace kvreplay::workloads::yaml {

// Thrown and caught by parse_regular alone: the text is not regular.
struct NotRegular {};

class LineCursor {
 protected:
  explicit LineCursor(std::string_view text) : text_(text) {}

  [[noreturn]] static void give_up() { throw NotRegular{}; }

  bool at_end() const { return at_ == text_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\n'; }
  bool at_line_end() const { return peek() == '\n'; }
  int column() const { return static_cast<int>(at_ - line_begin_) + 1; }
  SourceMark mark() const { return {line_, column()}; }
  std::uint32_t offset() const { return static_cast<std::uint32_t>(at_); }
  void skip_blanks() {
    while (peek() == ' ') ++at_;
  }

  // From the end of one line to the first character of the next line with content; sets indent_.
  void next_content_line() {
    while (!at_end()) {
      line_begin_ = at_;
      skip_blanks();
      indent_ = static_cast<int>(at_ - line_begin_);
      if (at_end()) return;
      if (peek() == '#') at_ = std::min(text_.find('\n', at_), text_.size());
      if (!at_line_end()) return refuse_markers();
      if (!at_end()) ++at_;
      ++line_;
    }
  }

  void refuse_markers() const {
    const std::string_view start = text_.substr(at_, 3);
    if (indent_ == 0 && (start == "---" || start == "...")) give_up();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  int line_ = 1;
  int indent_ = 0;  // of the present line, or of the map begun inside it
};

}  // namespace kvreplay::workloads::yaml
