// check: validates workload files, or fills in what they should expect of themselves.

#include "cli/commands.hpp"
#include "cli/errors.hpp"
#include "cli/exit_codes.hpp"
#include "reports/atomic_file.hpp"
#include "reports/whole_file.hpp"
#include "sim/cells.hpp"
#include "workloads/expansion.hpp"
#include "workloads/expect_writer.hpp"

#include <fmt/format.h>

#include <memory>

namespace kvreplay::cli {
namespace {

struct CheckTexts {
  std::vector<std::string> files;
  bool write_expect = false;
};

int check_file(const std::string& path, bool write_expect) {
  if (write_expect) {
    reports::write_atomically(path, workloads::text_with_expect(reports::whole_file(path), path, sim::model_vocab));
  }
  const workloads::Workload workload = workloads::read_workload(path, sim::model_vocab);
  const workloads::Facts facts = workloads::facts_of(workload, {});
  fmt::print("{}: ok, {} evaluations, longest list {}, {} tokens requested, at least {} evaluated by one cache\n", path,
             facts.evaluations, facts.max_length, facts.tokens_requested, facts.tokens_floor_single);
  return exit_ok;
}

int check(const CheckTexts& texts) {
  int worst = exit_ok;
  for (const std::string& path : texts.files) {
    worst = std::max(worst, guarded([&] { return check_file(path, texts.write_expect); }));
  }
  return worst;
}

}  // namespace

void add_check(CLI::App& program, Command& chosen) {
  auto texts = std::make_shared<CheckTexts>();
  CLI::App* command = program.add_subcommand("check", "Validate workload files");
  command->add_option("FILE", texts->files, "Workload files")->required();
  command->add_flag("--write-expect", texts->write_expect,
                    "Fill in the file's expect block (counts and bounds); the rest stays as it is");
  command->callback([texts, &chosen] { chosen = [texts] { return check(*texts); }; });
}

}  // namespace kvreplay::cli
