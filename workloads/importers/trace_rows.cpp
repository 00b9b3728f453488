#include "workloads/importers/trace_rows.hpp"

#include "workloads/yaml/source_text.hpp"

#include <algorithm>
#include <utility>

namespace kvreplay::workloads::importers {

void TraceRows::each(const std::function<bool(const TraceLine&)>& take) {
  bool at_end = false;
  while (!at_end && wants_more()) {
    take_row(0, [&] {
      const TraceLine* const line = lines_.next();
      at_end = line == nullptr;
      return !at_end && take(*line);
    });
    if (at_end) --rows_read_;
  }
}

void TraceRows::take_row(int line, const std::function<bool()>& take) {
  ++rows_read_;
  try {
    if (take()) ++rows_taken_;
  } catch (const FatalImportError&) {
    throw;
  } catch (const InputError& error) {
    if (!options_.skip_bad) throw;
    note("bad rows skipped", error.mark.line > 0 ? error.mark.line : line, error.what());
  }
}

std::string TraceRows::document() {
  constexpr std::size_t max_bytes = std::size_t{64} << 20;
  std::string text;
  int last_line = 1;
  while (const TraceLine* const line = lines_.next()) {
    text.append(static_cast<std::size_t>(line->number - last_line), '\n');
    last_line = line->number;
    text += line->text;
    if (text.size() > max_bytes)
      throw InputError(path(), {last_line, 0}, "", "larger than 64 MiB, the most this format may be");
  }
  return text;
}

void TraceRows::note(const std::string& reason, int line, const std::string& example) {
  const auto same = [&reason](const ImportNote& note) { return note.reason == reason; };
  const auto found = std::find_if(notes_.begin(), notes_.end(), same);
  if (found != notes_.end()) {
    ++found->rows;
  } else {
    notes_.push_back({reason, 1, line, example});
  }
}

void TraceRows::leave_unused(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (unused_.size() == Imported::max_unused) return;
    std::string text = yaml::shown(name);
    if (std::find(unused_.begin(), unused_.end(), text) == unused_.end()) unused_.push_back(std::move(text));
  }
}

bool TraceRows::keeps_input(Count tokens, int line) {
  if (!options_.max_input || tokens <= *options_.max_input) return true;
  note("prompt longer than --max-input " + std::to_string(*options_.max_input), line);
  return false;
}

void TraceRows::finish(Imported& imported) const {
  imported.rows_read = rows_read_;
  imported.rows_taken = rows_taken_;
  imported.notes = notes_;
  imported.unused = unused_;
}

}  // namespace kvreplay::workloads::importers
