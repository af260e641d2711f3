/**
 * Adopts orphans and releases pods whose labels moved away (spec 2.4).
 *
 * Each patch carries the pod's UID. Adoption stands on one live read of the DaemonSet that the caller
 * made in this run. A gone pod is ignored, and with a release also one that changed hands; anything
 * else fails the claim as a whole once every pod was tried, and nothing is done on top of it: the plan
 * took an orphan for ours that another controller may have adopted meanwhile (422: a second controlling
 * owner).
 *
 * Differs from upstream: where the admission policy is in force, a pod that was made by hand is not adopted; the
 * API server refuses it (ADR 0035), and the claim fails like any other.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Outcome, PatchEffect } from '../../../core/model/effects.ts';
import { isResourceVersion, newerVersion } from '../../../core/model/identifiers.ts';
import type { ResourceVersion } from '../../../core/model/identifiers.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Plan } from '../../../core/model/plan.ts';
import { buildAdoptPatch, buildReleasePatch } from '../../../core/pod/owner.ts';
import { fenceBatch } from './batch-fence.ts';
import type { Fence, FenceAnswer } from './batch-fence.ts';
import { effectDeadlineMs } from '../run/context.ts';

/** Patches sent side by side. */
const PATCHES_AT_ONCE = 50;

/** What came of the claim. */
export interface ClaimExecution {
  readonly patched: number;
  /** Highest version that a patch returned: our own write (spec 2.3 step 1). */
  readonly written: ResourceVersion | undefined;
  /** Pods that were not there any more, or not the same: the view is behind. */
  readonly missed: number;
  /** A batch that was not started. */
  readonly stopped?: Extract<FenceAnswer, { kind: 'stop' }>;
  readonly failure?: ClaimFailure;
}

/** Why a claim failed; `soon`: another writer was faster, and the view is about to show it. */
export interface ClaimFailure {
  readonly message: string;
  readonly pace: 'soon' | 'backoff';
  readonly retryAfterMs?: number;
  /** True if the API server said no to each of them: the same patches wait for the back-off. */
  readonly isRefused: boolean;
}

/** Sends the patches of a plan. */
export async function executeClaims(
  plan: Pick<Plan, 'adopts' | 'releases'>,
  fence: Fence,
): Promise<ClaimExecution> {
  const { context, subject, access } = fence;
  const effects = [
    ...plan.adopts.map((pod) => buildAdoptPatch(subject.daemonSet, pod)),
    ...plan.releases.map((pod) => buildReleasePatch(subject.daemonSet, pod)),
  ];
  const failures: ClaimFailure[] = [];
  let patched = 0;
  let missed = 0;
  let written: ResourceVersion | undefined;
  const end = (): ClaimExecution => {
    return { patched, written, missed, ...defined({ failure: aggregate(failures) }) };
  };
  for (let start = 0; start < effects.length; start += PATCHES_AT_ONCE) {
    const first = { isFirst: start === 0, isCreating: false };
    const answer = await fenceBatch({ ...fence, isStale: false }, first);
    if (answer.kind === 'stop') return { ...end(), stopped: answer };
    const group = effects.slice(start, start + PATCHES_AT_ONCE);
    const outcomes = await access.execute(group, { deadlineMs: effectDeadlineMs(context) });
    for (const [index, effect] of group.entries()) {
      const outcome = outcomes[index] ?? { kind: 'ambiguous', message: 'no outcome' };
      if (outcome.kind === 'done') {
        patched += 1;
        written = newerVersion(written, versionOf(outcome));
      } else if (isIgnorable(effect, outcome)) {
        missed += 1;
      } else {
        failures.push(failureOf(effect, outcome));
      }
    }
  }
  return end();
}

/** One failure for all: what waits longest says how it goes on. */
function aggregate(failures: readonly ClaimFailure[]): ClaimFailure | undefined {
  const first = failures.find(({ pace }) => pace === 'backoff') ?? failures[0];
  if (first === undefined || failures.length === 1) return first;
  const message = `${failures.length} pods could not be claimed; the first: ${first.message}`;
  const asked = failures.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  const isRefused = failures.every((each) => each.isRefused);
  const longest = asked.length === 0 ? {} : { retryAfterMs: Math.max(...asked) };
  return { ...first, message, isRefused, ...longest };
}

function isIgnorable({ purpose }: PatchEffect, outcome: Outcome): boolean {
  return outcome.kind === 'gone' || (purpose === 'release' && isRace(outcome));
}

/** Another UID under that name, or an owner reference that does not fit any more. */
function isRace(outcome: Outcome): boolean {
  if (outcome.kind === 'conflict') return true;
  return outcome.kind === 'refused' && outcome.code === 'invalid';
}

function failureOf(effect: PatchEffect, outcome: Exclude<Outcome, { kind: 'done' }>): ClaimFailure {
  const detail = 'message' in outcome ? outcome.message : outcome.kind;
  const message = `pod ${effect.name} could not be patched (${effect.purpose}): ${detail}`;
  const pace = isRace(outcome) ? 'soon' : 'backoff';
  const retryAfterMs = outcome.kind === 'unsent' ? outcome.retryAfterMs : undefined;
  const isRefused = outcome.kind === 'refused' && pace === 'backoff';
  return { message, pace, isRefused, ...defined({ retryAfterMs }) };
}

/** The version that a write returned; undefined when it cannot be compared. */
export function versionOf(
  outcome: Extract<Outcome, { kind: 'done' }>,
): ResourceVersion | undefined {
  const { metadata } = outcome.object;
  const version = isJsonObject(metadata) ? metadata['resourceVersion'] : undefined;
  return isResourceVersion(version) ? version : undefined;
}
