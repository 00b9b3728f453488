#include "workloads/reader.hpp"

#include "workloads/event_reader.hpp"
#include "workloads/expect_reader.hpp"
#include "workloads/header_reader.hpp"
#include "workloads/read_parts.hpp"
#include "workloads/yaml/source_text.hpp"

#include <openssl/sha.h>

#include <array>

namespace kvreplay::workloads {
namespace {

std::string sha256_of(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace

ReadParts read_parts(std::string_view bytes, const std::string& path, const ModelVocab& model_vocab) {
  ReadParts parts;
  parts.document = yaml::read_document(bytes, path);
  const MapFields top = read_top_level(*parts.document);
  Workload& workload = parts.workload;
  workload.path = path;
  workload.sha256 = sha256_of(bytes);
  read_header(top, model_vocab, workload);
  read_streams(top, workload);
  read_events(top.required("events", "the list of events"), workload);
  parts.expect = top.optional("expect");
  if (parts.expect) read_expect(*parts.expect, workload);
  return parts;
}

Workload read_workload_text(std::string_view text, const std::string& path, const ModelVocab& model_vocab) {
  ReadParts parts = read_parts(text, path, model_vocab);
  if (parts.expect) check_expect(*parts.expect, parts.workload);
  return std::move(parts.workload);
}

Workload read_workload(const std::string& path, const ModelVocab& model_vocab) {
  return read_workload_text(yaml::read_file(path), path, model_vocab);
}

}  // namespace kvreplay::workloads
