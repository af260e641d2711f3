/**
 * Whether every key is left alone once the world is quiet (L5), counted from outside: runs by the engine's log, requests
 * by the audit log, timers by the delay queue.
 *
 * The limits are those of the simulation (test/support/simulation/stability-audit.ts), though its stretch is ten minutes
 * and this one half a minute: what was disturbed until just now may have late timers. A chain of looks, one a second,
 * passes them all the same. The engine must log with `debug`: each run then leaves a line.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { unrestOf } from '../../support/simulation/stability-audit.ts';
import { readAuditRecords, type AuditRecord } from '../control-plane/audit.ts';
import { userNameOf } from '../control-plane/identities.ts';

/** What is counted, and since when, in milliseconds since the epoch. */
export interface QuietStretch {
  readonly sinceMs: number;
  readonly engineLogPath: string;
  readonly auditLogPath: string;
  /** In the delay queue at the end of it. */
  readonly timers: number;
}

export interface LoggedRun {
  readonly atMs: number;
  /** A cluster and a DaemonSet. */
  readonly key: string;
  readonly reason: string;
  readonly outcome: string;
}

/** One of a watcher that has just begun, and what is left of the one before. */
const SNAPSHOTS_MAX = 3;

/** Requests that are for no DaemonSet alone. */
const WHOLE_CLUSTER = 'the whole cluster';

/** What was too much in words; empty if L5 held. */
export async function findUnrest(stretch: QuietStretch): Promise<readonly string[]> {
  const { sinceMs, engineLogPath, auditLogPath, timers } = stretch;
  const runs = await readRuns(engineLogPath);
  const requests = await readAuditRecords(auditLogPath, {
    user: userNameOf('functions'),
    sinceMs,
  });
  const quietRuns = runs.filter(({ atMs }) => atMs >= sinceMs);
  // A snapshot makes every key look: that is a heartbeat, of which a few may come.
  const snapshots = quietRuns.filter(({ reason }) => reason === 'snapshot');
  const looks = quietRuns.filter(({ reason }) => reason !== 'snapshot');
  const counts = {
    runs: countsOf(looks.map(({ key }) => key)),
    requests: countsOf(requests.map(subjectOf)),
  };
  return [
    ...unrestOf(counts, { timers, keys: new Set(runs.map(({ key }) => key)).size }),
    ...[...countsOf(snapshots.map(({ key }) => key))]
      .filter(([, count]) => count > SNAPSHOTS_MAX)
      .map(([key, count]) => `${String(count)} snapshots made ${key} look`),
  ];
}

/** Each run of `reconcile` that the log tells of; a line that is half written is left out. */
export async function readRuns(engineLogPath: string): Promise<readonly LoggedRun[]> {
  const runs: LoggedRun[] = [];
  for await (const text of createInterface({ input: createReadStream(engineLogPath) })) {
    if (!text.startsWith('{') || !text.endsWith('}')) continue;
    const line = JSON.parse(text) as Partial<Record<string, string>>;
    const { message, time = '', key = '', reason = '', outcome = '' } = line;
    if (message === 'reconcile') runs.push({ atMs: Date.parse(time), key, reason, outcome });
  }
  return runs;
}

/** For which DaemonSet a request is, as far as it says. */
function subjectOf({ resource, namespace, name, requestUri }: AuditRecord): string {
  if (resource !== 'daemonsets') return WHOLE_CLUSTER;
  const selected = /fieldSelector=metadata\.name(?:%3D|=)([^&]+)/.exec(requestUri)?.[1];
  const found = selected ?? name;
  return found === '' ? WHOLE_CLUSTER : `${namespace}/${found}`;
}

function countsOf(subjects: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const subject of subjects) counts.set(subject, (counts.get(subject) ?? 0) + 1);
  return counts;
}
