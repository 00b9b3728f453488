#include "workloads/yaml/tree.hpp"

#include "workloads/yaml/source_text.hpp"

#include <algorithm>
#include <utility>

namespace kvreplay::workloads::yaml {

Document::Document(std::string file, std::string source)
    : file_(std::move(file)), source_(std::make_unique<const std::string>(std::move(source))) {}

std::string Document::path_of(NodeIndex index) const {
  std::vector<NodeIndex> ancestry;
  for (; index != no_node; index = nodes_[index].parent) ancestry.push_back(index);
  std::string path;
  for (std::size_t i = ancestry.size(); i-- > 1;) {
    const Node& parent = nodes_[ancestry[i]];
    // The key of a map's value is the child before it.
    std::size_t position = 0;
    NodeIndex before = no_node;
    for (NodeIndex child = parent.first_child; child != ancestry[i - 1]; child = nodes_[child].next) {
      before = child;
      ++position;
    }
    if (parent.kind == NodeKind::list) {
      path += "[" + std::to_string(position) + "]";
      continue;
    }
    const std::string_view key = nodes_[position % 2 == 0 ? ancestry[i - 1] : before].text;
    if (!path.empty()) path += ".";
    path += key;
  }
  return path;
}

std::string NodeRef::description() const {
  switch (kind()) {
    case NodeKind::null:
      return "nothing";
    case NodeKind::list:
      return "a list";
    case NodeKind::map:
      return "a map";
    default:
      return shown(text());
  }
}

InputError NodeRef::fault(const std::string& problem, std::string given, std::vector<std::string> candidates) const {
  return InputError(document_->file(), mark(), path(), problem, std::move(given), std::move(candidates));
}

TreeBuilder::TreeBuilder(Document& document)
    : document_(document), ascii_(std::all_of(document.source().begin(), document.source().end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x80;
      })) {}

SourceMark TreeBuilder::in_characters(SourceMark mark, std::uint32_t offset) {
  if (ascii_) return mark;
  const std::uint32_t line_begin = offset - static_cast<std::uint32_t>(mark.column - 1);
  if (line_begin != line_begin_ || offset < counted_to_) {
    line_begin_ = line_begin;
    counted_to_ = line_begin;
    continuation_bytes_ = 0;
  }
  for (; counted_to_ < offset; ++counted_to_) {
    if ((static_cast<unsigned char>(document_.source()[counted_to_]) & 0xC0) == 0x80) ++continuation_bytes_;
  }
  return {mark.line, mark.column - continuation_bytes_};
}

NodeIndex TreeBuilder::add(NodeKind kind, SourceMark mark, std::uint32_t offset) {
  const NodeIndex index = static_cast<NodeIndex>(document_.nodes_.size());
  Node node;
  node.kind = kind;
  node.mark = in_characters(mark, offset);
  node.offset = offset;
  const bool is_key = expects_key();
  if (!open_.empty()) {
    Open& parent = open_.back();
    node.parent = parent.node;
    (parent.last_child == no_node ? document_.nodes_[parent.node].first_child
                                  : document_.nodes_[parent.last_child].next) = index;
    parent.last_child = index;
    if (parent.is_map) parent.expects_key = !parent.expects_key;
  }
  document_.nodes_.push_back(node);
  if (is_key && kind != NodeKind::scalar && bad_key_ == no_node) bad_key_ = index;
  return index;
}

void TreeBuilder::open(NodeKind kind, SourceMark mark, std::uint32_t offset) {
  const NodeIndex index = add(kind, mark, offset);
  if (open_.size() == static_cast<std::size_t>(max_nesting)) {
    throw InputError(document_.file(), document_.node(index).mark, document_.path_of(index),
                     "nested too deeply: at most " + std::to_string(max_nesting) + " levels of maps and lists");
  }
  open_.push_back({index, no_node, kind == NodeKind::map, true});
}

std::string TreeBuilder::path() const {
  if (open_.empty()) return "";
  return document_.path_of(expects_value() ? open_.back().last_child : open_.back().node);
}

void TreeBuilder::finish() const {
  if (bad_key_ == no_node) return;
  const NodeRef key(document_, bad_key_);
  throw InputError(document_.file(), key.mark(), document_.path_of(document_.node(bad_key_).parent),
                   "a key must be text, found " + key.description());
}

void TreeBuilder::null(SourceMark mark, std::uint32_t offset) { add(NodeKind::null, mark, offset); }

void TreeBuilder::absent_value() {
  const Node key = document_.node(open_.back().last_child);
  document_.nodes_[add(NodeKind::null, key.mark, key.offset)].mark = key.mark;
}

void TreeBuilder::scalar(SourceMark mark, std::uint32_t offset, std::string_view text, bool quoted) {
  Node& node = document_.nodes_[add(NodeKind::scalar, mark, offset)];
  node.text = text;
  node.quoted = quoted;
}

void TreeBuilder::stored_scalar(SourceMark mark, std::uint32_t offset, std::string text, bool quoted) {
  document_.stored_.push_back(std::move(text));
  scalar(mark, offset, document_.stored_.back(), quoted);
}

}  // namespace kvreplay::workloads::yaml
