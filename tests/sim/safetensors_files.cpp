// Safetensors: what is read back, and every way a file can be broken.

#include "tests/catch.hpp"

#include "sim/safetensors.hpp"
#include "tests/sim/model_config_fixtures.hpp"
#include "tests/sim/scratch_folder.hpp"

#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace kvreplay::sim {
namespace {

using namespace fixtures;
using Catch::Matchers::Contains;
using workloads::InputError;

// A file of a header of exactly this text, preceded by its length.
std::string file_of(const std::string& header, const std::string& data = {}) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string error_of(const std::string& bytes) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("m.safetensors", bytes);
  return message_of<InputError>([&] { const SafetensorsFile file(path); });
}

const std::string one_float = R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})";

std::span<const std::byte> bytes_of(const std::vector<float>& values) { return std::as_bytes(std::span(values)); }

std::size_t num_files(const ScratchFolder& scratch) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(scratch.path())) ++count;
  return count;
}

}  // namespace

TEST_CASE("a file worked out by hand is read tensor by tensor") {
  const ScratchFolder scratch;
  // 1.5 and -2 as F32, 1.5 as BF16 (0x3FC0), 1.5 and 6e-8 (the smallest) as F16, then an odd byte.
  const std::string data("\x00\x00\xC0\x3F\x00\x00\x00\xC0\xC0\x3F\x00\x3E\x01\x00\x07", 15);
  const std::string path = scratch.write("m.safetensors", file_of(R"({"__metadata__": {"k": "v"},
    "x": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]},
    "h": {"dtype": "F16", "shape": [2], "data_offsets": [10, 14]},
    "b": {"dtype": "BF16", "shape": [], "data_offsets": [8, 10]},
    "u": {"dtype": "U8", "shape": [1], "data_offsets": [14, 15]},
    "empty": {"dtype": "F32", "shape": [0, 9223372036854775807], "data_offsets": [8, 8]}}  )",
                                                                  data));
  const SafetensorsFile file(path);
  CHECK(file.metadata().at("k") == "v");
  CHECK(file.tensors().size() == 5);
  const auto floats = [&](const std::string& name) {
    std::vector<float> values(static_cast<std::size_t>(file.tensor(name).num_elements()));
    copy_as_float(file.tensor(name), values);
    return values;
  };
  CHECK(floats("x") == std::vector<float>{1.5F, -2});
  CHECK(file.tensor("x").shape == std::vector<std::int64_t>{2, 1});
  CHECK(floats("b") == std::vector<float>{1.5F});
  CHECK(floats("h") == std::vector<float>{1.5F, 0x1p-24F});
  CHECK(floats("empty").empty());
  CHECK_FALSE(holds_floats(file.tensor("u")));
  CHECK_THAT(message_of<InputError>([&] { file.tensor("y"); }), Contains("m.safetensors: y: there is no such tensor"));
  CHECK_THAT(message_of<InputError>([&] { int32_values(file, "x"); }), Contains("has dtype F32, not I32"));
}

TEST_CASE("truncated and oversized files are refused") {
  CHECK_THAT(error_of(""), Contains("too short"));
  CHECK_THAT(error_of("1234567"), Contains("too short"));
  CHECK_THAT(error_of(std::string(8, '\xFF')), Contains("too long"));
  CHECK_THAT(error_of(file_of(one_float).substr(0, 30)), Contains("truncated"));
  CHECK_THAT(error_of(file_of(one_float, "123")), Contains("a: data_offsets [0, 4] lie outside"));
  CHECK_THAT(error_of(file_of(one_float, "12345")), Contains("belong to no tensor"));
  CHECK(error_of(file_of(one_float, "1234")).empty());
  CHECK(error_of(file_of("{}")).empty());
}

TEST_CASE("a header that is not what the format says is refused by tensor") {
  const auto entry_error = [](const std::string& entry) { return error_of(file_of("{\"a\": " + entry + "}", "1234")); };
  CHECK_THAT(error_of(file_of("")), Contains("begin with '{'"));
  CHECK_THAT(error_of(file_of("[]")), Contains("begin with '{'"));
  CHECK_THAT(error_of(file_of("{\"a\": ")), Contains("not valid JSON"));
  CHECK_THAT(error_of(file_of("{\"a\": 1, \"a\": 2}")), Contains("a: the key is given twice"));
  CHECK_THAT(entry_error("1"), Contains("a: needs exactly"));
  CHECK_THAT(entry_error(R"({"dtype": "F32", "shape": [1]})"), Contains("needs exactly"));
  CHECK_THAT(entry_error(R"({"dtype": "F32", "shape": [1], "data_offsets": [0, 4], "x": 1})"),
             Contains("needs exactly"));
  CHECK_THAT(entry_error(R"({"dtype": "FP32", "shape": [1], "data_offsets": [0, 4]})"),
             Contains("unknown dtype 'FP32'"));
  CHECK_THAT(entry_error(R"({"dtype": 7, "shape": [1], "data_offsets": [0, 4]})"), Contains("dtype must be a string"));
  CHECK_THAT(entry_error(R"({"dtype": "F32", "shape": 1, "data_offsets": [0, 4]})"), Contains("shape must be a list"));
  CHECK_THAT(entry_error(R"({"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]})"), Contains("whole numbers"));
  CHECK_THAT(entry_error(R"({"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]})"), Contains("whole numbers"));
  CHECK_THAT(entry_error(R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 4]})"), Contains("shape and dtype"));
  CHECK_THAT(entry_error(R"({"dtype": "F32", "shape": [1], "data_offsets": [4, 0]})"), Contains("outside"));
  CHECK_THAT(entry_error(R"({"dtype": "F32", "shape": [1], "data_offsets": [0]})"), Contains("two numbers"));
  CHECK_THAT(entry_error(R"({"dtype": "F32", "shape": [4611686018427387904, 4, 2], "data_offsets": [0, 4]})"),
             Contains("shape and dtype"));
  CHECK_THAT(error_of(file_of(R"({"__metadata__": {"k": 1}})")), Contains("strings to strings"));
}

TEST_CASE("tensors must tile the data without holes or overlaps") {
  const std::string u8 = R"("dtype": "U8", "shape": [4], "data_offsets": )";
  CHECK_THAT(error_of(file_of("{\"a\": {" + u8 + "[0, 4]}, \"b\": {" + u8 + "[2, 6]}}", "123456")),
             Contains("overlaps"));
  CHECK_THAT(error_of(file_of("{\"a\": {" + u8 + "[0, 4]}, \"b\": {" + u8 + "[5, 9]}}", "123456789")),
             Contains("hole"));
  CHECK(error_of(file_of("{\"a\": {" + u8 + "[4, 8]}, \"b\": {" + u8 + "[0, 4]}}", "12345678")).empty());
}

TEST_CASE("what is no readable file is refused") {
  const ScratchFolder scratch;
  CHECK_THAT(message_of<InputError>([&] { const SafetensorsFile file(scratch.str()); }),
             Contains("not a regular file"));
  CHECK_THAT(message_of<InputError>([&] { const SafetensorsFile file(scratch.str() + "/none"); }),
             Contains("none: cannot be opened"));
}

TEST_CASE("what is written is read back, aligned and with its metadata") {
  const ScratchFolder scratch;
  const std::string path = scratch.str() + "/out.safetensors";
  const std::vector<std::int32_t> ids{1, -2, 3};
  const std::vector<float> first{0.5F, 1}, second{2, 3}, none;
  const std::vector<std::byte> flags(3, std::byte{1});
  const std::vector<TensorSource> tensors{{"flags", "U8", {3}, {flags}},
                                          {"input_ids", "I32", {3}, {std::as_bytes(std::span(ids))}},
                                          {"logits", "F32", {2, 2}, {bytes_of(first), bytes_of(second)}},
                                          {"none", "F32", {0, 5}, {bytes_of(none)}}};
  write_safetensors(path, tensors, {{"model", "toy \"quoted\""}});
  const SafetensorsFile file(path);
  CHECK(file.metadata().at("model") == "toy \"quoted\"");
  CHECK(int32_values(file, "input_ids") == ids);
  std::vector<float> logits(4);
  copy_as_float(file.tensor("logits"), logits);
  CHECK(logits == std::vector<float>{0.5F, 1, 2, 3});
  CHECK(file.tensor("none").shape == std::vector<std::int64_t>{0, 5});
  for (const auto& [name, tensor] : file.tensors()) {
    const auto place = reinterpret_cast<std::uintptr_t>(tensor.bytes.data());
    CHECK(place % static_cast<std::uintptr_t>(dtype_bytes(tensor.dtype)) == 0);
  }
  CHECK(num_files(scratch) == 1);
}

TEST_CASE("tensors that do not fit their shape are never written") {
  const ScratchFolder scratch;
  const std::string path = scratch.str() + "/out.safetensors";
  const std::vector<float> values{1, 2};
  const auto write = [&](const std::vector<TensorSource>& tensors) { write_safetensors(path, tensors); };
  CHECK_THROWS_AS(write({{"a", "F32", {3}, {bytes_of(values)}}}), std::invalid_argument);
  CHECK_THROWS_AS(write({{"a", "F33", {2}, {bytes_of(values)}}}), std::invalid_argument);
  CHECK_THROWS_AS(write({{"a", "F32", {-2}, {bytes_of(values)}}}), std::invalid_argument);
  CHECK_THROWS_AS(write({{"a", "F32", {2}, {bytes_of(values)}}, {"a", "F32", {2}, {bytes_of(values)}}}),
                  std::invalid_argument);
  CHECK(num_files(scratch) == 0);
}

TEST_CASE("writing that fails leaves the old file and nothing else") {
  const ScratchFolder scratch;
  const std::string path = scratch.write("out.safetensors", "old");
  const std::vector<float> values(4096, 1);
  const std::vector<TensorSource> tensors{{"a", "F32", {4096}, {bytes_of(values)}}};
  CHECK_THROWS_AS(write_safetensors(scratch.str() + "/no/folder.safetensors", tensors), std::system_error);
  // A limit on the size of files fails the write half way, as a full disk does.
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{4096, before.rlim_max};
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK_THROWS_AS(write_safetensors(path, tensors), std::system_error);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, old_handler);
  CHECK(std::filesystem::file_size(path) == 3);
  CHECK(num_files(scratch) == 1);
}

}  // namespace kvreplay::sim
