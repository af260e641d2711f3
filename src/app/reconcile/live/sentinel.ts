/**
 * Does the sentinel of the registered takeover still stand? Only then does anybody act in takeover (ADR 0033).
 *
 * A hand-back ends with the sentinel's deletion, and each takeover leaves one of its own: a registration that says
 * takeover beside a cluster without its sentinel is older than the hand-back (a registry that was restored), or somebody
 * deleted it. The view knows it by its UID; where it does not show it, or nothing was heard lately, a live read decides.
 * A registration that names none is believed until the next probe: takeover is never entered without one.
 */
import {
  SENTINEL_KEY,
  findSentinelEvidence,
  hasSentinelName,
  isSentinel,
} from '../../../core/takeover/takeover-sentinel.ts';
import type { Guard } from '../../../core/model/plan.ts';
import { freshnessOf } from './guard.ts';
import type { Judgement } from './guard.ts';
import type { RunContext, Subject } from '../run/context.ts';
import type { Basis } from '../read/read-basis.ts';
import type { Exit } from '../run/exit.ts';
import { noteRival } from './rival.ts';
import { NO_COUNTS } from '../run/result.ts';

/** A judgement as it stands once the sentinel was looked for: who would not act anyway need not look. */
export async function heedSentinel(
  judgement: Judgement,
  subject: Subject,
  context: RunContext,
): Promise<Judgement> {
  if (judgement.kind !== 'judged' || judgement.guard.kind === 'observe') return judgement;
  const { registration, sentinel: shown } = subject.basis;
  const { mode, sentinel } = registration;
  if (mode !== 'takeover' || sentinel === undefined) return judgement;
  const { log, metrics } = context.dependencies;
  const isHeard = freshnessOf(subject, context, { unseenCount: 0, hasWork: true }).kind === 'fresh';
  if (isHeard && shown !== undefined && shown.object !== null) return judgement;
  const access = await subject.access.get();
  if (access === undefined) return { kind: 'unavailable', message: 'no access' };
  const live = await access.getDaemonSet(SENTINEL_KEY);
  if (live.kind === 'unavailable') return { kind: 'unavailable', message: live.message };
  if (live.kind === 'found' && live.object.metadata.uid === sentinel.uid) return judgement;
  metrics.count('RivalControllers', { outcome: 'sentinel-missing' });
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
    'The sentinel of this takeover is gone: the cluster may have been handed back, or somebody deleted it. ' +
    'Nothing is done here until takeover is entered anew.',
};

/** True if the run is about a sentinel; one that travelled opaque is known by its name alone. */
export function isAboutSentinel({ daemonSet }: Basis, { hint }: RunContext): boolean {
  if (!hasSentinelName(hint.key)) return false;
  return daemonSet.object === null || isSentinel(daemonSet.object);
}

/**
 * A hint for the sentinel: the only thing that a run ever does with it is to look whether somebody synced it, which
 * stops the cluster. No status, no state, no request to the cluster.
 */
export async function lookAtSentinel(basis: Basis, context: RunContext): Promise<Exit> {
  const { registration, daemonSet } = basis;
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
