// What all batch requests share: one to ten entries with distinct ids, each of which succeeds or fails by itself.
//
// A batch that breaks these rules is refused as a whole, with nothing done. An error that is not the sender's is
// not swallowed into an entry: it ends the request, and the server answers 500.
import { SqsError, sqsErrors } from '../queue/errors.ts';
import { readObject, readString, type Fields } from './request.ts';

/** How many entries a batch may have. */
const batchEntriesMax = 10;

/** The answer to a batch request. */
export interface BatchAnswer {
  readonly Successful: readonly object[];
  readonly Failed: readonly object[];
}

/** Reads the entries of a batch request. */
export function readBatchEntries(fields: Fields): readonly Fields[] {
  const { Entries: value } = fields;
  if (!Array.isArray(value) || value.length === 0) {
    throw sqsErrors.emptyBatchRequest('There should be at least one entry in the request.');
  }
  if (value.length > batchEntriesMax) {
    throw sqsErrors.tooManyEntries(
      `Maximum number of entries per request are ${batchEntriesMax}. You have sent ${value.length}.`,
    );
  }
  const entries = value.map((entry) => readObject(entry, 'Entries'));
  const ids = new Set<string>();
  for (const entry of entries) {
    const id = readString(entry, 'Id');
    if (!/^[A-Za-z0-9_-]{1,80}$/.test(id)) {
      throw sqsErrors.invalidBatchEntryId(
        'A batch entry id can only contain alphanumeric characters, hyphens and underscores.',
      );
    }
    if (ids.has(id)) throw sqsErrors.batchEntryIdsNotDistinct(`Id ${id} repeated.`);
    ids.add(id);
  }
  return entries;
}

/** Runs an operation for each entry; an error of the sender fails that entry alone. */
export function runBatch(
  entries: readonly Fields[],
  operation: (entry: Fields) => object | undefined,
): BatchAnswer {
  const successful: object[] = [];
  const failed: object[] = [];
  for (const entry of entries) {
    const id = entry['Id'];
    try {
      successful.push({ Id: id, ...operation(entry) });
    } catch (error) {
      if (!(error instanceof SqsError)) throw error;
      failed.push({ Id: id, SenderFault: true, Code: error.queryCode, Message: error.message });
    }
  }
  return { Successful: successful, Failed: failed };
}
