// Which messages of a batch are done, given what the function answered.
//
// Lambda's rules. Without ReportBatchItemFailures every answer means that all are done. With it: no answer, null, an
// absent, null or empty list mean all; ids in the list failed and the others are done; a malformed list, an empty or
// null id, or an id that was not in the batch means that the whole batch failed. Order inside a group is the
// function's own duty: it must also report what it did not process.
import type { SQSRecord } from 'aws-lambda';

/** What an answer means: the records to delete, or why the whole batch failed. */
export type BatchOutcome =
  | { readonly kind: 'answered'; readonly done: readonly SQSRecord[] }
  | { readonly kind: 'malformed'; readonly reason: string };

/** Reads a function's answer to a batch. */
export function readBatchOutcome(
  answer: unknown,
  records: readonly SQSRecord[],
  reportsBatchItemFailures: boolean,
): BatchOutcome {
  if (!reportsBatchItemFailures || answer === undefined || answer === null) {
    return { kind: 'answered', done: records };
  }
  if (typeof answer !== 'object') return malformed(`the answer is a ${typeof answer}`);
  const { batchItemFailures: list } = answer as { batchItemFailures?: unknown };
  if (list === undefined || list === null) return { kind: 'answered', done: records };
  if (!Array.isArray(list)) return malformed('batchItemFailures is no list');
  return readFailureList(list, records);
}

function readFailureList(list: readonly unknown[], records: readonly SQSRecord[]): BatchOutcome {
  const known = new Set(records.map((record) => record.messageId));
  const failed = new Set<string>();
  for (const item of list) {
    const id = (item as { itemIdentifier?: unknown } | null)?.itemIdentifier;
    if (typeof id !== 'string' || id === '') return malformed('an itemIdentifier is missing');
    if (!known.has(id)) return malformed(`itemIdentifier ${id} is not in the batch`);
    failed.add(id);
  }
  return { kind: 'answered', done: records.filter((record) => !failed.has(record.messageId)) };
}

function malformed(reason: string): BatchOutcome {
  return { kind: 'malformed', reason };
}
