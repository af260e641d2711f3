/**
 * Another DaemonSet controller was seen: Rollcall stops in that cluster (design 5, faults row 58).
 *
 * It is noted beside the registration: a run under way stops at its next batch, and every later one is guarded. Then every key gets
 * a hint, so that each DaemonSet tells of it. Only entering takeover anew, with its probe, makes the note count for nothing (S1).
 */
import { hintFor } from '../../../core/model/hint.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { takeoverOf } from '../../../core/model/registration.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { formatKey } from '../../../core/model/identifiers.ts';
import type { StatusPause } from '../../../core/model/state.ts';
import { findStatusPause } from '../../../core/status/status-writers.ts';
import { SENTINEL_KEY, findSentinelEvidence } from '../../../core/may-act/takeover-sentinel.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';
import { namePages } from '../../clusters/read-registry.ts';
import type { RunContext, LoadedInput } from '../run/context.ts';

export interface RivalSighting {
  readonly evidence: string;
  readonly seenUnder: ClusterRegistration;
}

/** It may quote a name that an API server chose; the note must stay a small item. */
const EVIDENCE_CHARACTERS_MAX = 1000;
/** An object as an API server just gave it, and when that was by its clock, if it said so. */
interface LiveAnswer {
  readonly object: KubernetesObject;
  readonly answeredAtMs?: number;
}

interface SeenIn {
  readonly context: RunContext;
  readonly input: Pick<LoadedInput, 'stored'>;
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
  run: SeenIn,
): Promise<StatusPause | undefined> {
  const { context, input } = run;
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
  await lookAtSentinelLive(run);
  return paused;
}

/** Where it cannot be read, the watcher reports what becomes of it, and the next such write has it looked at again. */
async function lookAtSentinelLive({ context, input, access }: SeenIn): Promise<void> {
  const { registration } = input.stored;
  const live = await access.getDaemonSet(SENTINEL_KEY);
  if (live.kind !== 'found') return;
  const evidence = findSentinelEvidence(live.object, registration.sentinel);
  if (evidence !== undefined) await noteRival({ evidence, seenUnder: registration }, context);
}

/**
 * Notes it, once per takeover. Rejects when the registry or the queue fails: the hint is then redelivered. Answers
 * whether this call wrote the note.
 */
export async function noteRival(sighting: RivalSighting, context: RunContext): Promise<boolean> {
  const { registry, clock, log, metrics } = context.dependencies;
  const { seenUnder } = sighting;
  const evidence = sighting.evidence.slice(0, EVIDENCE_CHARACTERS_MAX);
  const now = await registry.readCluster(seenUnder.id);
  // Evidence of a takeover that was left, or entered anew, meanwhile says nothing.
  if (now === undefined || takeoverOf(now) !== takeoverOf(seenUnder)) return false;
  if ((await registry.noteRival(now, { seenAtMs: clock.nowMs(), evidence })) === 'standing') {
    return false;
  }
  metrics.count('ConflictingControllers', { outcome: 'sentinel' });
  log.error('another DaemonSet controller is at work; Rollcall has stopped in this cluster', {
    cluster: seenUnder.id,
    code: 'conflicting-controller',
    detail: evidence,
  });
  await hintEveryKey(now, context);
  return true;
}

async function hintEveryKey(registration: ClusterRegistration, context: RunContext): Promise<void> {
  const { view, queue, random } = context.dependencies;
  const prefix = `rival/${random.uniqueId()}`;
  for await (const names of namePages(view, registration.clusterUid)) {
    const hints = names.map((name) => hintFor(registration, name, 'changed'));
    if (hints.length > 0) await queue.sendHints(hints, prefix);
  }
}
