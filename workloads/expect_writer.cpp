#include "workloads/expect_writer.hpp"

#include "workloads/expansion.hpp"
#include "workloads/fields.hpp"
#include "workloads/read_parts.hpp"
#include "workloads/text_edits.hpp"

#include <utility>
#include <vector>

namespace kvreplay::workloads {
namespace {

using yaml::NodeRef;

// A key with its value as text; `children` instead of a value for maps.
struct NewEntry {
  std::string key;
  std::string value;
  std::vector<NewEntry> children;
};

std::string flow_text(const std::vector<NewEntry>& entries) {
  std::string text;
  for (const NewEntry& entry : entries) {
    text += (text.empty() ? "" : ", ") + entry.key + ": ";
    text += entry.children.empty() ? entry.value : "{" + flow_text(entry.children) + "}";
  }
  return text;
}

std::string block_text(const std::vector<NewEntry>& entries, const std::string& indent, const std::string& line_end) {
  constexpr std::size_t most_on_a_line = 20;
  std::string text;
  for (const NewEntry& entry : entries) {
    text += indent;
    if (entry.children.size() > most_on_a_line) {
      text += entry.key + ":" + line_end;
      text += block_text(entry.children, indent + "  ", line_end);
    } else {
      text += flow_text({entry}) + line_end;
    }
  }
  return text;
}

class ExpectEditor {
 public:
  ExpectEditor(std::string_view original, const ReadParts& parts) : parts_(parts), edits_(original, *parts.document) {
    const FactsWanted wanted{true, !parts.workload.expect.ledger_crc32.empty()};
    facts_ = facts_of(parts.workload, wanted);
  }

  std::string edited() {
    const std::vector<NewEntry> wanted = all_entries();
    if (!parts_.expect) {
      append_block(wanted);
    } else {
      update(*parts_.expect, wanted);
      update_checksums();
    }
    return edits_.applied();
  }

 private:
  std::vector<NewEntry> all_entries() const {
    const auto number = [](std::string key, Count value) {
      return NewEntry{std::move(key), std::to_string(value), {}};
    };
    NewEntry lengths{"final", "{}", {}};
    for (const std::string& name : parts_.workload.sequence_names) {
      lengths.children.push_back(number(name, facts_.final_length.at(name)));
    }
    return {number("evals", facts_.evaluations),
            number("sampled", facts_.sampled),
            number("appended", facts_.appended),
            number("rewinds", facts_.rewinds),
            number("rewound", facts_.rewound),
            number("drafted", facts_.drafted),
            number("accepted", facts_.accepted),
            number("forks", facts_.forks),
            lengths,
            number("max_length", facts_.max_length),
            number("min_fed", facts_.tokens_floor_single),
            number("min_fed_unlimited", facts_.tokens_floor_multi),
            number("max_fed", facts_.tokens_requested)};
  }

  // Brings the entries of a map up to date and puts the missing ones first.
  void update(NodeRef map, const std::vector<NewEntry>& wanted) {
    std::vector<NewEntry> missing;
    const std::vector<Entry> present = entries_of(map, "numbers");
    for (const NewEntry& entry : wanted) {
      const Entry* found = nullptr;
      for (const Entry& candidate : present) {
        if (candidate.key.text() == entry.key) found = &candidate;
      }
      if (!found) {
        missing.push_back(entry);
      } else if (!entry.children.empty()) {
        update(found->value, entry.children);
      } else if (found->value.is_scalar()) {
        update_number(found->value, entry.value);
      }
    }
    insert(map, missing);
  }

  void update_checksums() {
    for (const Entry& key : entries_of(*parts_.expect, "numbers")) {
      if (key.key.text() != "ledger_crc32") continue;
      for (const Entry& entry : entries_of(key.value, "sequences")) {
        update_number(entry.value, std::to_string(facts_.ledger_crc32.at(std::string(entry.key.text()))));
      }
    }
  }

  void update_number(NodeRef node, const std::string& value) {
    if (std::to_string(read_count(node, 0)) != value) edits_.replace_scalar(node, value);
  }

  void insert(NodeRef map, const std::vector<NewEntry>& entries) {
    if (entries.empty()) return;
    if (edits_.is_flow(map)) {
      edits_.insert_after(map.offset() + 1, flow_text(entries) + (map.has_children() ? ", " : ""));
    } else {
      const std::string indent(static_cast<std::size_t>(map.mark().column - 1), ' ');
      edits_.insert_line_before(map.first_child(), block_text(entries, indent, edits_.line_end()));
    }
  }

  void append_block(const std::vector<NewEntry>& entries) {
    const NodeRef root(*parts_.document, 0);
    if (edits_.is_flow(root)) throw root.fault("the file is in flow style ({...}); expect cannot be added to it");
    const std::string indent(static_cast<std::size_t>(root.mark().column - 1), ' ');
    edits_.append(indent + "expect:" + edits_.line_end() + block_text(entries, indent + "  ", edits_.line_end()));
  }

  const ReadParts& parts_;
  TextEdits edits_;
  Facts facts_;
};

}  // namespace

std::string text_with_expect(std::string_view text, const std::string& path, const ModelVocab& model_vocab) {
  const ReadParts parts = read_parts(text, path, model_vocab);
  std::string edited = ExpectEditor(text, parts).edited();
  try {
    read_workload_text(edited, path, model_vocab);
  } catch (const InputError& error) {
    // Layouts the edits do not know, such as text behind an end marker: better refused than spoilt.
    throw InputError(path, parts.expect ? parts.expect->mark() : SourceMark{}, "expect",
                     std::string("cannot be written in this layout; the result would read: ") + error.what());
  }
  return edited;
}

}  // namespace kvreplay::workloads
