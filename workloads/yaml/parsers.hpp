// The two ways a text becomes a tree. Both give the same tree for what both can read (a test compares them).
#pragma once

#include "workloads/yaml/tree.hpp"

#include <memory>
#include <string>

namespace kvreplay::workloads::yaml {

// Reads with yaml-cpp's parser, which decides what is YAML. `source` is normalised text. Throws InputError.
std::unique_ptr<Document> parse_any(const std::string& file, const std::string& source);

// Reads texts in the regular style recorders write (block maps and lists, flow collections and quoted scalars on one
// line, folded scalars `>-`), about 20 times faster; nullptr for any other text, faulty ones included.
std::unique_ptr<Document> parse_regular(const std::string& file, const std::string& source);

}  // namespace kvreplay::workloads::yaml
