#include "tests/policies/support.hpp"

#include "policies/bf16.hpp"
#include "policies/option_error.hpp"

#include <algorithm>
#include <cmath>

namespace kvreplay::policies::testing {

CacheGeometry geometry(const std::string& layers, Count sliding_window, ElementType type, Count max_positions) {
  CacheGeometry result;
  result.num_kv_heads = 2;
  result.head_dim = 4;
  result.element_type = type;
  result.sliding_window = sliding_window;
  result.max_positions = max_positions;
  for (const char layer : layers) result.slides.push_back(layer == 's');
  return result;
}

std::unique_ptr<CachePolicy> policy(const std::string& spec, const PolicySetup& setup) {
  return make_policy(parse_policy(spec), setup);
}

std::unique_ptr<CachePolicy> plan_policy(const std::string& spec, const CacheGeometry& shape) {
  PolicySetup setup;
  setup.geometry = shape;
  return policy(spec, setup);
}

namespace {

bool is_valid(const std::string& spec) {
  try {
    parse_policy(spec);
    return true;
  } catch (const OptionError&) {
    return false;  // options that exclude each other
  }
}

}  // namespace

std::vector<std::string> every_spec(Count small_capacity) {
  std::vector<std::string> specs;
  for (const PolicyEntry& entry : policy_table()) {
    std::vector<std::string> combinations{""};
    for (PolicyOption option : entry.options) {
      if (option.choices.empty())
        option.choices = {option.default_value, std::to_string(option.key == "capacity" ? small_capacity : 2)};
      std::vector<std::string> longer;
      for (const std::string& combination : combinations) {
        std::string setting = combination;
        setting.append(combination.empty() ? ":" : ",").append(option.key).append("=");
        for (const std::string& choice : option.choices) longer.push_back(setting + choice);
      }
      if (!longer.empty()) combinations = longer;
    }
    for (const std::string& combination : combinations) {
      if (is_valid(entry.name + combination)) specs.push_back(entry.name + combination);
    }
  }
  return specs;
}

Tokens ids(Count count, TokenId first) {
  Tokens tokens;
  for (Count i = 0; i < count; ++i) tokens.push_back(first + static_cast<TokenId>(i));
  return tokens;
}

Tokens joined(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Tokens prefix(const Tokens& tokens, Count count) { return Tokens(tokens.begin(), tokens.begin() + count); }

Count Caller::stored_position(const Tokens& tokens) const {
  if (answered_.empty() || answered_.size() > tokens.size()) return -1;
  return std::equal(answered_.begin(), answered_.end(), tokens.begin()) ? static_cast<Count>(answered_.size()) - 1 : -1;
}

Request Caller::request(const Tokens& tokens, SequenceId sequence, Count num_logits) const {
  const auto shorter = static_cast<std::ptrdiff_t>(std::min(tokens.size(), last_.size()));
  const auto differs = std::mismatch(tokens.begin(), tokens.begin() + shorter, last_.begin()).first;
  return {sequence, tokens, num_logits, stored_position(tokens), differs - tokens.begin()};
}

void Caller::remember(const Tokens& tokens, const Admission& admission) {
  if (admission.action == Action::refused || admission.action == Action::exceeded) return;
  requested += static_cast<Count>(tokens.size());
  evaluated += static_cast<Count>(tokens.size()) - admission.reused;
  if (admission.held_before > admission.kept) ++rewinds_asked;
  last_ = answered_ = tokens;
}

Admission Caller::call(const Tokens& tokens, SequenceId sequence, Count num_logits) {
  const Admission admission = cache_.admit(request(tokens, sequence, num_logits));
  cache_.finish();
  remember(tokens, admission);
  return admission;
}

Tokens grow(Caller& caller, Count first, Count steps) {
  Tokens tokens = ids(first);
  caller.call(tokens);
  for (Count i = 0; i < steps; ++i) {
    tokens.push_back(1000 + static_cast<TokenId>(tokens.size()));
    caller.call(tokens);
  }
  return tokens;
}

PerKind slots(const CacheGeometry& shape, PerKind bytes) {
  const PerKind slot{shape.num_global_layers() * shape.row_bytes(), shape.num_sliding_layers() * shape.row_bytes()};
  return {slot.global > 0 ? bytes.global / slot.global : 0, slot.sliding > 0 ? bytes.sliding / slot.sliding : 0};
}

std::vector<Marker> markers(const Tokens& tokens, Count layer) {
  std::vector<Marker> rows;
  std::uint32_t hash = 2166136261u + static_cast<std::uint32_t>(layer);
  for (const TokenId token : tokens) {
    hash = (hash ^ token) * 16777619u;
    hash ^= hash >> 13;
    // Whole numbers below 256 are exact in bf16; the first is never 0, so that no row looks unwritten.
    rows.push_back({{static_cast<float>(1 + rows.size() % 250), static_cast<float>(hash & 255u),
                     static_cast<float>((hash >> 8) & 255u), static_cast<float>((hash >> 16) & 255u)}});
  }
  return rows;
}

namespace {

// Head 1 holds the marker rotated by one, values hold it reversed.
Marker as_stored(Marker marker, int head, bool value) {
  std::rotate(marker.values.begin(), marker.values.begin() + head, marker.values.end());
  if (value) std::reverse(marker.values.begin(), marker.values.end());
  return marker;
}

float element(const void* tensor, std::ptrdiff_t index, ElementType type) {
  if (type == ElementType::fp32) return static_cast<const float*>(tensor)[index];
  return from_bf16(static_cast<const Bf16*>(tensor)[index]);
}

Marker row_at(const KvRun& run, const void* tensor, Count index, Count head) {
  Marker marker;
  for (std::size_t d = 0; d < marker.values.size(); ++d) {
    marker.values[d] =
        element(tensor, index * run.row_stride + head * run.head_stride + static_cast<Count>(d), run.element_type);
  }
  return marker;
}

bool is_finite(const Marker& marker) {
  return std::all_of(marker.values.begin(), marker.values.end(), [](float value) { return std::isfinite(value); });
}

}  // namespace

Piece piece(const std::vector<Marker>& rows, Count first, Count count, const CacheGeometry& shape) {
  Piece result;
  for (Count position = first; position < first + count; ++position) {
    for (int head = 0; head < shape.num_kv_heads; ++head) {
      const Marker key = as_stored(rows[static_cast<std::size_t>(position)], head, false);
      const Marker value = as_stored(rows[static_cast<std::size_t>(position)], head, true);
      result.keys.insert(result.keys.end(), key.values.begin(), key.values.end());
      result.values.insert(result.values.end(), value.values.begin(), value.values.end());
    }
  }
  result.rows = {first, count, result.keys.data(), result.values.data()};
  return result;
}

std::vector<SeenRow> read(const KvView& view, const CacheGeometry& shape) {
  std::vector<SeenRow> rows;
  for (const KvRun& run : view.runs) {
    for (Count i = 0; i < run.count; ++i) {
      SeenRow row{run.first_position == KvRun::unused_slots ? KvRun::unused_slots : run.first_position + i,
                  row_at(run, run.keys, i, 0), true, true};
      for (int head = 0; head < shape.num_kv_heads; ++head) {
        const Marker key = row_at(run, run.keys, i, head);
        const Marker value = row_at(run, run.values, i, head);
        row.finite = row.finite && is_finite(key) && is_finite(value);
        row.whole =
            row.whole && key == as_stored(row.marker, head, false) && value == as_stored(row.marker, head, true);
      }
      rows.push_back(row);
    }
  }
  return rows;
}

Sight look(const KvView& view, const std::vector<Marker>& cold, Count first, Count count, bool sliding,
           const CacheGeometry& shape) {
  Sight sight;
  const std::vector<SeenRow> rows = read(view, shape);
  sight.rows_read = static_cast<Count>(rows.size());
  sight.finite = std::all_of(rows.begin(), rows.end(), [](const SeenRow& row) { return row.finite; });
  for (Count query = 0; query < count; ++query) {
    const Count position = first + query;
    const Count lowest = sliding ? std::max<Count>(0, position - shape.sliding_window + 1) : 0;
    std::vector<int> times(static_cast<std::size_t>(position - lowest + 1), 0);
    double sum = 0, seen = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const SeenRow& row = rows[i];
      const bool masked = view.visible.empty() ? row.position < lowest || row.position > position
                                               : view.visible[static_cast<std::size_t>(query) * rows.size() + i] == 0;
      if (masked) continue;
      ++seen;
      sum += row.marker.values[0] == 0 ? 0 : row.marker.values[0] - 1;
      // Engines that mask by slot carry nominal positions: the marker says whose row it is.
      const auto found = std::find(cold.begin() + lowest, cold.begin() + position + 1, row.marker);
      const bool known = row.whole && found != cold.begin() + position + 1;
      if (known) ++times[static_cast<std::size_t>(found - cold.begin() - lowest)];
      const bool in_place = !view.visible.empty() || (known && found - cold.begin() == row.position);
      sight.as_cold = sight.as_cold && known && in_place;
    }
    sight.as_cold = sight.as_cold && std::all_of(times.begin(), times.end(), [](int n) { return n == 1; });
    sight.means.push_back(sum / seen);
  }
  return sight;
}

Fed feed(CachePolicy& cache, const Tokens& tokens, const Admission& admission, const CacheGeometry& shape) {
  Fed fed;
  fed.layers.resize(static_cast<std::size_t>(shape.num_layers()));
  const Count length = static_cast<Count>(tokens.size());
  const Count step = admission.piece_tokens > 0 ? admission.piece_tokens : length;
  for (Count first = admission.reused; first < length; first += step) {
    const Count count = std::min(step, length - first);
    for (Count layer = 0; layer < shape.num_layers(); ++layer) {
      const std::vector<Marker> cold = markers(tokens, layer);
      const Piece fresh = piece(cold, first, count, shape);
      const Sight sight =
          look(cache.rows(layer, fresh.rows), cold, first, count, shape.slides[static_cast<std::size_t>(layer)], shape);
      cache.store(layer, fresh.rows);
      fed.finite = fed.finite && sight.finite;
      fed.as_cold = fed.as_cold && sight.as_cold;
      FedLayer& total = fed.layers[static_cast<std::size_t>(layer)];
      total.rows_read += sight.rows_read;
      total.means.insert(total.means.end(), sight.means.begin(), sight.means.end());
    }
  }
  return fed;
}

}  // namespace kvreplay::policies::testing
