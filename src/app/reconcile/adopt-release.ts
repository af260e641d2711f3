/**
 * Adopts orphans and releases pods whose labels moved away (spec 2.4).
 *
 * Each patch carries the pod's UID. Adoption stands on a live read of the DaemonSet that the caller
 * made in this run. Gone pods are ignored, a reference that is already gone is too; anything else
 * fails the claim as a whole, and nothing is created on top of it.
 */
import type { Outcome, PatchEffect } from '../../core/model/effects.ts';
import { isResourceVersion, newerVersion } from '../../core/model/identifiers.ts';
import type { ResourceVersion } from '../../core/model/identifiers.ts';
import { isJsonObject } from '../../core/model/json.ts';
import type { Plan } from '../../core/model/plan.ts';
import { buildAdoptPatch, buildReleasePatch } from '../../core/owner.ts';
import type { ClusterAccess } from '../../ports/cluster-access.ts';
import { effectDeadlineMs, mayContinue } from './context.ts';
import type { RunContext, Subject } from './context.ts';

/** Patches sent side by side. */
const PATCHES_AT_ONCE = 50;

/** What came of the claim. */
export interface ClaimExecution {
  readonly patched: number;
  /** Highest version that a patch returned: our own write (spec 2.3 step 1). */
  readonly written: ResourceVersion | undefined;
  /** Pods that were not there any more, or not the same: the view is behind. */
  readonly missed: number;
  readonly failure?: { readonly message: string; readonly retryAfterMs?: number };
}

/** Sends the patches of a plan. */
export async function executeClaims(
  plan: Pick<Plan, 'adopts' | 'releases'>,
  input: {
    readonly context: RunContext;
    readonly subject: Subject;
    readonly access: ClusterAccess;
  },
): Promise<ClaimExecution> {
  const { context, subject, access } = input;
  const effects = [
    ...plan.adopts.map((pod) => buildAdoptPatch(subject.daemonSet, pod)),
    ...plan.releases.map((pod) => buildReleasePatch(subject.daemonSet, pod)),
  ];
  let patched = 0;
  let missed = 0;
  let written: ResourceVersion | undefined;
  for (let start = 0; start < effects.length; start += PATCHES_AT_ONCE) {
    if (!mayContinue(context)) {
      return { patched, written, missed, failure: { message: 'the time of this run is over' } };
    }
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
        return { patched, written, missed, failure: failureOf(effect, outcome) };
      }
    }
  }
  return { patched, written, missed };
}

function isIgnorable(effect: PatchEffect, outcome: Outcome): boolean {
  if (outcome.kind === 'gone' || outcome.kind === 'conflict') return true;
  const isInvalid = outcome.kind === 'refused' && outcome.code === 'invalid';
  return effect.purpose === 'release' && isInvalid;
}

function failureOf(
  effect: PatchEffect,
  outcome: Exclude<Outcome, { kind: 'done' }>,
): NonNullable<ClaimExecution['failure']> {
  const detail = 'message' in outcome ? outcome.message : outcome.kind;
  const message = `pod ${effect.name} could not be patched (${effect.purpose}): ${detail}`;
  const retryAfterMs = outcome.kind === 'unsent' ? outcome.retryAfterMs : undefined;
  return retryAfterMs === undefined ? { message } : { message, retryAfterMs };
}

/** The version that a write returned; undefined when it cannot be compared. */
export function versionOf(
  outcome: Extract<Outcome, { kind: 'done' }>,
): ResourceVersion | undefined {
  const { metadata } = outcome.object;
  const version = isJsonObject(metadata) ? metadata['resourceVersion'] : undefined;
  return isResourceVersion(version) ? version : undefined;
}
