/**
 * How a rollout stands, as values: what `rollcall rollout status` prints, and its JSON (docs/cli.md).
 *
 * Made of what is stored, and as new as the view; nothing is decided, sent or read live. The parts are told by
 * staged-status.ts and plain-status.ts.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterMode } from '../../core/model/registration.ts';
import type { PolicyProblem, PolicyReading } from '../../core/policy/rollout-policy.ts';
import { toldObject } from '../../core/model/view-items.ts';
import type { RolloutPhase } from '../../core/rollout/gate-words.ts';
import { describe as describeShrink } from '../../core/interlock/shrink-events.ts';
import type { HeldShrink } from '../../core/model/state.ts';
import { standstillOf } from '../../core/status/outages.ts';
import type { Outage, StackStanding } from '../../core/status/outages.ts';
import type { StandingFreeze } from '../../core/takeover/freeze.ts';
import { freezeInForce } from '../../core/takeover/registration-guard.ts';
import { copilotStanding, explainNotFollowed } from '../../core/takeover/opt-in.ts';
import { explainRollout } from '../explain/explain.ts';
import type { ExplainSources, SeenNodes } from '../explain/explain.ts';
import { describeHolding, holdOf } from '../fleet/rollout/holding-fleet.ts';
import type { HoldingFleet } from '../fleet/rollout/holding-fleet.ts';
import { outagesOfBasis } from '../explain/standing.ts';
import type { FoundRollout } from './find-rollout.ts';
import { generationsOf, podCountsOf } from '../../core/rollout/pod-counts.ts';
import type { Generations, PodCounts } from '../../core/rollout/pod-counts.ts';
import { describeOpaque, plainStatus } from './plain-status.ts';
import { shownBudget } from './shown-nodes.ts';
import type { ShownBudget } from './shown-nodes.ts';
import { stagedStatus } from './staged-status.ts';
import type { StagedStatus } from './staged-status.ts';

/** One rollout. */
export interface RolloutStatus extends Generations {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly mode: ClusterMode;
  readonly isFrozen: boolean;
  /** What is frozen, by whom and why: the stack, the cluster, or this DaemonSet everywhere; absent: nothing. */
  readonly frozen?: StandingFreeze;
  /** `staged`: by a policy. `rolling`, `on-delete`: by the strategy alone. */
  readonly update: 'staged' | 'rolling' | 'on-delete';
  readonly phase: RolloutPhase;
  /** In one line. */
  readonly summary: string;
  /** Of the status that the watcher last sent. */
  readonly nodes: PodCounts;
  /** What bounds it now; absent where no plan can be told. */
  readonly budget?: ShownBudget;
  readonly staged?: StagedStatus;
  /** What is wrong with the policy's text, or which fields of it Rollcall ignores. */
  readonly policyProblems?: readonly PolicyProblem[];
  /** A removal of pods that waits for somebody to confirm it; in another mode than takeover it was only told of. */
  readonly shrink?: HeldShrink;
  readonly isViewComplete: boolean;
  /** When the watcher sent what this is told of. */
  readonly lastSentAtMs: number;
  /** The fleet that has it in a stage of a rollout that is not over; absent: none has. */
  readonly fleet?: HoldingFleet;
  /** What makes it untrue, or keeps it as it is; the gravest first. */
  readonly outages: readonly Outage[];
  /** Sentences on what else keeps it, or limits what is told. */
  readonly notes: readonly string[];
}

/** Tells how it stands. Rejects when a table fails. */
export async function rolloutStatusOf(
  found: FoundRollout,
  sources: ExplainSources & { readonly standing: StackStanding },
): Promise<RolloutStatus> {
  const { key, basis, policy } = found;
  const { registration, meta, daemonSet } = basis;
  const object = toldObject(daemonSet);
  const frozen = freezeInForce(registration, basis.frozen);
  const outages = outagesOfBasis(basis, sources);
  const explained = await explainRollout(basis, { ...sources, outages });
  const seen = explained?.seen;
  const stages = explained?.plan.stages;
  const source = {
    ...basis,
    policy,
    seen,
    stages,
    ...defined({ hold: found.fleet && holdOf(found.fleet) }),
  };
  const staged = stagedStatus(source, sources.nowMs);
  const plain = plainStatus({ ...basis, seen });
  const isViewComplete = meta.isComplete && !meta.isCutOpen;
  return {
    ...key,
    mode: registration.mode,
    isFrozen: frozen !== undefined,
    ...generationsOf(object),
    update: staged === undefined ? plain.update : 'staged',
    ...standingAs(staged ?? plain, outages, registration.mode),
    nodes: podCountsOf(object),
    ...defined({
      frozen,
      staged,
      fleet: found.fleet,
      budget: explained && shownBudget(explained.plan, explained.plan.verdicts()),
      shrink: basis.state?.shrink?.held,
      policyProblems: problemsOf(policy),
    }),
    isViewComplete,
    lastSentAtMs: meta.lastSentAtMs,
    outages,
    notes: notesOf(found, seen, { isViewComplete, isStaged: staged !== undefined }),
  };
}

function problemsOf(policy: PolicyReading): readonly PolicyProblem[] | undefined {
  if (policy.kind === 'invalid') return policy.problems;
  return policy.kind === 'policy' ? policy.ignored : undefined;
}

/** What the last run left counts for as long as it is known that runs come, and reach the cluster. */
function standingAs(
  told: Pick<RolloutStatus, 'phase' | 'summary'>,
  outages: readonly Outage[],
  mode: ClusterMode,
): Pick<RolloutStatus, 'phase' | 'summary'> {
  const { phase } = told;
  const summary = `as of the last run: ${told.summary}`;
  if (standstillOf(outages, mode) !== undefined) return { phase: 'Stopped', summary };
  const isOut = outages.some(({ code }) => code === 'api-server-unreachable');
  const isEnd = phase === 'Done' || phase === 'Returned';
  return isOut && isEnd ? { phase: 'Waiting', summary } : { phase, summary: told.summary };
}

function notesOf(
  found: FoundRollout,
  seen: SeenNodes | undefined,
  { isViewComplete, isStaged }: { readonly isViewComplete: boolean; readonly isStaged: boolean },
): string[] {
  const { registration, meta } = found.basis;
  const { rival } = registration;
  const told = [
    found.fleet && describeHolding(found.fleet),
    shrinkNote(found),
    rival && `Rollcall has stopped there: ${rival.evidence}.`,
    isViewComplete
      ? undefined
      : `The view of the cluster is not whole (${meta.incompleteReason ?? 'waiting'}).`,
    opaqueNote(found),
    isStaged ? undefined : otherTemplateNote(seen),
    policyNote(found, isStaged),
  ];
  return told.filter((note) => note !== undefined);
}

/** A removal of pods that is held, or only told of. */
function shrinkNote({ key, basis }: FoundRollout): string | undefined {
  const held = basis.state?.shrink?.held;
  if (held === undefined) return undefined;
  const { cluster, namespace, name } = key;
  const next =
    basis.registration.mode === 'takeover'
      ? `Held until it is taken back, or: rollcall rollout confirm ${cluster} ${namespace}/${name}`
      : 'Rollcall does not act here and cannot hold it.';
  return `${describeShrink(held)}. ${next}`;
}

function opaqueNote({ basis: { daemonSet } }: FoundRollout): string | undefined {
  if (daemonSet.object !== null) return undefined;
  return `Told without its nodes, as ${describeOpaque(daemonSet)}: runs read it from the API server.`;
}

/** Upstream counts so, too; nothing is proven by such pods. */
function otherTemplateNote(seen: SeenNodes | undefined): string | undefined {
  const pods = seen?.otherTemplateNodes ?? 0;
  if (pods === 0) return undefined;
  const were = pods === 1 ? 'pod counts as updated and was' : 'pods count as updated and were';
  return `${String(pods)} ${were} made of another template: a DaemonSet of this name left them, with the same template generation, by which Kubernetes counts. They stay as they are until they are deleted.`;
}

function policyNote({ basis, policy }: FoundRollout, isStaged: boolean): string | undefined {
  if (policy.kind === 'none') return undefined;
  if (basis.registration.mode === 'observe') {
    return 'It has a policy, and Rollcall only looks at this cluster (mode observe).';
  }
  const object = toldObject(basis.daemonSet);
  const standing = object === null ? 'followed' : copilotStanding(object);
  if (basis.registration.mode === 'copilot' && standing !== 'followed') {
    return explainNotFollowed(standing);
  }
  if (policy.kind === 'invalid') {
    return 'Its policy is invalid: no step opens, and nothing else changes, until it is repaired.';
  }
  return isStaged ? undefined : 'It has a policy, and no run has begun a rollout by it yet.';
}
