#include "workloads/token_items.hpp"

#include "workloads/fields.hpp"
#include "workloads/yaml/source_text.hpp"

#include <optional>
#include <utility>

namespace kvreplay::workloads {
namespace {

using yaml::NodeRef;
using yaml::shown;

constexpr std::string_view separators = " \n\t";
constexpr Count max_tokens = 1'000'000'000;
constexpr Count max_offset = Count{1} << 61;

// Calls `use(item text, ordinal from 1)` for each item.
template <typename Use>
void for_each_item(std::string_view text, const Use& use) {
  std::size_t ordinal = 0;
  for (std::size_t at = text.find_first_not_of(separators); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    use(text.substr(at, end - at), ++ordinal);
    at = text.find_first_not_of(separators, end);
  }
}

// Short runs of digits, the usual item, without looking at them twice.
std::optional<TokenId> short_id(std::string_view text) {
  if (text.size() > 9 || (text[0] == '0' && text.size() > 1)) return std::nullopt;
  TokenId id = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    id = 10 * id + static_cast<TokenId>(c - '0');
  }
  return id;
}

void require_scalar(NodeRef node) {
  if (node.is_scalar()) return;
  throw node.fault("expected tokens in one scalar: ids or NAME[.A[-B]]:COUNT[@OFFSET], found " + node.description());
}

}  // namespace

InputError TokenReader::Item::fault(const std::string& problem, std::string given,
                                    std::vector<std::string> names) const {
  return node.fault("item " + std::to_string(ordinal) + " " + shown(text) + ": " + problem, std::move(given),
                    std::move(names));
}

TokenReader::TokenReader(Workload& workload) : workload_(workload) {
  for (std::size_t i = 0; i < workload.streams.size(); ++i) {
    stream_of_name_.emplace(workload.streams[i].name, static_cast<std::uint32_t>(i));
  }
}

TokenSpans TokenReader::read(NodeRef node, bool may_be_empty) {
  require_scalar(node);
  TokenSpans spans;
  for_each_item(node.text(), [&](std::string_view text, std::size_t ordinal) {
    const Item item{node, ordinal, text};
    const bool number = (text[0] >= '0' && text[0] <= '9') || text[0] == '+' || text[0] == '-';
    if (number) {
      add_id(id_of(item), spans);
    } else {
      spans.push_back(slice_of(item));
    }
  });
  if (spans.empty() && !may_be_empty) throw node.fault("expected at least one token, found none");
  return spans;
}

std::vector<TokenId> TokenReader::read_ids(NodeRef node) const {
  require_scalar(node);
  std::vector<TokenId> ids;
  ids.reserve(node.text().size() / 4);
  for_each_item(node.text(),
                [&](std::string_view text, std::size_t ordinal) { ids.push_back(id_of(Item{node, ordinal, text})); });
  if (ids.empty()) throw node.fault("expected at least one token id, found none");
  return ids;
}

TokenId TokenReader::id_of(const Item& item) const {
  std::optional<Count> value = short_id(item.text);
  if (!value) value = whole_number(item.text);
  if (value && *value >= 0 && *value < workload_.vocab) return static_cast<TokenId>(*value);
  if (value) {
    throw item.fault("expected a token id from 0 to " + std::to_string(workload_.vocab - 1) +
                     ", below the vocabulary of " + std::to_string(workload_.vocab));
  }
  throw item.fault("expected a token id or NAME[.A[-B]]:COUNT[@OFFSET]; numbers are decimal without leading zeros");
}

void TokenReader::add_id(TokenId id, TokenSpans& spans) {
  if (!has_unnamed_) {
    has_unnamed_ = true;
    unnamed_ = static_cast<std::uint32_t>(workload_.streams.size());
    workload_.streams.emplace_back();
  }
  std::vector<TokenId>& ids = workload_.streams[unnamed_].ids;
  // Everything between two NAME items is one slice.
  if (spans.empty() || spans.back().stream != unnamed_) {
    Slice slice;
    slice.stream = unnamed_;
    slice.begin = ids.size();
    spans.push_back(slice);
  }
  ids.push_back(id);
  ++spans.back().count;
}

std::uint32_t TokenReader::stream_named(std::string_view name, const Item& item) const {
  const auto found = stream_of_name_.find(std::string(name));
  if (found != stream_of_name_.end()) return found->second;
  std::vector<std::string> names;
  for (const Stream& stream : workload_.streams) {
    if (!stream.name.empty()) names.push_back(stream.name);
  }
  throw item.fault("no stream is called " + shown(name), std::string(name), std::move(names));
}

// A or A-B.
void TokenReader::read_index(std::string_view text, const Item& item, Slice& slice) const {
  const std::size_t dash = text.find('-');
  const auto first = whole_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : whole_number(text.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < 0) {
    throw item.fault("expected an index A or a range A-B of whole numbers after the dot, found " + shown(text));
  }
  if (*last < *first) throw item.fault("the range of indexes runs backwards");
  slice.first_index = static_cast<std::uint64_t>(*first);
  if (*last == *first) return;
  const Count per_index = slice.count;
  if (*last - *first >= max_tokens / per_index) throw item.fault("more than 1000000000 tokens in one item");
  slice.count = per_index * (*last - *first + 1);
  slice.ids_per_index = static_cast<std::uint64_t>(per_index);
  slice.offset = std::exchange(slice.begin, 0);
}

Slice TokenReader::slice_of(const Item& item) const {
  const std::string_view text = item.text;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) throw item.fault("expected NAME[.A[-B]]:COUNT[@OFFSET]; the count is missing");
  const std::string_view source = text.substr(0, colon);
  const std::size_t at = text.find('@', colon);
  const std::size_t dot = source.find('.');

  Slice slice;
  const std::string_view name = source.substr(0, dot);
  if (!is_name(name)) throw item.fault("expected NAME[.A[-B]]:COUNT[@OFFSET]; " + shown(name) + " is no name");
  slice.stream = stream_named(name, item);
  const Stream& stream = workload_.streams[slice.stream];

  const auto count = whole_number(text.substr(colon + 1, at == std::string_view::npos ? at : at - colon - 1));
  if (!count || *count < 1 || *count > max_tokens) {
    throw item.fault("expected a count from 1 to " + std::to_string(max_tokens) + " after the colon");
  }
  slice.count = *count;
  if (at != std::string_view::npos) {
    const auto offset = whole_number(text.substr(at + 1));
    if (!offset || *offset < 0 || *offset > max_offset) {
      throw item.fault("expected an offset from 0 to " + std::to_string(max_offset) + " after the @");
    }
    slice.begin = static_cast<std::uint64_t>(*offset);
  }
  if (dot != std::string_view::npos) {
    if (!stream.indexed)
      throw item.fault("stream " + shown(name) + " has no index; write " + std::string(name) + ":COUNT");
    read_index(source.substr(dot + 1), item, slice);
  } else if (stream.indexed) {
    throw item.fault("stream " + shown(name) + " is indexed; write " + std::string(name) + ".INDEX:COUNT");
  }
  if (!stream.generated && slice.begin + static_cast<std::uint64_t>(slice.count) > stream.ids.size()) {
    throw item.fault("reaches token " + std::to_string(slice.begin + static_cast<std::uint64_t>(slice.count)) +
                     " of stream " + shown(name) + ", which has " + std::to_string(stream.ids.size()));
  }
  return slice;
}

StreamPlace TokenReader::read_place(NodeRef node) const {
  if (!node.is_scalar()) throw node.fault("expected NAME or NAME@OFFSET, found " + node.description());
  const Item item{node, 1, node.text()};
  const std::size_t at = item.text.find('@');
  const std::string_view name = item.text.substr(0, at);
  if (!is_name(name)) throw node.fault("expected NAME or NAME@OFFSET, found " + node.description());
  StreamPlace place;
  place.stream = stream_named(name, item);
  if (workload_.streams[place.stream].indexed) {
    throw node.fault("stream " + shown(name) + " is indexed; verify takes tokens of an unindexed stream");
  }
  if (at == std::string_view::npos) return place;
  const auto offset = whole_number(item.text.substr(at + 1));
  if (!offset || *offset < 0 || *offset > max_offset) {
    throw node.fault("expected an offset from 0 to " + std::to_string(max_offset) + " after the @, found " +
                     node.description());
  }
  place.position = static_cast<std::uint64_t>(*offset);
  return place;
}

void TokenReader::check_available(const StreamPlace& place, Count count, NodeRef node) const {
  const Stream& stream = workload_.streams[place.stream];
  const std::uint64_t end = place.position + static_cast<std::uint64_t>(count);
  if (stream.generated || end <= stream.ids.size()) return;
  throw node.fault("needs " + std::to_string(count) + " tokens from " + std::to_string(place.position) +
                   " on, but stream " + shown(stream.name) + " has " + std::to_string(stream.ids.size()));
}

Count num_tokens(const TokenSpans& spans) {
  Count sum = 0;
  for (const Slice& slice : spans) sum += slice.count;
  return sum;
}

}  // namespace kvreplay::workloads
