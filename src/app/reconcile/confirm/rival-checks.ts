/**
 * Does the sentinel of the registered takeover still stand? Only then does a run act in takeover (ADR 0012).
 *
 * A hand-back ends with the sentinel's deletion, and each takeover leaves one of its own: a registration that says
 * takeover beside a cluster without its sentinel is older than the hand-back (a registry that was restored), or a user
 * deleted it. The view knows it by its UID; where it does not show it, or nothing was heard lately, a live read decides.
 * A registration that names none is believed until the next probe: takeover is never entered without one.
 */
import {
  SENTINEL_KEY,
  findSentinelEvidence,
  hasSentinelName,
  isSentinel,
} from '../../../core/may-act/takeover-sentinel.ts';
import type { Guard } from '../../../core/model/plan.ts';
import { freshnessOf } from './guard.ts';
import type { Judgement } from './guard.ts';
import type { RunContext, LoadedInput } from '../run/context.ts';
import type { StoredInputs } from '../read/stored-inputs.ts';
import type { Exit } from '../run/exit.ts';
import { noteRival } from './rival.ts';
import { NO_COUNTS } from '../run/result.ts';
import { guardOfPause } from '../../../core/status/status-writers.ts';
import { confirmDaemonSet } from './live-daemon-set.ts';

/** A judgement as it stands once the sentinel was looked for: who would not act anyway need not look. */
export async function checkSentinel(
  judgement: Judgement,
  input: LoadedInput,
  context: RunContext,
): Promise<Judgement> {
  if (judgement.kind !== 'judged' || judgement.guard.kind === 'observe') return judgement;
  const { registration, sentinel: shown } = input.stored;
  const { mode, sentinel } = registration;
  if (mode !== 'takeover' || sentinel === undefined) return judgement;
  const { log, metrics } = context.dependencies;
  const isHeard = freshnessOf(input, context, { unseenCount: 0, hasWork: true }).kind === 'fresh';
  if (isHeard && shown !== undefined && shown.object !== null) return judgement;
  const access = await input.access.get();
  if (access === undefined) return { kind: 'unavailable', message: 'no access' };
  const live = await access.getDaemonSet(SENTINEL_KEY);
  if (live.kind === 'unavailable') return { kind: 'unavailable', message: live.message };
  if (live.kind === 'found' && live.object.metadata.uid === sentinel.uid) return judgement;
  metrics.count('ConflictingControllers', { outcome: 'sentinel-missing' });
  log.error('the sentinel of the takeover is gone; nothing is done in this cluster', {
    cluster: registration.id,
    code: 'sentinel-missing',
  });
  return { ...judgement, guard: SENTINEL_MISSING };
}

/** Why nothing is done in a cluster whose takeover lost its sentinel. */
export const SENTINEL_MISSING: Guard = {
  kind: 'observe',
  code: 'sentinel-missing',
  message:
    'The sentinel of this takeover is gone: the cluster may have been handed back, or the sentinel was deleted. ' +
    'Nothing is done here until takeover is entered anew.',
};

/** True if the run is about a sentinel; one that travelled opaque is known by its name alone. */
export function isAboutSentinel({ daemonSet }: StoredInputs, { hint }: RunContext): boolean {
  if (!hasSentinelName(hint.key)) return false;
  return daemonSet.object === null || isSentinel(daemonSet.object);
}

/**
 * A hint for the sentinel: the only thing that a run ever does with it is to look whether a controller synced it, which
 * stops the cluster. No status, no state, no request to the cluster.
 */
export async function lookAtSentinel(stored: StoredInputs, context: RunContext): Promise<Exit> {
  const { registration, daemonSet } = stored;
  const evidence =
    registration.mode === 'takeover' && daemonSet.object !== null
      ? findSentinelEvidence(daemonSet.object, registration.sentinel)
      : undefined;
  if (evidence !== undefined) {
    await noteRival({ evidence, seenUnder: registration }, context);
  }
  const result = { kind: 'observed', code: 'sentinel', counts: NO_COUNTS } as const;
  return { kind: 'over', result };
}

/** A judgement as it stands once the pause was looked at: who would not act anyway need not look. */
export async function checkPause(
  judgement: Judgement,
  input: LoadedInput,
  context: RunContext,
): Promise<Judgement> {
  const { stored, state, nowMs } = input;
  if (judgement.kind !== 'judged' || judgement.guard.kind !== 'act') return judgement;
  if (state.paused === undefined) return judgement;
  const held = guardOfPause(state.paused, stored.registration, nowMs);
  if (held !== undefined) return observed(judgement, held);
  const access = await input.access.get();
  if (access === undefined) return { kind: 'unavailable', message: 'no access' };
  const live = await confirmDaemonSet({ context, input, access });
  if (live.kind === 'unavailable') return { kind: 'unavailable', message: live.message };
  const again = guardOfPause(context.note.paused, stored.registration, nowMs);
  return again === undefined ? judgement : observed(judgement, again);
}

/** What waits for own writes to be seen would tell a status meanwhile: the counters are the other one's now. */
function observed(
  { waiting: _waiting, ...judgement }: Extract<Judgement, { kind: 'judged' }>,
  guard: Guard,
): Judgement {
  return { ...judgement, guard };
}
