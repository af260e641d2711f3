/**
 * Is the watcher live, and is it ready? From its signs of life (vitals.ts) and its status.
 *
 *   ready   the streams are alive and the queue accepts; or it stands by for a replica of its own, and reads the Lease
 *   live    nothing is wrong that a new process could mend: no request that never returns, no loop that stopped
 *
 * A restart costs a new epoch, four lists and a snapshot, so every bound is several times what its own time-outs allow.
 */
import { WATCHED_KINDS, type WatchedKind } from '../../core/model/projections.ts';
import type { StreamVitals, VitalSigns } from './vitals.ts';
import type { WatcherStatus } from '../session/watcher.ts';

/** Faults, in words; empty: none. */
export interface Health {
  /** Faults that a restart could mend. */
  readonly notLive: readonly string[];
  /** Why it does not do its work at present. */
  readonly notReady: readonly string[];
}

/** Own time-out of a send: 10 s. */
const SEND_STUCK_MS = 2 * 60_000;
/** Own bounds: silence 150 s, back-off 30 s; between epochs 10 min. */
const LOOP_STUCK_MS = 15 * 60_000;
/** A bookmark comes about once a minute, and own bounds open a silent stream again after 150 s. */
const STREAM_SILENT_MS = 5 * 60_000;
/** A stream is renewed every four to eight minutes in any case. */
const STREAM_DEAD_MS = 15 * 60_000;
/** Renewed, or looked at, every few seconds. */
const LEASE_FRESH_MS = 60_000;
/** A few failed sends are everyday. */
const SENDS_FAIL_MS = 30_000;

/** Judges; `nowMs` is monotonic. */
export function judgeHealth(
  { signs, status }: { readonly signs: VitalSigns; readonly status: WatcherStatus },
  nowMs: number,
): Health {
  return { notLive: notLive(signs, status, nowMs), notReady: notReady(signs, status, nowMs) };
}

function notLive(signs: VitalSigns, status: WatcherStatus, nowMs: number): readonly string[] {
  const problems: string[] = [];
  const sending = age(signs.sendingMs, nowMs);
  if (sending > SEND_STUCK_MS) problems.push(`a send has been in flight for ${seconds(sending)}`);
  const requested = age(signs.requestedMs, nowMs);
  if (requested > LOOP_STUCK_MS)
    problems.push(`no request for the Lease for ${seconds(requested)}`);
  for (const kind of areStreamsWanted(status) ? WATCHED_KINDS : []) {
    const problem = deadStream({ kind, signs, nowMs });
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
}

/** A stream that stopped, or that is silent though the API server answers other requests. */
function deadStream(about: {
  readonly kind: WatchedKind;
  readonly signs: VitalSigns;
  readonly nowMs: number;
}): string | undefined {
  const { kind, signs, nowMs } = about;
  const stream = signs.streams[kind];
  const inactive = streamAge(stream?.activeMs, signs, nowMs);
  if (inactive > LOOP_STUCK_MS) return `${kind}: nothing was tried for ${seconds(inactive)}`;
  const silent = streamAge(stream?.heardMs, signs, nowMs);
  // After an outage the Lease is answered first: streams have as long again.
  const isServerThere =
    age(signs.leaseMs, nowMs) <= LEASE_FRESH_MS && age(signs.answeringMs, nowMs) > STREAM_DEAD_MS;
  // The server would refuse a new process, too.
  const isTold = stream?.failure !== undefined && stream.failure.kind !== 'unavailable';
  if (silent <= STREAM_DEAD_MS || !isServerThere || isTold) return undefined;
  return `${kind}: silent for ${seconds(silent)} though the API server answers`;
}

function notReady(signs: VitalSigns, status: WatcherStatus, nowMs: number): readonly string[] {
  const problems: string[] = [];
  const { leaseMs, leaseFailure } = signs;
  if (status.state === 'stopped') problems.push('stopped');
  if (leaseMs === undefined || age(leaseMs, nowMs) > LEASE_FRESH_MS) {
    problems.push(`the Lease cannot be read or written${becauseOf(leaseFailure?.message)}`);
  }
  if (status.state === 'standby') return [...problems, ...heldElsewhere(status)];
  if (!isSynced(status)) {
    problems.push(`not yet watching: ${status.session?.phase ?? status.state}`);
  }
  return [...problems, ...failingSends(signs, nowMs), ...silentStreams(signs, status, nowMs)];
}

/** No watcher serves this stack then; a replica on standby for its own has one that does. */
function heldElsewhere({ heldElsewhere: facts }: WatcherStatus): readonly string[] {
  if (facts === undefined) return [];
  const since = facts.acquiredAt === undefined ? '' : ` since ${facts.acquiredAt}`;
  return [
    `stands by: the installation ${facts.installation ?? ''} holds the Lease${since} (${facts.holder ?? ''})`,
  ];
}

function failingSends({ refusedSends }: VitalSigns, nowMs: number): readonly string[] {
  if (refusedSends === undefined) return [];
  const { sinceMs, outcome } = refusedSends;
  if (nowMs - sinceMs <= SENDS_FAIL_MS) return [];
  const why = outcome.kind === 'accepted' ? undefined : outcome.message;
  return [`no send has succeeded for ${seconds(nowMs - sinceMs)}${becauseOf(why)}`];
}

function silentStreams(signs: VitalSigns, status: WatcherStatus, nowMs: number): readonly string[] {
  if (!areStreamsWanted(status)) return [];
  return WATCHED_KINDS.flatMap((kind) => {
    const stream = signs.streams[kind];
    const silent = streamAge(stream?.heardMs, signs, nowMs);
    if (silent <= STREAM_SILENT_MS) return [];
    return [`${kind}: silent for ${seconds(silent)}${becauseOf(stream?.failure?.message)}`];
  });
}

/** Every kind was listed; a later snapshot changes nothing of that. */
function isSynced({ session }: WatcherStatus): boolean {
  return session?.phase === 'snapshot' || session?.phase === 'steady';
}

/** They begin when the queue has accepted the announcement of the epoch. */
function areStreamsWanted(status: WatcherStatus): boolean {
  const phase = status.session?.phase;
  return status.state === 'running' && phase !== undefined && phase !== 'announcing';
}

/** Facts from before the announcement belong to another epoch, or to a time when this one stood by. */
function streamAge(
  atMs: StreamVitals['heardMs'],
  { announcedMs, startedMs }: VitalSigns,
  nowMs: number,
): number {
  return nowMs - Math.max(atMs ?? startedMs, announcedMs ?? startedMs);
}

function age(atMs: number | undefined, nowMs: number): number {
  return atMs === undefined ? 0 : nowMs - atMs;
}

function seconds(durationMs: number): string {
  return `${String(Math.round(durationMs / 1000))} s`;
}

function becauseOf(message: string | undefined): string {
  return message === undefined ? '' : `: ${message}`;
}
