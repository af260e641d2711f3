/**
 * Another DaemonSet controller was seen: Rollcall stops in that cluster (design 5, faults row 58).
 *
 * It is noted beside the registration: a run under way stops at its next batch, and every later one is guarded. Then every key gets
 * a hint, so that each DaemonSet tells of it. Only entering takeover anew, with its probe, makes the note count for nothing (S1).
 */
import { hintFor } from '../../../core/model/hint.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { takeoverOf } from '../../../core/model/registration.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { formatKey, type DaemonSetKey } from '../../../core/model/identifiers.ts';
import type { StatusPause } from '../../../core/model/state.ts';
import { findStatusPause } from '../../../core/status/status-writers.ts';
import {
  SENTINEL_KEY,
  findSentinelEvidence,
  hasSentinelName,
  isSentinel,
} from '../../../core/may-act/takeover-sentinel.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';
import { namePages } from '../../clusters/read-registry.ts';
import type { StepDependencies } from '../process/dependencies.ts';
import type { StoredInputs } from '../read/stored-inputs.ts';
import type { RunContext } from '../run/context.ts';
import type { Over } from '../run/exit.ts';
import { NO_COUNTS } from '../run/result.ts';

/** It may quote a name that an API server chose; the note must stay a small item. */
const EVIDENCE_CHARACTERS_MAX = 1000;
/** An object as an API server just gave it, and when that was by its clock, if it said so. */
interface LiveAnswer {
  readonly object: KubernetesObject;
  readonly answeredAtMs?: number;
}

interface SeenIn {
  readonly context: Pick<RunContext, 'hint' | 'note' | 'dependencies'>;
  readonly input: { readonly stored: Pick<StoredInputs, 'registration' | 'state'> };
  readonly access: Pick<ClusterReader, 'getDaemonSet'>;
}

/**
 * Finds another writer of the status of a DaemonSet that an API server just gave us. That pauses it alone, since a client that
 * may patch it can write as much into its managedFields; and the sentinel is looked at live, which tells whether another
 * controller is at work. Without a Date in the answer, our own clock says what is ahead: the worst is that the pause
 * of this one DaemonSet begins late or does not. Answers the pause.
 */
export async function noteForeignStatusWrite(
  { object, answeredAtMs }: LiveAnswer,
  step: SeenIn,
): Promise<StatusPause | undefined> {
  const { context, input } = step;
  const { registration } = input.stored;
  // In copilot the built-in controller writes each status, as it should.
  if (registration.mode !== 'takeover') return undefined;
  const { clock, log, metrics } = context.dependencies;
  const nowMs = clock.nowMs();
  const times = { sinceMs: registration.sentinel?.createdAtMs, nowMs };
  const paused = findStatusPause(object, { ...times, answeredAtMs: answeredAtMs ?? nowMs });
  if (paused === undefined) return undefined;
  const isKnown = (context.note.paused ?? input.stored.state?.paused)?.atMs === paused.atMs;
  context.note.paused = paused;
  if (isKnown) return paused;
  metrics.count('ConflictSuspected');
  log.warn('another manager wrote the status of a DaemonSet; nothing is done for it for a while', {
    key: formatKey(context.hint.key),
    code: 'conflict-suspected',
    detail: paused.manager,
  });
  await lookAtSentinelLive(step);
  return paused;
}

/** Where it cannot be read, the watcher reports what becomes of it, and the next such write has it looked at again. */
async function lookAtSentinelLive({ context, input, access }: SeenIn): Promise<void> {
  const { registration } = input.stored;
  const live = await access.getDaemonSet(SENTINEL_KEY);
  if (live.kind === 'found') await noteRival(live.object, registration, context.dependencies);
}

/** Notes a rival, once per takeover. Rejects when the registry or the queue fails: the hint is then redelivered. */
async function noteRival(
  sentinel: DaemonSetObject,
  seenUnder: ClusterRegistration,
  dependencies: StepDependencies,
): Promise<void> {
  const found = findSentinelEvidence(sentinel, seenUnder.sentinel);
  if (found === undefined) return;
  const { registry, clock, log, metrics } = dependencies;
  const evidence = found.slice(0, EVIDENCE_CHARACTERS_MAX);
  const now = await registry.readCluster(seenUnder.id);
  // Evidence of a takeover that was left, or entered anew, meanwhile says nothing.
  if (now === undefined || takeoverOf(now) !== takeoverOf(seenUnder)) return;
  if ((await registry.noteRival(now, { seenAtMs: clock.nowMs(), evidence })) === 'standing') return;
  metrics.count('ConflictingControllers', { outcome: 'sentinel' });
  log.error('another DaemonSet controller is at work; Rollcall has stopped in this cluster', {
    cluster: seenUnder.id,
    code: 'conflicting-controller',
    detail: evidence,
  });
  await hintEveryKey(now, dependencies);
}

async function hintEveryKey(
  registration: ClusterRegistration,
  { view, queue, random }: StepDependencies,
): Promise<void> {
  const prefix = `rival/${random.uniqueId()}`;
  for await (const names of namePages(view, registration.clusterUid)) {
    const hints = names.map((name) => hintFor(registration, name, 'changed'));
    if (hints.length > 0) await queue.sendHints(hints, prefix);
  }
}

/** True if the run is about a sentinel; one that travelled opaque is known by its name alone. */
export function isAboutSentinel({ object }: StoredInputs['daemonSet'], key: DaemonSetKey): boolean {
  return hasSentinelName(key) && (object === null || isSentinel(object));
}

/**
 * A hint for the sentinel: the only thing that a run ever does with it is to look whether a controller synced it, which
 * stops the cluster. No status, no state, no request to the cluster.
 */
export async function lookAtSentinel(
  { registration, daemonSet }: Pick<StoredInputs, 'registration' | 'daemonSet'>,
  dependencies: StepDependencies,
): Promise<Over> {
  if (registration.mode === 'takeover' && daemonSet.object !== null) {
    await noteRival(daemonSet.object, registration, dependencies);
  }
  const result = { kind: 'observed', code: 'sentinel', counts: NO_COUNTS } as const;
  return { kind: 'over', result };
}
