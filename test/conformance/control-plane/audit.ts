/**
 * Reads the API server's audit log: who asked for what, with which answer.
 *
 * A record is written when its request is complete: a watch appears at its end. The API server
 * writes each record before it answers (blocking mode), so that a client which has its answer
 * finds its request here; a half-written last line is left for the next reading.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** One completed request. */
export interface AuditRecord {
  readonly user: string;
  readonly userAgent: string;
  readonly verb: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly code: number;
  readonly requestUri: string;
  /** Of a deletion of a pod: which object, and which version of it, was meant. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  /** When the request arrived, in milliseconds since the epoch, with fractions. */
  readonly receivedAtMs: number;
  readonly completedAtMs: number;
}

/** Fields that must be equal, and tests that must hold, for a record to count. */
export type AuditFilter = Partial<Omit<AuditRecord, 'receivedAtMs' | 'completedAtMs'>> & {
  readonly sinceMs?: number;
  readonly where?: (record: AuditRecord) => boolean;
};

interface AuditLine {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username?: string };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestObject?: { readonly preconditions?: AuditRecord['preconditions'] };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** Reads the records that match, in the order in which they were written. */
export async function readAuditRecords(
  path: string,
  filter: AuditFilter = {},
): Promise<AuditRecord[]> {
  const records: AuditRecord[] = [];
  for await (const line of createInterface({
    input: createReadStream(path),
    crlfDelay: Infinity,
  })) {
    if (!line.endsWith('}')) continue;
    const record = parseAuditLine(line);
    if (matchesAuditFilter(record, filter)) records.push(record);
  }
  return records;
}

/** Counts the records that match. */
export async function countAuditRecords(path: string, filter: AuditFilter = {}): Promise<number> {
  const records = await readAuditRecords(path, filter);
  return records.length;
}

/** Counts records by any key, e.g. `(record) => record.verb`. */
export function countBy(
  records: Iterable<AuditRecord>,
  keyOf: (record: AuditRecord) => string,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const record of records) {
    const key = keyOf(record);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** Whether a record counts. */
export function matchesAuditFilter(record: AuditRecord, filter: AuditFilter): boolean {
  const { sinceMs, where, ...equal } = filter;
  if (sinceMs !== undefined && record.receivedAtMs < sinceMs) return false;
  for (const [field, wanted] of Object.entries(equal)) {
    if (record[field as keyof AuditRecord] !== wanted) return false;
  }
  return where?.(record) ?? true;
}

function parseAuditLine(text: string): AuditRecord {
  const line = JSON.parse(text) as AuditLine;
  const preconditions = line.requestObject?.preconditions;
  return {
    ...(preconditions === undefined ? {} : { preconditions }),
    ...readTarget(line.objectRef ?? {}),
    user: line.user.username ?? '',
    userAgent: line.userAgent ?? '',
    verb: line.verb,
    code: line.responseStatus?.code ?? 0,
    requestUri: line.requestURI,
    receivedAtMs: parseTimestamp(line.requestReceivedTimestamp),
    completedAtMs: parseTimestamp(line.stageTimestamp),
  };
}

function readTarget(
  target: NonNullable<AuditLine['objectRef']>,
): Pick<AuditRecord, 'resource' | 'subresource' | 'namespace' | 'name'> {
  return {
    resource: target.resource ?? '',
    subresource: target.subresource ?? '',
    namespace: target.namespace ?? '',
    name: target.name ?? '',
  };
}

/** The log has microseconds; Date keeps milliseconds only. */
function parseTimestamp(text: string): number {
  const microseconds = /\.\d{3}(\d{1,3})Z$/.exec(text)?.[1] ?? '0';
  return Date.parse(text) + Number(`0.${microseconds}`);
}
