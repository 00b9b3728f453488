// A YAML document as a flat tree of nodes with their places, built strictly.
//
// The format uses a small part of YAML: maps with text keys, lists and scalars. Scalars stay text; whoever reads them
// decides what they mean, so that no word or number is interpreted twice.
#pragma once

#include "workloads/input_error.hpp"

#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kvreplay::workloads::yaml {

inline constexpr int max_nesting = 8;

using NodeIndex = std::uint32_t;
inline constexpr NodeIndex no_node = 0xFFFFFFFFu;

enum class NodeKind : std::uint8_t { null, scalar, list, map };

struct Node {
  NodeKind kind = NodeKind::null;
  bool quoted = false;  // scalar: not a plain one
  SourceMark mark;
  std::uint32_t offset = 0;  // of the first byte in Document::source()
  NodeIndex parent = no_node;
  NodeIndex first_child = no_node;  // list: items; map: key, value, key, value, ...
  NodeIndex next = no_node;         // sibling
  std::string_view text;            // scalar
};

class Document {
 public:
  // `file` is the name used in messages, `source` the normalised text.
  Document(std::string file, std::string source);

  const std::string& file() const { return file_; }
  const std::string& source() const { return *source_; }
  bool empty() const { return nodes_.empty(); }
  NodeIndex num_nodes() const { return static_cast<NodeIndex>(nodes_.size()); }
  const Node& node(NodeIndex index) const { return nodes_[index]; }

  // The place of a node inside the document, such as events[2].decode.n; a key has the place of its value.
  std::string path_of(NodeIndex index) const;

 private:
  friend class TreeBuilder;

  std::string file_;
  std::unique_ptr<const std::string> source_;
  std::deque<std::string> stored_;  // scalars that are not a part of the source as they stand
  std::vector<Node> nodes_;
};

// A node of a document; a view, valid as long as the document.
class NodeRef {
 public:
  NodeRef(const Document& document, NodeIndex index) : document_(&document), index_(index) {}

  NodeKind kind() const { return node().kind; }
  bool is_map() const { return kind() == NodeKind::map; }
  bool is_list() const { return kind() == NodeKind::list; }
  bool is_scalar() const { return kind() == NodeKind::scalar; }
  std::string_view text() const { return node().text; }
  bool quoted() const { return node().quoted; }
  SourceMark mark() const { return node().mark; }
  std::uint32_t offset() const { return node().offset; }
  const Document& document() const { return *document_; }
  std::string path() const { return document_->path_of(index_); }

  // Children one after the other; of a map, keys and values in turn.
  bool has_children() const { return node().first_child != no_node; }
  NodeRef first_child() const { return {*document_, node().first_child}; }
  bool has_next() const { return node().next != no_node; }
  NodeRef next() const { return {*document_, node().next}; }

  // "a list", "a map", "nothing" or the quoted text: for messages.
  std::string description() const;

  // An error at this node.
  InputError fault(const std::string& problem, std::string given = {}, std::vector<std::string> candidates = {}) const;

 private:
  const Node& node() const { return document_->node(index_); }

  const Document* document_;
  NodeIndex index_;
};

// Puts nodes together in document order; both parsers use it. Marks are given with columns in bytes, as parsers count;
// the tree has them in characters, as editors do. Throws InputError for nesting beyond max_nesting and keys that are
// not text.
class TreeBuilder {
 public:
  explicit TreeBuilder(Document& document);

  void begin_map(SourceMark mark, std::uint32_t offset) { open(NodeKind::map, mark, offset); }
  void begin_list(SourceMark mark, std::uint32_t offset) { open(NodeKind::list, mark, offset); }
  void end() { open_.pop_back(); }
  void null(SourceMark mark, std::uint32_t offset);
  // A value left out; it has the place of its key.
  void absent_value();
  // `text` is a part of the document's source ...
  void scalar(SourceMark mark, std::uint32_t offset, std::string_view text, bool quoted);
  // ... or is kept by the document.
  void stored_scalar(SourceMark mark, std::uint32_t offset, std::string text, bool quoted);

  // To be called after the last node. Keys that are no text are a fault only now: parsers take an unclosed bracket for
  // the beginning of one, and then the bracket is what to complain about.
  void finish() const;

  bool expects_key() const { return !open_.empty() && open_.back().is_map && open_.back().expects_key; }
  bool expects_value() const { return !open_.empty() && open_.back().is_map && !open_.back().expects_key; }
  // Path of the innermost open map or list, or of the value that comes next.
  std::string path() const;
  // A mark with its column in characters.
  SourceMark in_characters(SourceMark mark, std::uint32_t offset);

 private:
  struct Open {
    NodeIndex node;
    NodeIndex last_child;
    bool is_map;
    bool expects_key;
  };
  NodeIndex add(NodeKind kind, SourceMark mark, std::uint32_t offset);
  void open(NodeKind kind, SourceMark mark, std::uint32_t offset);

  Document& document_;
  std::vector<Open> open_;
  NodeIndex bad_key_ = no_node;
  bool ascii_;
  // Bytes of the present line that begin no character, up to counted_to_.
  std::uint32_t line_begin_ = 0, counted_to_ = 0;
  int continuation_bytes_ = 0;
};

// Reads a whole text: one document, no anchors, aliases, tags, merge keys or duplicate keys. Throws InputError.
// An empty text gives an empty document.
std::unique_ptr<Document> read_document(std::string_view bytes, const std::string& file);

}  // namespace kvreplay::workloads::yaml
