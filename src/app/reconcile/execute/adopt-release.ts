/**
 * Adopts orphans and releases pods whose labels moved away (spec 2.4); each patch carries the pod's UID.
 *
 * A gone pod is ignored, and with a release also one that changed hands. Anything else fails the claim once every pod was tried,
 * and nothing is done on top of it: the plan took an orphan for ours that another controller may have adopted.
 * Differs from upstream: where the admission policy is in force, a pod that was made by hand is not adopted (ADR 0063).
 */
import { counted } from '@rollcall/base/counted.ts';
import type { Outcome, PatchEffect } from '../../../core/model/effects.ts';
import type { Plan } from '../../../core/model/plan.ts';
import type { PodProjection } from '../../../core/model/projections.ts';
import { buildAdoptPatch, buildReleasePatch } from '../../../core/pod/owner.ts';
import { versionOf } from '../run/context.ts';
import { sendFenced, type NotedFence } from '../confirm/batch-fence.ts';
import { cameOf } from './came-of.ts';
import type { Problem } from '../run/result.ts';

/** Patches sent side by side. */
const PATCHES_AT_ONCE = 50;

/** The API server said no: the same patches wait for the back-off. */
const REFUSED = 'claim-refused';

/** Sends the patches of a plan and notes what came of them; false: nothing may be done on top of it. */
export async function executeClaims(
  plan: Pick<Plan, 'adopts' | 'releases'>,
  fence: NotedFence,
): Promise<boolean> {
  const { result } = fence;
  const { daemonSet } = fence.input;
  const effects = [
    ...plan.adopts.map((pod) => ({ pod, effect: buildAdoptPatch(daemonSet, pod) })),
    ...plan.releases.map((pod) => ({ pod, effect: buildReleasePatch(daemonSet, pod) })),
  ];
  const batches = { size: PATCHES_AT_ONCE };
  const { sent, stopped } = await sendFenced(effects, { ...fence, isStale: false }, batches);
  for (const item of effects.slice(sent.length)) {
    result.sent.push({ ...claimOf(item), came: 'unsent' });
  }
  const failures: Problem[] = [];
  let missed = 0;
  for (const { item, outcome } of sent) {
    result.sent.push({ ...claimOf(item), ...cameOf(outcome) });
    if (outcome.kind === 'done') {
      result.patched += 1;
      result.noteWritten('pods', versionOf(outcome));
    } else if (isIgnorable(item.effect, outcome)) missed += 1;
    else failures.push(failureOf(item.effect, outcome));
  }
  if (missed > 0) {
    const message = `${counted(missed, 'pod')} to be claimed had changed`;
    result.add({ code: 'outcome-open', message, pace: 'soon' });
  }
  if (stopped !== undefined) result.addStop(stopped);
  const failure = aggregate(failures);
  result.add(failure);
  return stopped === undefined && failure === undefined;
}

function claimOf({ pod, effect }: { readonly pod: PodProjection; readonly effect: PatchEffect }) {
  const name = pod.targetNode ?? pod.name;
  return { effect: effect.purpose === 'adopt' ? 'adopt' : 'release', name } as const;
}

/** One failure for all: what waits longest says how it goes on. */
function aggregate(failures: readonly Problem[]): Problem | undefined {
  const first = failures.find(({ pace }) => pace === 'backoff') ?? failures[0];
  if (first === undefined || failures.length === 1) return first;
  const message = `${failures.length} pods could not be claimed; the first: ${first.message}`;
  const code = failures.every((each) => each.code === REFUSED) ? REFUSED : 'outcome-open';
  return { ...first, code, message };
}

function isIgnorable({ purpose }: PatchEffect, outcome: Outcome): boolean {
  return outcome.kind === 'gone' || (purpose === 'release' && isRace(outcome));
}

/** Another UID under that name, or an owner reference that does not fit any more. */
function isRace(outcome: Outcome): boolean {
  if (outcome.kind === 'conflict') return true;
  return outcome.kind === 'refused' && outcome.code === 'invalid';
}

/** `soon`: another writer was faster, and the view is about to show it. */
function failureOf(effect: PatchEffect, outcome: Exclude<Outcome, { kind: 'done' }>): Problem {
  const detail = 'message' in outcome ? outcome.message : outcome.kind;
  const message = `pod ${effect.name} could not be patched (${effect.purpose}): ${detail}`;
  const pace = isRace(outcome) ? 'soon' : 'backoff';
  const code = outcome.kind === 'refused' && pace === 'backoff' ? REFUSED : 'outcome-open';
  return { code, message, pace };
}
