/**
 * The plan of one attempt: what was read and judged, put before the core (design 3, step 4).
 *
 * A staged rollout may ask for the template of a former revision, which is read once and planned with; where nobody can
 * read it, the plan stands as it is, and its nodes wait. Nothing is sent from here.
 */
import { defined } from '@rollcall/base/defined.ts';
import { burstWithin } from '../../core/plan/bound-state.ts';
import { planReconcile } from '../../core/plan/plan.ts';
import type { PodCause } from '../../core/model/projections.ts';
import type { FormerTemplate } from '../../core/model/staged-progress.ts';
import type { Guard, Plan, StagingContext } from '../../core/model/plan.ts';
import { findFormerCopy, readFormer } from './history/former.ts';
import { guessHash } from './history/history.ts';
import type { Judgement } from './confirm/guard.ts';
import { readPodCauses } from './needs.ts';
import type { RunContext } from './run/context.ts';
import type { Judged } from './run/exit.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { readPolicyOf } from '../../core/takeover/opt-in.ts';
import type { PolicyReader } from '../../ports/rollout-policy.ts';
import type { StoredInputs } from './read/stored-inputs.ts';

/** What an attempt decides on, once it is known that it may. */
export interface Attempt extends Judged {
  readonly context: RunContext;
  readonly judgement: Extract<Judgement, { kind: 'judged' }>;
  /** True if the revisions as seen are those that the history was told from. */
  readonly isHistorySettled: boolean;
  /** The former revision's template, once a staged rollout asked for it. */
  readonly former?: FormerTemplate;
  /** Why it could not be read just now, though it is needed: its nodes wait for another look. */
  readonly unread?: string;
  /** What the Events of pods tell that halt a staged rollout and do not say why. */
  readonly causes?: readonly PodCause[];
}

/** The plan under a guard. */
export function planAttempt(judged: Attempt, guard: Guard): Plan {
  const { input, context, judgement, history, former, causes } = judged;
  const { options, policies } = context.dependencies;
  const { requestTimeoutMs, burstPodsMax } = options;
  const settled = judged.isHistorySettled ? history : undefined;
  const beside = defined({ former, causes });
  const staging = stagingOf({ ...input, policies, options, ...beside });
  return planReconcile(input.view, {
    guard,
    mode: input.stored.registration.mode,
    state: input.state,
    currentHash: currentHashOf(judged),
    ...defined({ currentRevision: settled?.uid }),
    intents: judgement.intents,
    requestTimeoutMs,
    burstPodsMax: burstWithin(burstPodsMax, input.state),
    ...defined({ staging }),
  });
}

/** What was judged, and its plan. */
interface Planned {
  readonly judged: Attempt;
  readonly whole: Plan;
}

/** The plan of what was judged, made again with a former revision's template where it asks for it. */
export async function planWhole(judged: Attempt): Promise<Planned> {
  return planCaused(await planInformed(judged));
}

/** The plan again, with what Events tell of pods that never started: asked once, since a breach that is recorded is not found again. */
async function planCaused(planned: Planned): Promise<Planned> {
  const { judged, whole } = planned;
  const { asksEventsOf } = whole;
  if (asksEventsOf === undefined) return planned;
  const causes = await readPodCauses(asksEventsOf, await judged.input.access.get());
  const informed = { ...judged, causes };
  return { judged: informed, whole: planAttempt(informed, judged.judgement.guard) };
}

async function planInformed(judged: Attempt): Promise<Planned> {
  const { guard } = judged.judgement;
  const whole = planAttempt(judged, guard);
  const hash = guard.kind === 'act' ? whole.wantsFormer : undefined;
  const reader = hash === undefined ? undefined : await judged.input.access.get();
  if (hash === undefined || reader === undefined) return { judged, whole };
  // Unmarked, a pod that admission compares would be refused, and its node stay empty for the back-off.
  const read = await readFormer(hash, judged.input, reader);
  if (read.kind === 'unavailable') return { judged: { ...judged, unread: read.message }, whole };
  if (read.kind === 'missing') return { judged, whole };
  const copy = await findFormerCopy(read.former, judged.input, reader);
  if (copy.kind === 'unavailable') return { judged: { ...judged, unread: copy.message }, whole };
  const informed = { ...judged, former: { ...read.former, ...defined({ copy: copy.slot }) } };
  return { judged: informed, whole: planAttempt(informed, guard) };
}

/** Hash of the current revision: from history, else from the view. */
export function currentHashOf({ input, history }: Attempt): string | undefined {
  return history?.hash ?? guessHash(input.daemonSet, input.read.revisions);
}

// Absent without the annotation, and where Rollcall only watches. While a status says that a rollout runs, the watcher
// tells of itself every half minute, so less is silence; else the bound is that of any view.

/** What it is told from. */
export interface StagingInput {
  readonly daemonSet: DaemonSetObject;
  readonly stored: Pick<StoredInputs, 'meta' | 'registration'>;
  readonly nowMs: number;
  readonly policies: PolicyReader;
  readonly options: { readonly podsFreshMs: number; readonly silenceBoundMs: number };
  /** The template of the former revision, once it was read. */
  readonly former?: FormerTemplate;
  /** What Events tell of pods that never started. */
  readonly causes?: readonly PodCause[];
}

/** The context of its stages, if it asks for any. */
export function stagingOf(from: StagingInput): StagingContext | undefined {
  const { daemonSet, stored, policies, former, causes } = from;
  const { mode } = stored.registration;
  if (mode === 'observe') return undefined;
  const reading = readPolicyOf(daemonSet, policies);
  if (reading.kind === 'none') return undefined;
  const { era, epoch } = stored.meta;
  return {
    reading,
    mode,
    seenView: `${era}/${epoch}`,
    isViewFresh: isFresh(from),
    unheardMs: stored.meta.unheardMs ?? 0,
    ...defined({ former, causes }),
  };
}

function isFresh({ daemonSet, stored, nowMs, options }: StagingInput): boolean {
  const { updatedNumberScheduled = 0, desiredNumberScheduled = 0 } = daemonSet.status ?? {};
  const isRolling = updatedNumberScheduled < desiredNumberScheduled;
  const withinMs = isRolling ? options.podsFreshMs : options.silenceBoundMs;
  const { Node: nodesMs, Pod: podsMs } = stored.meta.heardAtMs;
  return [nodesMs, podsMs].every((heardMs) => heardMs !== undefined && nowMs - heardMs <= withinMs);
}
