#include "reports/github_action.hpp"

#include "reports/json_values.hpp"
#include "reports/key_numbers.hpp"

#include <fmt/format.h>

namespace kvreplay::reports {

std::string write_github_action(const ResultFile& file) {
  const std::vector<std::string> names = dashboard_names(file);
  Json list = Json::array();
  for (std::size_t i = 0; i < file.results.size(); ++i) {
    const RunResult& run = file.results[i];
    for (const KeyNumber& number : key_numbers(run)) {
      Json entry = {{"name", fmt::format("{}: {}", names[i], number.metric)},
                    {"unit", number.unit},
                    {"value", number.value},
                    {"extra", fmt::format("{}, depth {}", run.model.profile, run.depth)}};
      if (number.lowest) entry["range"] = fmt::format("{} - {}", *number.lowest, *number.highest);
      list.push_back(std::move(entry));
    }
  }
  return list.empty() ? "[]\n" : list.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kvreplay::reports
