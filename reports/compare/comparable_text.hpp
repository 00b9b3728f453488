// Reads result files for a comparison, which needs counters and the times of repetitions but none of the long lists:
// those are passed over as bytes and never become values, so that files of hundreds of megabytes are read in a moment.
#pragma once

#include "reports/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace kvreplay::reports {

// A JSON text, fed in pieces, without the elements of the lists named "timeline", "evaluation_ns" and "evaluation_fed".
class ListSkipper {
 public:
  void feed(std::string_view piece);

  // The text fed so far, those lists empty.
  const std::string& text() const { return text_; }
  // False if a list held what no JSON list does (NaN, an unclosed list); the text is then not to be trusted.
  bool is_sound() const { return sound_ && depth_ == 0; }
  std::size_t num_bytes_fed() const { return num_bytes_fed_; }

 private:
  void copy(char c);
  void step_in_string(char c);
  void skip(char c);
  std::size_t skip_plain_blocks(std::string_view piece);

  std::string text_;
  std::size_t string_begin_ = 0;  // of the last string in text_
  bool in_string_ = false, after_backslash_ = false;
  bool key_is_long_list_ = false;  // the last string was the key of one, then a colon or nothing
  bool colon_seen_ = false;
  int depth_ = 0;  // of the list that is passed over
  bool sound_ = true;
  std::size_t num_bytes_fed_ = 0;
};

// A result file without timelines and single times. Throws FileReadError and ResultError as whole_file and
// read_result_json do.
ResultFile read_comparable_file(const std::string& path);

}  // namespace kvreplay::reports
