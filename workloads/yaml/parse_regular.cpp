// A parser for the regular style only. Whatever is not clearly regular is left to yaml-cpp: this parser decides
// nothing, it only saves the time yaml-cpp's scanner takes (0.13 us a byte, half a second for 100,000 events).
#include "workloads/yaml/line_cursor.hpp"
#include "workloads/yaml/parsers.hpp"

#include <algorithm>

namespace kvreplay::workloads::yaml {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_null_word(std::string_view text) { return text == "null" || text == "Null" || text == "NULL"; }

class RegularParser : private LineCursor {
 public:
  explicit RegularParser(Document& document) : LineCursor(document.source()), builder_(document) {}

  void parse() {
    next_content_line();
    if (at_end() || indent_ != 0) give_up();
    block(0);
    if (!at_end()) give_up();
  }

 private:
  // After a value: nothing but a comment may follow, and the next line must not continue it.
  void end_value(int indent) {
    const std::size_t before = at_;
    skip_blanks();
    if (peek() == '#' && at_ > before) at_ = std::min(text_.find('\n', at_), text_.size());
    if (!at_line_end()) give_up();
    if (!at_end()) ++at_;
    ++line_;
    next_content_line();
    if (!at_end() && indent_ > indent) give_up();
  }

  bool at_item() const { return peek() == '-' && peek(1) == ' '; }

  // A block map or list whose lines begin at column `indent` + 1; ends at a line further left.
  void block(int indent) {
    if (at_item()) {
      list(indent);
    } else {
      map(indent);
    }
  }

  void list(int indent) {
    builder_.begin_list(mark(), offset());
    while (!at_end() && indent_ == indent && at_item()) {
      ++at_;
      skip_blanks();
      if (at_line_end() || peek() == '#' || at_item()) give_up();
      if (key_bytes() > 0) {
        indent_ = column() - 1;
        map(indent_);
      } else {
        value(indent);
      }
    }
    if (!at_end() && indent_ > indent) give_up();
    builder_.end();
  }

  void map(int indent) {
    builder_.begin_map(mark(), offset());
    while (!at_end() && indent_ == indent && !at_item()) {
      const std::size_t length = key_bytes();
      if (length == 0) give_up();
      builder_.scalar(mark(), offset(), text_.substr(at_, length), false);
      at_ += length + 1;
      skip_blanks();
      value(indent);
    }
    if (!at_end() && indent_ > indent) give_up();
    builder_.end();
  }

  // Length of a plain key followed by a colon here, or 0.
  std::size_t key_bytes() const {
    constexpr std::size_t longest = 200;
    if (!is_letter(peek())) return 0;
    std::size_t length = 1;
    while (is_letter(peek(length)) || is_digit(peek(length)) || peek(length) == '-') ++length;
    if (peek(length) != ':' || (peek(length + 1) != ' ' && peek(length + 1) != '\n')) return 0;
    return length > longest || is_null_word(text_.substr(at_, length)) ? 0 : length;
  }

  // The value of a key or list item that belongs to a block at `indent`.
  void value(int indent) {
    switch (peek()) {
      case '\n':
      case '#':
        return nested_block(indent);
      case '>':
        return folded_scalar(indent);
      case '"':
      case '\'':
        quoted_scalar();
        break;
      case '{':
      case '[':
        flow();
        break;
      default:
        plain_scalar();
    }
    end_value(indent);
  }

  void nested_block(int indent) {
    if (peek() == '#' && text_[at_ - 1] != ' ') give_up();
    at_ = std::min(text_.find('\n', at_), text_.size());
    if (at_end()) give_up();
    ++at_;
    ++line_;
    next_content_line();
    const bool list_of_key = indent_ == indent && at_item() && builder_.expects_value();
    if (at_end() || (indent_ <= indent && !list_of_key)) give_up();
    block(indent_);
  }

  void quoted_scalar() {
    const char quote = peek();
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) give_up();
    const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    if (content.find_first_of("\n\t\\") != std::string_view::npos || text_.substr(end + 1, 1) == "'") give_up();
    builder_.scalar(mark(), offset(), content, true);
    at_ = end + 1;
  }

  bool begins_plain() const {
    const char c = peek();
    return is_letter(c) || is_digit(c) || c == '/' || c == '.' || c == '+' || (c == '-' && is_digit(peek(1)));
  }

  void plain_scalar() {
    if (!begins_plain()) give_up();
    std::size_t end = std::min(text_.find_first_of("\n#", at_), text_.size());
    std::string_view content = text_.substr(at_, end - at_);
    const bool comment = end < text_.size() && text_[end] == '#';
    if (comment && !content.ends_with(' ')) give_up();
    content = content.substr(0, content.find_last_not_of(' ') + 1);
    if (content.find(": ") != std::string_view::npos || content.ends_with(':') || is_null_word(content) ||
        content.find('\t') != std::string_view::npos) {
      give_up();
    }
    builder_.scalar(mark(), offset(), content, false);
    at_ += content.size();
  }

  // `>-` whose lines are equally indented, with no empty line inside.
  void folded_scalar(int indent) {
    if (text_.substr(at_, 3) != ">-\n") give_up();
    const SourceMark begin = mark();
    const std::uint32_t begin_offset = offset();
    at_ += 3;
    ++line_;
    std::string content;
    int content_indent = -1;
    while (!at_end()) {
      line_begin_ = at_;
      skip_blanks();
      indent_ = static_cast<int>(at_ - line_begin_);
      if (at_line_end()) {
        if (indent_ > 0) give_up();
        refuse_more_content(indent);
        break;
      }
      if (indent_ <= indent) break;
      if (peek() == '\t') give_up();
      if (content_indent < 0) content_indent = indent_;
      if (indent_ != content_indent) give_up();
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      if (!content.empty()) content += ' ';
      content += text_.substr(at_, end - at_);
      at_ = std::min(end + 1, text_.size());
      line_begin_ = at_;
      ++line_;
    }
    if (content.empty()) give_up();
    builder_.stored_scalar(begin, begin_offset, std::move(content), true);
    at_ = line_begin_;
    if (!at_end()) next_content_line();
    if (!at_end() && indent_ > indent) give_up();
  }

  // Empty lines end a folded scalar if nothing of it follows; lines of blanks are yaml-cpp's business.
  void refuse_more_content(int indent) const {
    const std::size_t next = text_.find_first_not_of('\n', at_);
    if (next == std::string_view::npos) return;
    const std::size_t content = text_.find_first_not_of(' ', next);
    if (content == std::string_view::npos || text_[content] == '\n') give_up();
    if (static_cast<int>(content - next) > indent) give_up();
  }

  void flow() {
    const bool is_map = peek() == '{';
    const char close = is_map ? '}' : ']';
    is_map ? builder_.begin_map(mark(), offset()) : builder_.begin_list(mark(), offset());
    ++at_;
    skip_blanks();
    while (peek() != close) {
      if (is_map) flow_key();
      flow_value();
      skip_blanks();
      if (peek() == close) break;
      if (peek() != ',') give_up();
      ++at_;
      skip_blanks();
      if (peek() == close) give_up();
    }
    ++at_;
    builder_.end();
  }

  void flow_key() {
    const std::size_t length = key_bytes();
    if (length == 0) give_up();
    builder_.scalar(mark(), offset(), text_.substr(at_, length), false);
    at_ += length + 1;
    skip_blanks();
  }

  void flow_value() {
    if (peek() == '{' || peek() == '[') return flow();
    if (peek() == '"' || peek() == '\'') return quoted_scalar();
    if (!begins_plain()) give_up();
    constexpr std::string_view stops = ",{}[]?\n#:\"'\t";
    std::size_t end = std::min(text_.find_first_of(stops, at_), text_.size());
    // A colon inside a word belongs to it: prompt:155.
    while (end + 1 < text_.size() && text_[end] == ':' && (is_letter(text_[end + 1]) || is_digit(text_[end + 1]))) {
      end = std::min(text_.find_first_of(stops, end + 1), text_.size());
    }
    if (end == text_.size() || (text_[end] != ',' && text_[end] != '}' && text_[end] != ']')) give_up();
    std::string_view content = text_.substr(at_, end - at_);
    content = content.substr(0, content.find_last_not_of(' ') + 1);
    if (is_null_word(content)) give_up();
    builder_.scalar(mark(), offset(), content, false);
    at_ += content.size();
  }

  TreeBuilder builder_;
};

}  // namespace

std::unique_ptr<Document> parse_regular(const std::string& file, const std::string& source) {
  auto document = std::make_unique<Document>(file, source);
  try {
    RegularParser(*document).parse();
  } catch (const NotRegular&) {
    return nullptr;
  } catch (const InputError&) {
    return nullptr;  // yaml-cpp reads it again and decides whether it is a fault of the nesting or of the syntax
  }
  return document;
}

}  // namespace kvreplay::workloads::yaml
