// The rules of the import formats; each is in the .cpp of its name.
#pragma once

namespace kvreplay::workloads::importers {

class TraceRows;
class WorkloadDraft;

void import_mooncake(TraceRows& rows, WorkloadDraft& draft);
void import_calls_jsonl(TraceRows& rows, WorkloadDraft& draft);
void import_lengths_csv(TraceRows& rows, WorkloadDraft& draft);
void import_accept_histogram(TraceRows& rows, WorkloadDraft& draft);
void import_session_csv(TraceRows& rows, WorkloadDraft& draft);
void import_weka(TraceRows& rows, WorkloadDraft& draft);

}  // namespace kvreplay::workloads::importers
