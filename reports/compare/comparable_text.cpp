#include "reports/compare/comparable_text.hpp"

#include "reports/json_text.hpp"
#include "reports/result_json.hpp"
#include "reports/whole_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace kvreplay::reports {
namespace {

constexpr std::array<std::string_view, 3> long_lists{"timeline", "evaluation_ns", "evaluation_fed"};
constexpr std::size_t block_bytes = 64;
constexpr std::size_t most_text_bytes = std::size_t{1} << 30;
constexpr const char* cure = "make the file anew with 'kvreplay run -o'";

// The high bit of every byte of `word` that is zero (H. S. Warren, "Hacker's Delight", 6-1).
std::uint64_t zero_bytes(std::uint64_t word) {
  constexpr std::uint64_t low_bits = 0x7f7f7f7f7f7f7f7f;
  return ~(((word & low_bits) + low_bits) | word | low_bits);
}

struct BlockFacts {
  bool has_odd_quotes;
  bool is_plain;  // no byte of 0x40 to 0x5e: brackets, backslashes, capital letters
};

BlockFacts facts_of(const char* block) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  std::uint64_t quotes = 0, special = 0;
  for (std::size_t i = 0; i < block_bytes / sizeof(std::uint64_t); ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, block + i * sizeof(word), sizeof(word));
    quotes ^= zero_bytes(word ^ (ones * '"'));
    special |= zero_bytes((word & (ones * 0xe0)) ^ (ones * 0x40)) & ~zero_bytes(word ^ (ones * '_'));
  }
  return {std::popcount(quotes) % 2 != 0, special == 0};
}

// Where a text stands that comes in pieces; both count from 1, columns are bytes.
struct Place {
  std::size_t line = 1, column = 1;

  void pass(std::string_view piece) {
    line += static_cast<std::size_t>(std::count(piece.begin(), piece.end(), '\n'));
    const auto last = piece.rfind('\n');
    column = last == std::string_view::npos ? column + piece.size() : piece.size() - last;
  }
};

// Throws what is wrong with the whole file, which has the places a skipped text has not.
[[noreturn]] void explain(const std::string& path) {
  const std::string text = whole_file(path);
  need_json(text, {path, cure});
  throw ResultError(fmt::format("{}: changed while it was read", path));
}

}  // namespace

void ListSkipper::feed(std::string_view piece) {
  num_bytes_fed_ += piece.size();
  for (std::size_t i = 0; i < piece.size();) {
    if (depth_ > 0) {
      i += skip_plain_blocks(piece.substr(i));
      // The block that stopped it, byte by byte.
      for (std::size_t n = 0; n < block_bytes && i < piece.size() && depth_ > 0; ++n) skip(piece[i++]);
    } else {
      copy(piece[i++]);
    }
  }
}

std::size_t ListSkipper::skip_plain_blocks(std::string_view piece) {
  std::size_t done = 0;
  while (!after_backslash_ && piece.size() - done >= block_bytes) {
    const BlockFacts facts = facts_of(piece.data() + done);
    if (!facts.is_plain) break;
    in_string_ ^= facts.has_odd_quotes;
    done += block_bytes;
  }
  return done;
}

// A character of a string, which may be its closing quote.
void ListSkipper::step_in_string(char c) {
  if (after_backslash_) {
    after_backslash_ = false;
  } else if (c == '\\') {
    after_backslash_ = true;
  } else if (c == '"') {
    in_string_ = false;
  }
}

void ListSkipper::skip(char c) {
  if (in_string_) return step_in_string(c);
  if (c == '"') {
    in_string_ = true;
  } else if (c == '[') {
    ++depth_;
  } else if (c == ']') {
    if (--depth_ == 0) text_ += c;
  } else if (c >= 0x40 && c < 0x5f && c != 'E') {
    sound_ = false;  // NaN, Infinity
  }
}

void ListSkipper::copy(char c) {
  text_ += c;
  if (in_string_) {
    step_in_string(c);
    if (!in_string_) {
      const std::string_view key(text_.data() + string_begin_, text_.size() - 1 - string_begin_);
      key_is_long_list_ = false;
      for (const std::string_view name : long_lists) key_is_long_list_ = key_is_long_list_ || key == name;
      colon_seen_ = false;
    }
    return;
  }
  if (c == '"') {
    in_string_ = true;
    string_begin_ = text_.size();
  } else if (c == ':') {
    colon_seen_ = true;
  } else if (c == '[' && key_is_long_list_ && colon_seen_) {
    depth_ = 1;
    key_is_long_list_ = false;
  } else if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
    key_is_long_list_ = false;
  }
}

ResultFile read_comparable_file(const std::string& path) {
  ListSkipper skipper;
  Place place;
  // What never ends, as a device of zeros or of noise, is left at its first NUL byte.
  each_piece_of_file(path, [&](std::string_view piece) {
    const auto nul = piece.find('\0');
    if (nul != std::string_view::npos && skipper.num_bytes_fed() == 0) need_json(piece, {path, cure});  // UTF-16?
    place.pass(piece.substr(0, nul));
    if (nul != std::string_view::npos) {
      throw NotJson(
          fmt::format("{}:{}:{}: not JSON: a NUL byte, the file is damaged; {}", path, place.line, place.column, cure));
    }
    skipper.feed(piece);
    if (skipper.text().size() > most_text_bytes) {
      throw FileReadError(fmt::format("{}: is larger than {} MiB without its lists of single times; is it a result?",
                                      path, most_text_bytes >> 20));
    }
  });
  if (!skipper.is_sound()) explain(path);
  try {
    return read_result_json(skipper.text(), path);
  } catch (const NotJson&) {
    explain(path);
  }
}

}  // namespace kvreplay::reports
