// Workload texts for tests, and the message a text is refused with.
#pragma once

#include "workloads/reader.hpp"

#include <string>

namespace kvreplay::workloads::tests {

// Line 6 is the first line of `events`. Streams: p has 8 literal ids, g is generated, x generated and indexed.
inline std::string with_events(const std::string& events) {
  return "format: kv-workload/1\n"
         "meta: {id: a, title: b}\n"
         "tokenizer: {name: t, vocab: 1000}\n"
         "streams: {p: {ids: 11 12 13 14 15 16 17 18}, g: {seed: 1}, x: {seed: 2, indexed: true}}\n"
         "events:\n" +
         events;
}

// Line 3 is the first line of `rest`; the events evaluate one list of three tokens.
inline std::string with_rest(const std::string& rest) {
  return "format: kv-workload/1\nmeta: {id: a, title: b}\n" + rest + "events: [{new: s}, {append: 1 2 3}, {eval: 1}]\n";
}

inline Workload read(const std::string& text) { return read_workload_text(text, "w.yaml"); }

// The whole message, or "accepted".
inline std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace kvreplay::workloads::tests
