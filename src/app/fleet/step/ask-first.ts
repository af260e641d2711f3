/**
 * Asks the first clusters of a stage by a dry run whether they would take a release, before any of them is given it (issue 40, item 5).
 *
 * The same requests as the gift's, of the first batch alone. What one of them refuses (a missing right, admission, a quota) is told
 * before the others have the release, holds the stage, and is asked again: after a minute, then ever more seldom, ten minutes at
 * most. As many as the stage forgives hold nothing: they fail by themselves. Nor does who is not heard, or owns a field.
 */
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { FleetGate } from '../../../core/fleet/rollout/fleet-record.ts';
import { FAILURE_MESSAGE_MAX } from '../../../core/fleet/rollout/note-verdict.ts';
import { whyNotGiven } from '../../../core/fleet/rollout/may-give.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { StartLimits } from '../../../core/pod/request-life.ts';
import { GIVEN_AT_ONCE } from '../sight/dependencies.ts';
import type { StepFleetsDependencies } from '../sight/dependencies.ts';
import { readAsSeen } from './give-clusters.ts';
import type { Gift } from './give-clusters.ts';
import { sendManifest } from './send-manifest.ts';

const ASK_AGAIN_MS = 60_000;
const ASK_AGAIN_MS_MAX = 600_000;

/** The gate of a stage that is held. */
export type RefusedGate = Extract<FleetGate, { readonly kind: 'refused' }>;

/** What is asked. */
export interface FirstAsk {
  readonly gifts: readonly Gift[];
  /** Clusters that may be unable to take it. */
  readonly refusalsMax: number;
  /** Since when it is held already; absent: it was not. */
  readonly sinceMs?: number;
  readonly limits: StartLimits;
}

/** Asks them. Undefined: they may be given it. Rejects when a table fails. */
export async function askFirst(
  { gifts, refusalsMax, limits, ...held }: FirstAsk,
  dependencies: StepFleetsDependencies,
): Promise<RefusedGate | undefined> {
  const asked = gifts.slice(0, GIVEN_AT_ONCE);
  const refusals = (
    await sideBySide(asked, GIVEN_AT_ONCE, (gift) => refusalOf(gift, limits, dependencies))
  ).filter((refusal) => refusal !== undefined);
  const [first] = refusals;
  if (first === undefined || refusals.length <= refusalsMax) return undefined;
  const nowMs = dependencies.clock.nowMs();
  const sinceMs = held.sinceMs ?? nowMs;
  const pauseMs = Math.min(ASK_AGAIN_MS_MAX, Math.max(ASK_AGAIN_MS, nowMs - sinceMs));
  return { kind: 'refused', ...first, sinceMs, askAtMs: nowMs + pauseMs };
}

async function refusalOf(
  { cluster: { registration: seen }, rendering, isPartial }: Gift,
  limits: StartLimits,
  dependencies: StepFleetsDependencies,
): Promise<{ readonly cluster: ClusterId; readonly message: string } | undefined> {
  const rendered = rendering.renderFor(seen, { isPartial });
  const isGiven = whyNotGiven(rendered, seen.mode) === undefined;
  if (!isGiven || rendered.kind !== 'rendered') return undefined;
  const registration = await readAsSeen(seen, dependencies);
  if (registration === undefined) return undefined;
  const { isForced } = rendering;
  const { manifest } = rendered;
  const answer = await sendManifest(
    { registration, manifest, isForced, isDryRun: true, limits },
    dependencies,
  );
  const isRefusal = answer.kind === 'failed' && answer.cause === 'Refused';
  if (!isRefusal) return undefined;
  return { cluster: registration.id, message: answer.message.slice(0, FAILURE_MESSAGE_MAX) };
}
