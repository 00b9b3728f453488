// Reads everything of a workload file but its events and `expect`.
#pragma once

#include "workloads/fields.hpp"
#include "workloads/reader.hpp"

namespace kvreplay::workloads {

// Checks that the document is a kv-workload/1 file and has only known top-level keys. Throws InputError.
MapFields read_top_level(const yaml::Document& document);

// Fill meta, tokenizer, model and vocab, and the named streams of `workload`. Throw InputError.
void read_header(const MapFields& top, const ModelVocab& model_vocab, Workload& workload);
void read_streams(const MapFields& top, Workload& workload);

}  // namespace kvreplay::workloads
