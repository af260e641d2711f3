/**
 * The rolling update of one run: which outdated pods go, which nodes get a second pod (spec 2.9).
 *
 * Works on what plan-pods.ts leaves alone. Creates and deletes come in the order in which the burst cuts them:
 * unavailable first, then longest not updated, then by name. An available pod is deleted only within the budget,
 * whatever else this run deletes (S3); after a loss of state it stays for a while (protocol 6). Nothing is rolled
 * while the current revision is not known, nor with OnDelete.
 * Differs from upstream: the step shares the run with other work, where upstream waits for a sync without any.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { DeleteReason, PlannedCreate, RolloutProgress } from '../model/plan.ts';
import { decideCreate, type NameChoice, type Wait } from '../manage-pods/plan-create.ts';
import { plannedDelete, type DeleteDecision, type PodDecisions } from '../manage-pods/plan-pods.ts';
import type { Planning } from '../manage-pods/planning.ts';
import { resolveBudget, strategyTypeOf, type RolloutBudget } from '../daemon-set/strategy.ts';
import { findSites, type Site } from './rollout-states.ts';
import type { Staging } from './plan-stages.ts';
import { walkWithSurge } from './rollout-with-surge.ts';
import { walkWithoutSurge, type OldSite } from './rollout-without-surge.ts';
import { closeSites, walkStages, whyClosed } from './walk-stages.ts';

/** What a rolling update deletes pods for (spec 2.9). */
export type RolloutReason = Extract<DeleteReason, 'outdated' | 'replaced' | 'vacated'>;

/** What an old pod waits for: room in a budget, its step, its node (`ready`), a policy that keeps it (`kept`) or is unreadable. */
export type WaitsFor = 'unavailable' | 'surge' | 'supply' | 'step' | 'ready' | 'kept' | 'policy';

/** What the rolling update has to say about one node; becomes its verdict (rollout-verdicts.ts). */
export type RolloutNote =
  | { readonly kind: 'deleting'; readonly pod: string; readonly reason: RolloutReason }
  | { readonly kind: 'creating'; readonly pod: string; readonly name: string }
  /** The new pod is there, and is to become available before the old one goes. */
  | { readonly kind: 'surging'; readonly pod: string; readonly name: string }
  /** The budget leaves it for later. */
  | {
      readonly kind: 'waiting';
      readonly pod: string;
      readonly for: WaitsFor;
    }
  /** Strict: an outdated pod of a vanished node holds up everything. */
  | { readonly kind: 'held-up'; readonly pod: string; readonly stray: string }
  | { readonly kind: 'blocked'; readonly pod: string; readonly wait: Wait }
  /** It would go, were the state not new (protocol 6). */
  | { readonly kind: 'withheld'; readonly untilMs: number }
  /** OnDelete: it stays until a user deletes it. */
  | { readonly kind: 'outdated'; readonly pod: string };

export type RolloutCreate = NameChoice & Pick<PlannedCreate, 'node'>;

/** What a rolling update wants in this run. */
export interface RolloutDecisions {
  /** In the order in which a burst is cut. */
  readonly creates: readonly RolloutCreate[];
  readonly deletes: readonly DeleteDecision[];
  readonly notes: ReadonlyMap<NodeName, RolloutNote>;
  /** When to look again although nothing happens. */
  readonly untilMs: readonly number[];
  readonly progress?: RolloutProgress;
}

/** With `strict`, how soon a step that a vanished node holds up is tried again, in milliseconds. */
const STRAY_RETRY_MS = 15_000;

/** Plans the rolling update beside what planPods decided. */
export function planRollout(
  planning: Planning,
  decisions: PodDecisions,
  staging: Staging,
): RolloutDecisions {
  const draft = new Draft(planning);
  const { daemonSet } = planning.view;
  if (planning.context.currentHash === undefined) return draft.decisions();
  const sites = findSites(planning, decisions);
  if (staging.kind === 'unreadable') return holdAll(sites, draft);
  if (strategyTypeOf(daemonSet) === 'OnDelete' && staging.kind === 'none') {
    noteOutdated(sites, draft);
    return draft.decisions();
  }
  const desiredNodes = sites.filter(({ placement }) => placement === 'run').length;
  const budget = budgetOf(planning, staging, desiredNodes);
  const counted =
    budget.maxSurge > 0
      ? planWithSurge(sites, { draft, budget, desiredNodes, staging })
      : planWithoutSurge(sites, { draft, budget, staging });
  if (staging.kind === 'staged') draft.untilMs.push(...staging.stages.untilMs);
  return {
    ...draft.decisions(),
    progress: {
      desiredNodes,
      updatedNodes: sites.filter(isUpdatedNode).length,
      unavailableNodesMax: budget.maxUnavailable,
      surgeNodesMax: budget.maxSurge,
      ...counted,
    },
  };
}

/** A policy that cannot be read: whatever is old stays. */
function holdAll(sites: readonly Site[], draft: Draft): RolloutDecisions {
  for (const { node, state } of sites) {
    if (state.kind !== 'only-old') continue;
    draft.notes.set(node, { kind: 'waiting', pod: state.old.pod.name, for: 'policy' });
  }
  return draft.decisions();
}

function budgetOf({ view }: Planning, staging: Staging, desiredNodes: number): RolloutBudget {
  const own = resolveBudget(view.daemonSet, desiredNodes);
  if (staging.kind !== 'staged' || own.maxSurge > 0) return own;
  return { maxUnavailable: staging.stages.maxUnavailable, maxSurge: 0 };
}

type Counted = Pick<
  RolloutProgress,
  'unavailableNodes' | 'unavailable' | 'surgingNodes' | 'waitingNodes'
>;

/** Nodes that a budget names: enough to look at, and no more than a screen. */
const BUDGET_NODES_MAX = 16;

class Draft {
  readonly creates: RolloutCreate[] = [];
  readonly deletes: DeleteDecision[] = [];
  readonly notes = new Map<NodeName, RolloutNote>();
  readonly untilMs: number[] = [];
  readonly planning: Planning;

  constructor(planning: Planning) {
    this.planning = planning;
  }

  decisions(): RolloutDecisions {
    const { creates, deletes, notes, untilMs } = this;
    return { creates, deletes, notes, untilMs };
  }

  delete(victims: readonly OldSite[], reasonOf: (site: Site) => RolloutReason): void {
    const { restrictedUntilMs } = this.planning;
    for (const { site, node, old } of victims) {
      const reason = reasonOf(site);
      const planned = plannedDelete(this.planning, old.pod, reason);
      if (planned.isAvailable && restrictedUntilMs !== undefined) {
        this.notes.set(node, { kind: 'withheld', untilMs: restrictedUntilMs });
        this.untilMs.push(restrictedUntilMs);
      } else {
        this.notes.set(node, { kind: 'deleting', pod: old.pod.name, reason });
        this.deletes.push({ planned });
      }
    }
  }

  /** True if the create can be sent in this run. */
  create({ site, node, old }: OldSite): boolean {
    // Stryker disable next-line BooleanLiteral: for the compiler; a vanished node is never given a pod
    if (site.nodeView === undefined) return false;
    const decision = decideCreate(this.planning, site.nodeView);
    const pod = old.pod.name;
    if (decision.kind === 'wait') {
      this.notes.set(node, { kind: 'blocked', pod, wait: decision.wait });
      const { untilMs } = decision.wait;
      if (untilMs !== undefined) this.untilMs.push(untilMs);
      return false;
    }
    this.notes.set(node, { kind: 'creating', pod, name: decision.choice.name });
    this.creates.push({ node, ...decision.choice });
    return true;
  }

  /** Pods whose delete was refused: others have their turn until each is tried again. */
  hold(refused: readonly OldSite[]): void {
    for (const { node, old } of refused) {
      if (old.refused === undefined) continue;
      const { code, message, notBeforeMs } = old.refused;
      const text = `its delete was refused (${code}: ${message}); it is tried again later`;
      const wait: Wait = { code: 'Refused', message: text, untilMs: notBeforeMs };
      this.notes.set(node, { kind: 'blocked', pod: old.pod.name, wait });
      this.untilMs.push(notBeforeMs);
    }
  }

  wait(sites: readonly OldSite[], what: WaitsFor): void {
    for (const { node, old } of sites) {
      this.notes.set(node, { kind: 'waiting', pod: old.pod.name, for: what });
    }
  }
}

function isUpdatedNode(site: Site): boolean {
  return site.placement === 'run' && !site.isTouched && site.state.kind === 'only-new';
}

function noteOutdated(sites: readonly Site[], draft: Draft): void {
  for (const { node, state } of sites) {
    if (state.kind !== 'only-old') continue;
    draft.notes.set(node, { kind: 'outdated', pod: state.old.pod.name });
  }
}

function planWithoutSurge(
  sites: readonly Site[],
  at: { readonly draft: Draft; readonly budget: RolloutBudget; readonly staging: Staging },
): Counted {
  const { draft, budget, staging } = at;
  if (staging.kind === 'staged') noteClosed(sites, draft, staging);
  const walk =
    staging.kind === 'staged'
      ? walkStages(sites, staging.stages)
      : walkWithoutSurge(sites, budget.maxUnavailable);
  draft.delete(walk.deletes, () => 'outdated');
  draft.wait(walk.waiting, 'unavailable');
  draft.hold(walk.refused);
  return {
    unavailableNodes: walk.unavailableCount,
    ...defined({ unavailable: walk.unavailable?.slice(0, BUDGET_NODES_MAX) }),
    surgingNodes: 0,
    waitingNodes: walk.waiting.length + walk.refused.length,
  };
}

/** Old pods of nodes whose step is not open wait for it. */
function noteClosed(
  sites: readonly Site[],
  draft: Draft,
  { stages }: Extract<Staging, { kind: 'staged' }>,
): void {
  for (const { node, nodeView, state, placement } of sites) {
    if (state.kind !== 'only-old' || placement !== 'run' || stages.open.has(node)) continue;
    const why = whyClosed(nodeView, stages.gate);
    draft.notes.set(node, { kind: 'waiting', pod: state.old.pod.name, for: why });
  }
}

function planWithSurge(
  found: readonly Site[],
  at: {
    readonly draft: Draft;
    readonly budget: RolloutBudget;
    readonly desiredNodes: number;
    readonly staging: Staging;
  },
): Counted {
  const { draft, budget, desiredNodes, staging } = at;
  if (staging.kind === 'staged') noteClosed(found, draft, staging);
  const sites = staging.kind === 'staged' ? closeSites(found, staging.stages) : found;
  const { compat } = draft.planning;
  const walk = walkWithSurge(sites, { maxSurge: budget.maxSurge, desiredNodes, compat });
  const counted = { unavailableNodes: 0, surgingNodes: walk.surgingCount };
  if (walk.stray !== undefined) {
    return { ...counted, waitingNodes: noteHeldUp(sites, draft, walk.stray) };
  }
  noteSurging(sites, draft);
  draft.delete(walk.deletes, ({ state }) => (state.kind === 'both' ? 'replaced' : 'vacated'));
  draft.delete(walk.vacated, () => 'vacated');
  draft.wait(walk.occupied, 'supply');
  draft.hold(walk.refused);
  for (const old of [...walk.creates, ...walk.repeats]) draft.create(old);
  let { room } = walk;
  const waiting: OldSite[] = [...walk.stale];
  for (const old of walk.candidates) {
    if (room === 0) waiting.push(old);
    else if (draft.create(old)) room -= 1;
  }
  draft.wait(waiting, 'surge');
  return { ...counted, waitingNodes: waiting.length + walk.occupied.length + walk.refused.length };
}

function noteSurging(sites: readonly Site[], draft: Draft): void {
  for (const { node, state } of sites) {
    if (state.kind !== 'both') continue;
    const [pod, name] = [state.old.pod.name, state.new.pod.name];
    draft.notes.set(node, { kind: 'surging', pod, name });
  }
}

/** Strict: no step at all while an outdated pod of a vanished node is there; answers who waits. */
function noteHeldUp(sites: readonly Site[], draft: Draft, stray: string): number {
  let waitingCount = 0;
  for (const { node, state, placement } of sites) {
    if (placement === 'vanished' || state.kind !== 'only-old') continue;
    waitingCount += 1;
    const pod = state.old.pod.name;
    draft.notes.set(node, { kind: 'held-up', pod, stray });
  }
  draft.untilMs.push(draft.planning.view.nowMs + STRAY_RETRY_MS);
  return waitingCount;
}
