// A workload together with the document it was read from, for those who need places beyond the marks of a Workload.
#pragma once

#include "workloads/reader.hpp"
#include "workloads/yaml/tree.hpp"

#include <memory>
#include <optional>

namespace kvreplay::workloads {

struct ReadParts {
  std::unique_ptr<yaml::Document> document;
  Workload workload;
  std::optional<yaml::NodeRef> expect;  // the value of the key, if there is one
};

// Reads all of a file but does not compare `expect` with the events. Throws InputError.
ReadParts read_parts(std::string_view bytes, const std::string& path, const ModelVocab& model_vocab);

}  // namespace kvreplay::workloads
