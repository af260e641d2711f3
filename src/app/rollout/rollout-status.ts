/**
 * How a rollout stands, as values: what `rollcall rollout status` prints, and its JSON (docs/reference/json.md).
 *
 * Made of what is stored, and as new as the view; nothing is decided, sent or read live.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterMode } from '../../core/model/registration.ts';
import type { PolicyProblem, PolicyReading } from '../../core/policy/rollout-policy.ts';
import { toldObject } from '../../core/model/view-items.ts';
import type { FleetHold, Gate, StagedProgress } from '../../core/model/staged-progress.ts';
import { describe as describeRemoval } from '../../core/removal-guard/removal-events.ts';
import type { HeldRemoval } from '../../core/model/state.ts';
import { standstillOf } from '../../core/status/outages.ts';
import type { Outage, StackStanding, Watched } from '../../core/status/outages.ts';
import type { StandingFreeze } from '../../core/may-act/freeze.ts';
import { freezeInForce } from '../../core/may-act/registration-guard.ts';
import { copilotStanding, explainNotFollowed, isHeldByPolicy } from '../../core/may-act/opt-in.ts';
import { explainRollout } from '../why/explain.ts';
import type { ExplainSources, ObservedNodes } from '../why/explain.ts';
import { describeHolding, holdOf } from '../fleet/rollout/holding-fleet.ts';
import type { HoldingFleet } from '../fleet/rollout/holding-fleet.ts';
import { outagesOfBasis } from '../why/standing.ts';
import type { FoundRollout } from './find-rollout.ts';
import {
  countsOf,
  describeMissing,
  generationsOf,
  podCountsOf,
} from '../../core/rollout/pod-counts.ts';
import type { Generations, PodCounts } from '../../core/rollout/pod-counts.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { NodeName } from '../../core/model/identifiers.ts';
import type {
  Breach,
  CanaryLoss,
  OpenStep,
  ProvenRevision,
  RefusedRevision,
  RolloutOrders,
  RolloutRecord,
} from '../../core/model/rollout-record.ts';
import {
  describeStep,
  subjectOf,
  summarizeRecord,
  tellRollout,
  updatedNodesOf,
} from '../../core/rollout/describe-record.ts';
import type { ToldRollout } from '../../core/rollout/describe-record.ts';
import { describeGate } from '../../core/rollout/gate-words.ts';
import { gateOf, phaseOf } from '../../core/rollout/recorded-gate.ts';
import { wayBackOf } from '../../core/rollout/good-releases.ts';
import { isRollingBack as isSentBack } from '../../core/stages/former.ts';
import { shownCopies } from '../../core/admission/shown-copies.ts';
import type { ShownCopies } from '../../core/admission/shown-copies.ts';
import { evidenceOf } from '../../core/rollout/shown-evidence.ts';
import type { ShownEvidence } from '../../core/rollout/shown-evidence.ts';
import { strategyTypeOf } from '../../core/daemon-set/strategy.ts';
import type { DaemonSetItem } from '../../core/model/view-items.ts';
import type { StoredInputs } from '../reconcile/read/stored-inputs.ts';
import type { Plan, RolloutProgress } from '../../core/model/plan.ts';
import type { NodeCode, Verdict } from '../../core/model/verdict.ts';

/** One rollout. */
export interface RolloutStatus extends Generations, Watched {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly mode: ClusterMode;
  readonly isFrozen: boolean;
  /** What is frozen, by whom and why: the stack, the cluster, or this DaemonSet everywhere; absent: nothing. */
  readonly frozen?: StandingFreeze;
  /** `staged`: by a policy. `rolling`, `on-delete`: by the strategy alone. */
  readonly update: 'staged' | 'rolling' | 'on-delete';
  /** Of the status that the watcher last sent. */
  readonly nodes: PodCounts;
  /** What bounds it now; absent where no plan can be told. */
  readonly budget?: ShownBudget;
  readonly staged?: StagedStatus;
  /** What is wrong with the policy's text. */
  readonly policyProblems?: readonly PolicyProblem[];
  /** A removal of pods that waits for an operator to confirm it; outside of takeover it is only reported. */
  readonly removal?: HeldRemoval;
  readonly isViewComplete: boolean;
  /** When the watcher sent what this is told of. */
  readonly lastSentAtMs: number;
  /** The fleet that has it in a stage of a rollout that is not over; absent: none has. */
  readonly fleet?: HoldingFleet;
}

/** Tells how it stands. Rejects when a table fails. */
export async function rolloutStatusOf(
  found: FoundRollout,
  sources: ExplainSources & { readonly standing: StackStanding },
): Promise<RolloutStatus> {
  const { key, stored, policy, fleet } = found;
  const { registration, meta, daemonSet } = stored;
  const object = toldObject(daemonSet);
  const frozen = freezeInForce(registration, stored.frozen);
  const outages = outagesOfBasis(stored, sources);
  const explained = await explainRollout(stored, { ...sources, outages });
  const seen = explained?.seen;
  const stages = explained?.plan.stages;
  const hold = defined({ hold: fleet && holdOf(fleet) });
  const source = { ...stored, policy, seen, stages, ...hold };
  const staged = stagedStatus(source, sources.nowMs);
  const isHeld = isHeldByPolicy(object, policy, registration.mode);
  const plain = { ...plainStatus({ ...stored, seen }), ...(isHeld ? HELD_BY_POLICY : {}) };
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
      fleet,
      budget: explained && shownBudget(explained.plan, explained.plan.verdicts()),
      removal: stored.state?.shrink?.held,
      policyProblems: policy.kind === 'invalid' ? policy.problems : undefined,
    }),
    isViewComplete,
    lastSentAtMs: meta.lastSentAtMs,
    outages,
    notes: notesOf(found, seen, { isViewComplete, isStaged: staged !== undefined }),
  };
}

/** What the last run left counts for as long as it is known that runs come, and reach the cluster. */
function standingAs(told: ToldPhase, outages: readonly Outage[], mode: ClusterMode): ToldPhase {
  const { phase } = told;
  const summary = `as of the last run: ${told.summary}`;
  if (standstillOf(outages, mode) !== undefined) return { phase: 'Stopped', summary };
  const isOut = outages.some(({ code }) => code === 'api-server-unreachable');
  const isEnd = phase === 'Done' || phase === 'Returned';
  return isOut && isEnd ? { phase: 'Waiting', summary } : { phase, summary: told.summary };
}

function notesOf(
  found: FoundRollout,
  seen: ObservedNodes | undefined,
  { isViewComplete, isStaged }: { readonly isViewComplete: boolean; readonly isStaged: boolean },
): string[] {
  const { registration, meta } = found.stored;
  const { rival } = registration;
  const told = [
    found.fleet && describeHolding(found.fleet),
    removalNote(found),
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

function removalNote({ key, stored }: FoundRollout): string | undefined {
  const held = stored.state?.shrink?.held;
  if (held === undefined) return undefined;
  const { cluster, namespace, name } = key;
  const next =
    stored.registration.mode === 'takeover'
      ? `Held until it is taken back, or: rollcall rollout confirm ${cluster} ${namespace}/${name}`
      : 'Rollcall does not act here and cannot hold it.';
  return `${describeRemoval(held)}. ${next}`;
}

function opaqueNote({ stored: { daemonSet } }: FoundRollout): string | undefined {
  if (daemonSet.object !== null) return undefined;
  return `Told without its nodes, as ${describeOpaque(daemonSet)}: runs read it from the API server.`;
}

/** Upstream counts so, too; nothing is proven by such pods. */
function otherTemplateNote(seen: ObservedNodes | undefined): string | undefined {
  const pods = seen?.otherTemplateNodes ?? 0;
  if (pods === 0) return undefined;
  const were = pods === 1 ? 'pod counts as updated and was' : 'pods count as updated and were';
  return `${String(pods)} ${were} made of another template: a DaemonSet of this name left them, with the same template generation, by which Kubernetes counts. They stay as they are until they are deleted.`;
}

function policyNote({ stored, policy }: FoundRollout, isStaged: boolean): string | undefined {
  if (policy.kind === 'none') return undefined;
  if (stored.registration.mode === 'observe') {
    return 'It has a policy, and Rollcall only looks at this cluster (mode observe).';
  }
  const object = toldObject(stored.daemonSet);
  const standing = object === null ? 'followed' : copilotStanding(object);
  if (stored.registration.mode === 'copilot' && standing !== 'followed') {
    return explainNotFollowed(standing);
  }
  if (policy.kind === 'invalid') {
    return 'Its policy is invalid: no step opens, and nothing else changes, until it is repaired.';
  }
  return isStaged ? undefined : 'It has a policy, and no run has begun a rollout by it yet.';
}

/** A staged rollout. */
export interface StagedStatus
  extends ToldPhase, ToldRollout<Breach, RefusedRevision, RolloutOrders> {
  /** Its controller-revision-hash. */
  readonly revision: string;
  readonly step: OpenStep & { readonly groups?: number };
  /** Nodes when it started; percentages are of these or of those of now (policy/share.ts). */
  readonly baseNodes: number;
  readonly canary: readonly string[];
  /** Canary nodes that went NotReady after their turn, and who was added for them; absent: none did. */
  readonly losses?: readonly CanaryLoss[];
  readonly evidence: ShownEvidence;
  /** Copilot: nodes that run the revision ahead of their step; absent while no plan can be told. */
  readonly strays?: readonly NodeName[];
  readonly proven?: ProvenRevision;
  /** What an undo, or a rollback, leads to. */
  readonly former?: ProvenRevision;
  /** Takeover: copies of good templates, for admission (ADR 0063). */
  readonly copies?: ShownCopies;
}

interface StagedSource extends EndSource {
  readonly policy: PolicyReading;
  /** Of the plan that a run of now would make, where one can be told. */
  readonly stages: StagedProgress | undefined;
  /** Of a fleet that gave it to these nodes alone. */
  readonly hold?: FleetHold;
}

/** Told from what was found; undefined: nothing was ever staged, or its policy is gone. */
export function stagedStatus(source: StagedSource, nowMs: number): StagedStatus | undefined {
  const { registration, state, daemonSet, policy, stages } = source;
  const record = state?.rollout;
  const object = toldObject(daemonSet);
  // The policy of an unreadable object is unknown; its record stands all the same.
  if (record === undefined || (policy.kind === 'none' && object !== null)) return undefined;
  const isBehind = isBehindTemplate(record, source);
  const planned = stages?.gate;
  const counts = countsOf(object);
  const known = defined({ planned, counts, hold: source.hold });
  const judged = gateOf({ record, policy, nowMs, isBehind, ...known });
  const isRollingBack =
    policy.kind === 'policy' &&
    isSentBack(record, { policy: policy.policy, isStageTrue: registration.mode === 'takeover' });
  const phase = phaseOf(judged, { isRollingBack, isBack: isBack(object) });
  const gate: Gate = phase === 'Returned' ? { kind: 'returned' } : judged;
  const told = { phase, summary: summarizeRecord(record, gate) };
  const end = endOf(told, source);
  const gateText = end === told ? describeGate(gate, subjectOf(record)) : end.summary;
  const { hash, step, groups, baseNodes, canary, proven, losses } = record;
  const isCopied = registration.mode === 'takeover';
  const updatedNodes = updatedNodesOf(record, phase, counts);
  return {
    revision: hash,
    step: { ...step, updatedNodes, ...defined({ groups }) },
    ...{ baseNodes, canary, evidence: evidenceOf(record) },
    ...defined({ proven, former: wayBackOf(record), losses, strays: stages?.strays }),
    ...(isCopied ? { copies: shownCopies(record, state?.copies) } : {}),
    ...end,
    ...tellRollout(record, { gate, stepText: describeStep(record), gateText }),
  };
}

function isBack(object: DaemonSetObject | null): boolean {
  const { updated, available, desired } = podCountsOf(object);
  return updated === 0 && available >= desired;
}

/** True if the template that is rolled out next is known to be another one than the record is of. */
function isBehindTemplate(
  { hash }: RolloutRecord,
  { state, daemonSet, stages }: StagedSource,
): boolean {
  if (stages !== undefined) return stages.record.hash !== hash;
  const { history } = state ?? {};
  if (history === undefined) return false;
  const generation = toldObject(daemonSet)?.metadata.generation;
  return history.hash !== hash || (generation !== undefined && history.generation !== generation);
}

/** How one stands that no run could begin to stage. */
export const HELD_BY_POLICY = {
  phase: 'Invalid',
  summary: 'held, because its policy is invalid',
} as const;

type ToldPhase = Pick<Watched, 'phase' | 'summary'>;

/** What an end is judged by: nodes as a plan of now sees them, where one can be told. */
interface EndSource extends Pick<StoredInputs, 'registration' | 'state' | 'daemonSet'> {
  readonly seen: ObservedNodes | undefined;
}

/** How an update without stages stands: by generation and counters, as `kubectl rollout status` tells it, and of OnDelete too. */
function plainStatus(source: EndSource): ToldPhase & Pick<RolloutStatus, 'update'> {
  const object = toldObject(source.daemonSet);
  const isOnDelete = object !== null && strategyTypeOf(object) === 'OnDelete';
  return {
    update: isOnDelete ? 'on-delete' : 'rolling',
    ...endOf(judge(source.daemonSet, isOnDelete), source),
  };
}

function judge(daemonSet: DaemonSetItem, isOnDelete: boolean): ToldPhase {
  const counts = countsOf(toldObject(daemonSet));
  if (counts === undefined) {
    return { phase: 'Progressing', summary: describeOpaque(daemonSet) };
  }
  const { generation, observedGeneration, desired, updated } = counts;
  if (isOnDelete && observedGeneration >= generation && updated < desired) {
    const summary = `${String(updated)} of ${String(desired)} updated; each other pod waits until it is deleted (OnDelete)`;
    return { phase: 'Waiting', summary };
  }
  const missing = describeMissing(counts);
  return missing === undefined
    ? { phase: 'Done', summary: 'every node runs the newest template' }
    : { phase: 'Progressing', summary: missing };
}

/** An end while pods are held from being taken is none; one without any node that is meant is told as that. */
function endOf<Told extends ToldPhase>(
  told: Told,
  { registration, state, daemonSet, seen }: EndSource,
): Told | (Told & ToldPhase) {
  if (told.phase !== 'Done') return told;
  const held = state?.shrink?.held;
  if (held !== undefined && registration.mode === 'takeover') {
    return { ...told, phase: 'Waiting', summary: `held: ${describeRemoval(held)}` };
  }
  return podCountsOf(toldObject(daemonSet)).desired > 0
    ? told
    : { ...told, summary: describeNoNode(seen) };
}

/** Why the object is not in the view, as the end of a sentence; its size, where the watcher told it. */
export function describeOpaque({ opaqueReason, outline }: DaemonSetItem): string {
  if (outline !== undefined) {
    const { bytes, bytesMax } = outline;
    return `its object has ${kib(bytes)}, and a watcher sends at most ${kib(bytesMax)} of one`;
  }
  return opaqueReason === 'too-large'
    ? 'its object is too large for a watcher to send'
    : 'the watcher could not read its object';
}

function kib(bytes: number): string {
  return `${String(Math.ceil(bytes / 1024))} KiB`;
}

/** That no node is eligible, of how many, and how many had a pod some minutes ago. */
export function describeNoNode(seen: ObservedNodes | undefined): string {
  if (seen === undefined) return 'no node is eligible';
  const { nodes, formerNodes } = seen;
  const before = formerNodes === 0 ? '' : `, ${String(formerNodes)} before`;
  return `0 of ${String(nodes)} nodes are eligible${before}`;
}

/** Nodes of a list; what is beyond is only counted. */
export const SHOWN_NODES_MAX = 16;

/** A node that uses up the budget, with its verdict (docs/reference/json.md). */
interface BudgetUser {
  readonly node: NodeName;
  readonly code: NodeCode;
  readonly message: string;
}

/** What bounds a rollout now, and who uses it. */
export interface ShownBudget extends Omit<
  RolloutProgress,
  'desiredNodes' | 'updatedNodes' | 'unavailable'
> {
  /** How many more nodes may be without an available pod, or surge. */
  readonly freeNodes: number;
  /** SHOWN_NODES_MAX at most; of a rollout in stages without surge. */
  readonly users: readonly BudgetUser[];
}

/** The budget of a plan; undefined: no revision is rolled out. */
export function shownBudget(
  { rollout }: Pick<Plan, 'rollout'>,
  verdicts: readonly Verdict[],
): ShownBudget | undefined {
  if (rollout === undefined) return undefined;
  const { desiredNodes: _desired, updatedNodes: _updated, unavailable = [], ...budget } = rollout;
  const { unavailableNodes, unavailableNodesMax, surgingNodes, surgeNodesMax } = budget;
  const free =
    surgeNodesMax > 0 ? surgeNodesMax - surgingNodes : unavailableNodesMax - unavailableNodes;
  const byNode = new Map(verdicts.map((verdict) => [verdict.node, verdict]));
  const users = unavailable.slice(0, SHOWN_NODES_MAX).flatMap((node) => {
    const verdict = byNode.get(node);
    return verdict === undefined ? [] : [{ node, code: verdict.code, message: verdict.message }];
  });
  return { ...budget, freeNodes: Math.max(0, free), users };
}
