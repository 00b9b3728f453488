// Chooses the parser and checks what concerns the whole tree.
#include "workloads/yaml/parsers.hpp"
#include "workloads/yaml/source_text.hpp"

#include <string_view>
#include <unordered_map>

namespace kvreplay::workloads::yaml {
namespace {

[[noreturn]] void fail_duplicate(NodeRef key, SourceMark first) {
  throw key.fault("duplicate key " + shown(key.text()) + " on line " + std::to_string(key.mark().line) +
                  ", first on line " + std::to_string(first.line));
}

// Most maps have a few keys: looking at all earlier ones needs no memory.
void check_few_keys(const Document& document, NodeIndex first) {
  for (NodeIndex key = first; key != no_node; key = document.node(document.node(key).next).next) {
    for (NodeIndex other = first; other != key; other = document.node(document.node(other).next).next) {
      if (document.node(other).text == document.node(key).text)
        fail_duplicate({document, key}, document.node(other).mark);
    }
  }
}

void check_many_keys(const Document& document, NodeIndex first) {
  std::unordered_map<std::string_view, SourceMark> seen;
  for (NodeIndex key = first; key != no_node; key = document.node(document.node(key).next).next) {
    const auto [entry, added] = seen.emplace(document.node(key).text, document.node(key).mark);
    if (!added) fail_duplicate({document, key}, entry->second);
  }
}

void check_keys(const Document& document, NodeIndex map) {
  constexpr std::size_t few = 16;
  const NodeIndex first = document.node(map).first_child;
  std::size_t num_keys = 0;
  for (NodeIndex key = first; key != no_node; key = document.node(document.node(key).next).next) {
    ++num_keys;
    if (document.node(key).text == "<<" && !document.node(key).quoted) {
      throw NodeRef(document, key).fault("merge keys ('<<') are not part of the format");
    }
  }
  num_keys <= few ? check_few_keys(document, first) : check_many_keys(document, first);
}

}  // namespace

std::unique_ptr<Document> read_document(std::string_view bytes, const std::string& file) {
  const std::string source = normalised_text(bytes, file);
  std::unique_ptr<Document> document = parse_regular(file, source);
  if (!document) document = parse_any(file, source);
  for (NodeIndex index = 0; index < document->num_nodes(); ++index) {
    if (document->node(index).kind == NodeKind::map) check_keys(*document, index);
  }
  return document;
}

}  // namespace kvreplay::workloads::yaml
