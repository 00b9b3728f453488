#include "workloads/event_reader.hpp"

#include "workloads/fields.hpp"
#include "workloads/ledger_rules.hpp"
#include "workloads/token_items.hpp"
#include "workloads/yaml/source_text.hpp"

#include <algorithm>

namespace kvreplay::workloads {
namespace {

using yaml::NodeRef;
using yaml::shown;

constexpr std::size_t max_events = 1'000'000;
constexpr Count max_tokens = 1'000'000'000;

class EventReader {
 public:
  explicit EventReader(Workload& workload) : tokens_(workload), rules_(workload) {}

  Event read(NodeRef item) {
    const Entry entry = only_entry(item);
    for (const auto& [name, read_value] : readers()) {
      if (entry.key.text() != name) continue;
      Event event;
      event.mark = item.mark();
      (this->*read_value)(entry.value, event);
      return event;
    }
    std::vector<std::string> names;
    for (const auto& reader : readers()) names.emplace_back(reader.first);
    throw entry.key.fault("unknown event " + shown(entry.key.text()) + "; events are " + listed(names),
                          std::string(entry.key.text()), names);
  }

 private:
  using ReadValue = void (EventReader::*)(NodeRef, Event&);
  static const std::vector<std::pair<std::string_view, ReadValue>>& readers() {
    // The most frequent first.
    static const std::vector<std::pair<std::string_view, ReadValue>> all = {
        {"call", &EventReader::read_call},     {"decode", &EventReader::read_decode},
        {"append", &EventReader::read_append}, {"eval", &EventReader::read_eval},
        {"switch", &EventReader::read_switch}, {"rewind", &EventReader::read_rewind},
        {"verify", &EventReader::read_verify}, {"new", &EventReader::read_new},
        {"fork", &EventReader::read_fork},     {"end", &EventReader::read_end},
        {"mark", &EventReader::read_mark},     {"wait", &EventReader::read_wait}};
    return all;
  }

  static std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  static Entry only_entry(NodeRef item) {
    if (!item.is_map()) {
      throw item.fault("expected an event, a map with one key such as 'eval: 1', found " + item.description());
    }
    const std::vector<Entry> entries = entries_of(item, "one event");
    if (entries.empty()) throw item.fault("expected an event, a map with one key such as 'eval: 1'");
    if (entries.size() > 1) {
      throw entries[1].key.fault("an event has one key, but " + shown(entries[1].key.text()) + " follows " +
                                 shown(entries[0].key.text()) + "; begin each event with its own '- '");
    }
    return entries[0];
  }

  static bool read_logits(NodeRef node) {
    if (node.is_scalar() && (node.text() == "last" || node.text() == "all")) return node.text() == "all";
    throw not_among(node, "the rows of logits wanted", {"last", "all"});
  }

  void read_new(NodeRef value, Event& event) {
    NewSequence what;
    if (value.is_map()) {
      static constexpr std::string_view keys[] = {"as", "at_ms"};
      const MapFields fields(value, keys);
      if (const auto at = fields.optional("at_ms")) what.at_ms = read_number(*at, 0);
      what.sequence = rules_.start(fields.required("as", "the name of the new sequence"));
    } else {
      what.sequence = rules_.start(value);
    }
    event.what = what;
  }

  void read_append(NodeRef value, Event& event) {
    Append what{tokens_.read(value)};
    rules_.grow(num_tokens(what.tokens), value);
    event.what = std::move(what);
  }

  void read_eval(NodeRef value, Event& event) {
    Evaluate what;
    if (value.is_map()) {
      static constexpr std::string_view keys[] = {"logits"};
      what.all_logits = read_logits(MapFields(value, keys).required("logits", "last or all"));
    } else if (!value.is_scalar() || whole_number(value.text()) != Count{1}) {
      throw value.fault("expected 1 or {logits: last|all}, found " + value.description());
    }
    rules_.evaluate(value);
    event.what = what;
  }

  void read_decode(NodeRef value, Event& event) {
    Decode what;
    if (value.is_map()) {
      static constexpr std::string_view keys[] = {"n", "ids"};
      const MapFields fields(value, keys);
      const NodeRef n = fields.required("n", "the number of evaluations");
      what.n = read_count(n, 1, max_tokens);
      what.ids = tokens_.read(fields.required("ids", "the sampled tokens"));
      const Count given = num_tokens(what.ids);
      if (given != what.n) {
        throw n.fault("n is " + std::to_string(what.n) + ", but ids has " + std::to_string(given) + " tokens");
      }
    } else {
      what.ids = tokens_.read(value);
      what.n = num_tokens(what.ids);
    }
    rules_.evaluate(value);
    rules_.grow(what.n, value);
    event.what = std::move(what);
  }

  void read_rewind(NodeRef value, Event& event) {
    static constexpr std::string_view keys[] = {"by", "to"};
    const MapFields fields(value, keys);
    const auto by = fields.optional("by");
    const auto to = fields.optional("to");
    if (by.has_value() == to.has_value()) throw value.fault("expected either by (a count) or to (a length or a mark)");
    const Count length = rules_.length(value);
    Rewind what;
    if (by) {
      const Count count = read_count(*by, 1);
      if (count > length) {
        throw by->fault("cannot rewind by " + std::to_string(count) + ": the ledger has " + std::to_string(length) +
                        " tokens");
      }
      what.length = length - count;
    } else if (to->is_scalar() && is_name(to->text())) {
      what.length = rules_.marked_length(*to);
    } else {
      what.length = read_length(*to, length, "cannot rewind to ");
    }
    rules_.shorten(what.length);
    event.what = what;
  }

  // A length within the ledger.
  static Count read_length(NodeRef node, Count length, const std::string& attempt) {
    const Count wanted = read_count(node, 0);
    if (wanted <= length) return wanted;
    throw node.fault(attempt + std::to_string(wanted) + ": the ledger has " + std::to_string(length) + " tokens");
  }

  // Counts in one scalar, or as a list.
  static std::vector<std::uint32_t> read_accepts(NodeRef node, Count k) {
    std::vector<std::uint32_t> accepts;
    const auto add = [&](std::optional<Count> count, NodeRef at, std::string_view text) {
      if (!count || *count < 0 || *count > k) {
        throw at.fault("expected counts from 0 to k = " + std::to_string(k) + ", found " + shown(text) + " as number " +
                       std::to_string(accepts.size() + 1));
      }
      accepts.push_back(static_cast<std::uint32_t>(*count));
    };
    if (node.is_scalar()) {
      constexpr std::string_view separators = " \n\t";
      const std::string_view text = node.text();
      for (std::size_t at = text.find_first_not_of(separators); at != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
        const std::string_view item = text.substr(at, end - at);
        add(whole_number(item), node, item);
        at = text.find_first_not_of(separators, end);
      }
    } else {
      for (const NodeRef item : items_of(node, "accepted counts")) {
        add(item.is_scalar() ? whole_number(item.text()) : std::nullopt, item, item.is_scalar() ? item.text() : "");
      }
    }
    if (accepts.empty()) throw node.fault("expected at least one count of accepted drafts, found none");
    return accepts;
  }

  void read_verify(NodeRef value, Event& event) {
    static constexpr std::string_view keys[] = {"k", "accepts", "accepted", "rejected"};
    const MapFields fields(value, keys);
    Verify what;
    what.k = read_count(fields.required("k", "the number of drafts"), 1, max_tokens);
    what.accepts = read_accepts(fields.required("accepts", "accepted drafts of each step"), what.k);
    const NodeRef accepted = fields.required("accepted", "NAME[@OFFSET] of the accepted tokens");
    what.accepted = tokens_.read_place(accepted);
    Count num_accepted = 0, num_rejected = 0;
    for (const Count a : what.accepts) {
      num_accepted += a + 1;
      num_rejected += what.k - a;
    }
    tokens_.check_available(what.accepted, num_accepted, accepted);
    if (const auto rejected = fields.optional("rejected")) {
      what.rejected = tokens_.read_place(*rejected);
      tokens_.check_available(*what.rejected, num_rejected, *rejected);
    } else if (num_rejected > 0) {
      fields.required("rejected", "NAME[@OFFSET] of the rejected drafts, for not all are accepted");
    }
    rules_.evaluate(value);
    for (const Count a : what.accepts) {
      const Count before = rules_.length(value);
      rules_.grow(what.k, value);
      rules_.shorten(before + a);
      rules_.grow(1, value);
    }
    event.what = std::move(what);
  }

  void read_fork(NodeRef value, Event& event) {
    static constexpr std::string_view keys[] = {"from", "as"};
    const MapFields fields(value, keys);
    Fork what;
    what.from = rules_.find(fields.required("from", "the sequence to copy"));
    what.as = rules_.fork(what.from, fields.required("as", "the name of the copy"));
    event.what = what;
  }

  void read_switch(NodeRef value, Event& event) {
    const SequenceId sequence = rules_.find(value);
    rules_.make_current(sequence);
    event.what = Switch{sequence};
  }

  void read_mark(NodeRef value, Event& event) { event.what = Mark{rules_.set_mark(value)}; }

  void read_wait(NodeRef value, Event& event) { event.what = Wait{read_number(value, 0)}; }

  void read_end(NodeRef value, Event& event) {
    const SequenceId sequence = rules_.find(value);
    rules_.end(sequence);
    event.what = End{sequence};
  }

  void read_call(NodeRef value, Event& event) {
    static constexpr std::string_view keys[] = {"keep", "feed", "logits"};
    const MapFields fields(value, keys);
    Call what;
    what.keep = read_length(fields.required("keep", "the number of tokens kept"), rules_.length(value), "cannot keep ");
    what.feed = tokens_.read(fields.required("feed", "the tokens added, \"\" for none"), true);
    if (const auto logits = fields.optional("logits")) what.all_logits = read_logits(*logits);
    rules_.shorten(what.keep);
    rules_.grow(num_tokens(what.feed), value);
    rules_.evaluate(value);
    event.what = std::move(what);
  }

  TokenReader tokens_;
  LedgerRules rules_;
};

}  // namespace

void read_events(NodeRef events, Workload& workload) {
  const std::vector<NodeRef> items = items_of(events, "events");
  if (items.empty()) throw events.fault("no events: expected at least one");
  if (items.size() > max_events) {
    throw items[max_events].fault("more than " + std::to_string(max_events) + " events");
  }
  EventReader reader(workload);
  workload.events.reserve(items.size());
  for (const NodeRef item : items) workload.events.push_back(reader.read(item));
}

}  // namespace kvreplay::workloads
