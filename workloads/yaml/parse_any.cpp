// Builds the tree from yaml-cpp's events. Its node type is not used: it keeps duplicate keys, follows aliases and has
// marks for few faults.
#include "workloads/yaml/parsers.hpp"
#include "workloads/yaml/source_text.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <streambuf>

namespace kvreplay::workloads::yaml {
namespace {

// The anchor or alias at the begin of `text`, refused by name. A tag may stand before an anchor.
std::string refused_reference(std::string_view text) {
  const std::size_t begin = text.find_first_of("&*");
  const std::string_view name = begin == std::string_view::npos ? "" : text.substr(begin);
  return (name.starts_with('*') ? "alias " : "anchor ") +
         shown(name.substr(0, std::min(name.find_first_of(" \t\n,[]{}"), name.size()))) +
         ": anchors, aliases and merge keys ('<<') are not part of the format";
}

SourceMark source_mark(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// A stream over text that is not copied.
class TextBuffer : public std::streambuf {
 public:
  explicit TextBuffer(const std::string& text) {
    char* const begin = const_cast<char*>(text.data());  // only read
    setg(begin, begin, begin + text.size());
  }
};

// Whether a scalar that begins with a quote ends with one: yaml-cpp takes the end of the file for it after a line end.
bool is_closed(std::string_view scalar) {
  if (!scalar.starts_with('"') && !scalar.starts_with('\'')) return true;
  for (std::size_t at = 1; at < scalar.size(); ++at) {
    if (scalar[at] == '\\' && scalar[0] == '"') {
      ++at;
    } else if (scalar[at] == scalar[0]) {
      // Two single quotes stand for one.
      if (scalar[0] == '"' || scalar.substr(at + 1, 1) != "'") return true;
      ++at;
    }
  }
  return false;
}

class TreeEvents : public YAML::EventHandler {
 public:
  explicit TreeEvents(Document& document) : document_(document), builder_(document) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++num_documents_ > 1) fail(mark, "more than one document in the file (from here on); give each its own file");
  }
  void OnDocumentEnd() override { builder_.finish(); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check_properties(mark, "", anchor);
    // The place of a value that is not there is the token after it; its key is more use.
    const bool absent = !begins_with_null_word(rest_from(mark)) && builder_.expects_value();
    if (absent) {
      builder_.absent_value();
    } else {
      builder_.null(source_mark(mark), offset_of(mark));
    }
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { fail(mark, refused_reference(rest_from(mark))); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_properties(mark, tag, anchor);
    if (!is_closed(rest_from(mark))) fail(mark, "the quote that begins here is not closed");
    builder_.stored_scalar(source_mark(mark), offset_of(mark), value, tag == "!");
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check_properties(mark, tag, anchor);
    builder_.begin_list(source_mark(mark), offset_of(mark));
  }
  void OnSequenceEnd() override { builder_.end(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check_properties(mark, tag, anchor);
    builder_.begin_map(source_mark(mark), offset_of(mark));
  }
  void OnMapEnd() override { builder_.end(); }

 private:
  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& problem) {
    throw InputError(document_.file(), builder_.in_characters(source_mark(mark), offset_of(mark)), builder_.path(),
                     problem);
  }

  std::uint32_t offset_of(const YAML::Mark& mark) const { return static_cast<std::uint32_t>(mark.pos); }

  std::string_view rest_from(const YAML::Mark& mark) const {
    return std::string_view(document_.source()).substr(offset_of(mark));
  }

  static bool begins_with_null_word(std::string_view rest) {
    return rest.starts_with("~") || rest.starts_with("null") || rest.starts_with("Null") || rest.starts_with("NULL");
  }

  // yaml-cpp reports no tag as "?" (plain scalars, collections: also "") or "!" (quoted scalars).
  void check_properties(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    const std::string_view rest = rest_from(mark);
    if (anchor != 0) fail(mark, refused_reference(rest));
    if (rest.starts_with("!") || (!tag.empty() && tag != "?" && tag != "!")) {
      fail(mark, "tags are not part of the format");
    }
  }

  Document& document_;
  TreeBuilder builder_;
  int num_documents_ = 0;
};

// yaml-cpp's text with a hint for the faults people meet most.
std::string explained(const YAML::Exception& error, const std::string& source) {
  const std::size_t at = std::min(static_cast<std::size_t>(std::max(error.mark.pos, 0)), source.size());
  const std::string_view rest = std::string_view(source).substr(at);
  if (rest.starts_with('*')) return refused_reference(rest);  // yaml-cpp misses its anchor
  std::string problem = "not valid YAML: " + error.msg;
  std::size_t begin = 0;
  for (int line = 0; line < error.mark.line && begin < source.size(); ++line) {
    begin = std::min(source.find('\n', begin), source.size() - 1) + 1;
  }
  const std::string_view line = std::string_view(source).substr(begin, source.find('\n', begin) - begin);
  const std::string_view indentation = line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
  if (indentation.find('\t') != std::string_view::npos) {
    problem += " (the line is indented with a tab; YAML allows only blanks there)";
  }
  return problem;
}

}  // namespace

std::unique_ptr<Document> parse_any(const std::string& file, const std::string& source) {
  auto document = std::make_unique<Document>(file, source);
  TreeEvents events(*document);
  TextBuffer buffer(document->source());
  std::istream stream(&buffer);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(events)) {
    }
  } catch (const YAML::Exception& error) {
    SourceMark mark;
    if (!error.mark.is_null()) {
      const auto offset = static_cast<std::uint32_t>(error.mark.pos);
      mark = TreeBuilder(*document).in_characters(source_mark(error.mark), offset);
    }
    throw InputError(file, mark, "", explained(error, document->source()));
  }
  return document;
}

}  // namespace kvreplay::workloads::yaml
