// What the policy tests share: a cache to talk to, rows that say where they come from, and a reader of what attention
// would see.
#pragma once

#include "policies/memory_ledger.hpp"
#include "policies/registry.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace kvreplay::policies::testing {

using Tokens = std::vector<TokenId>;

// Layers by letter: g global, s sliding; 2 KV heads of 4, so that a row has room for its marker.
CacheGeometry geometry(const std::string& layers, Count sliding_window, ElementType type = ElementType::fp32,
                       Count max_positions = 8192);

std::unique_ptr<CachePolicy> policy(const std::string& spec, const PolicySetup& setup);
std::unique_ptr<CachePolicy> plan_policy(const std::string& spec, const CacheGeometry& geometry);

// Every row of the policy table with every combination of its choices; numbers at their default and small.
std::vector<std::string> every_spec(Count small_capacity);

// first, first + 1, ... (count ids).
Tokens ids(Count count, TokenId first = 1000);
Tokens joined(Tokens a, const Tokens& b);
Tokens prefix(const Tokens& tokens, Count count);

// One engine around a policy, without buffers: passes what a replay passes and adds up what it answers.
class Caller {
 public:
  explicit Caller(CachePolicy& cache) : cache_(cache) {}

  // Admits and finishes. The stored answer is the last list's.
  Admission call(const Tokens& tokens, SequenceId sequence = 0, Count num_logits = 1);
  // Position of the stored answer as a row of `tokens`; -1: it is none of them.
  Count stored_position(const Tokens& tokens) const;
  void forget_answer() { answered_.clear(); }
  Request request(const Tokens& tokens, SequenceId sequence, Count num_logits) const;
  void remember(const Tokens& tokens, const Admission& admission);

  Count evaluated = 0;
  Count requested = 0;
  Count rewinds_asked = 0;

 private:
  CachePolicy& cache_;
  Tokens last_;      // admitted last
  Tokens answered_;  // list whose last row of logits is stored
};

// Calls for 1, 2, ... tokens more: the first list has `first` tokens, then `steps` calls add one each.
Tokens grow(Caller& caller, Count first, Count steps);

// Slots of one layer of each kind, from bytes.
PerKind slots(const CacheGeometry& geometry, PerKind bytes);

// The row that stands for a position of a list in a layer: equal only where position, prefix and layer are.
struct Marker {
  std::array<float, 4> values{};
  friend bool operator==(const Marker&, const Marker&) = default;
};
std::vector<Marker> markers(const Tokens& tokens, Count layer);

// Rows of a piece as FreshRows wants them, made of markers (keys) and reversed markers (values).
struct Piece {
  std::vector<float> keys, values;
  FreshRows rows;
};
Piece piece(const std::vector<Marker>& rows, Count first, Count count, const CacheGeometry& geometry);

// A row of a view as attention reads it.
struct SeenRow {
  Count position;  // KvRun::unused_slots: none
  Marker marker;   // head 0
  bool whole;      // both heads and the values belong to the marker, and nothing is NaN
  bool finite;
};
std::vector<SeenRow> read(const KvView& view, const CacheGeometry& geometry);

// What the queries of one piece see in one layer, against a cold run.
struct Sight {
  Count rows_read = 0;        // rows in the view
  bool finite = true;         // no NaN anywhere in the view
  bool as_cold = true;        // every query sees exactly the rows a cold run would have, each once
  std::vector<double> means;  // per query: mean position under equal weights (zero rows count as 0)
};
Sight look(const KvView& view, const std::vector<Marker>& cold, Count first, Count count, bool sliding,
           const CacheGeometry& geometry);

// Feeds the tokens an admission wants fed through all layers of a buffered cache and looks at every view.
struct FedLayer {
  Count rows_read = 0;
  std::vector<double> means;  // of all fed queries
};
struct Fed {
  bool finite = true;
  bool as_cold = true;
  std::vector<FedLayer> layers;
};
Fed feed(CachePolicy& cache, const Tokens& tokens, const Admission& admission, const CacheGeometry& geometry);

}  // namespace kvreplay::policies::testing
