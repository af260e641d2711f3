/**
 * Why is there (no) pod on this node? One verdict for each node of the cluster, made on request.
 *
 * The same view, judgement and plan as a run's, over what is stored: nothing is sent, recorded or read live. Runs store no
 * verdicts (ADR 0082), so what is told is as new as the view, also on nodes that concern no next run.
 * Assumes that META was read before state and DaemonSet (stored-inputs.ts). It never guesses: what a run would have to read
 * live to decide on (an opaque object, a malformed DaemonSet) is not told.
 */
import { defined } from '@rollcall/base/defined.ts';
import { rebaseState } from '../../core/intents/intents.ts';
import { isOpen } from '../../core/model/breaker.ts';
import type { Guard, Plan, PlanContext, StagingContext, View } from '../../core/model/plan.ts';
import type { ClusterMode } from '../../core/model/registration.ts';
import type { DaemonSetState } from '../../core/model/state.ts';
import type { Verdict } from '../../core/model/verdict.ts';
import { isUpdated, revisionHashOfPod, templateGenerationOf } from '../../core/pod/pod-facts.ts';
import { TOMBSTONE_KEPT_MS } from '../../core/pod/tombstones.ts';
import { planReconcile } from '../../core/plan/plan.ts';
import { guardOfOutage, standstillOf, type Outage } from '../../core/status/outages.ts';
import { copilotStanding, isStagedBy } from '../../core/may-act/opt-in.ts';
import { computeView } from '../../core/view/view.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { PolicyReader } from '../../ports/fleet-reader.ts';
import type { StateStore, ViewReader } from '../../ports/stores/view-store.ts';
import { guessHash, knownHistory } from '../reconcile/history/history.ts';
import { guardOfPause } from '../../core/status/status-writers.ts';
import { guardOfSubject } from '../../core/may-act/registration-guard.ts';
import { SENTINEL_MISSING, freshnessOf, judgeUnasked } from '../reconcile/confirm/guard.ts';
import type { ReconcileOptions } from '../reconcile/process/dependencies.ts';
import { BREAKER_OPEN, withoutWaitsAhead } from '../../core/retry/retry.ts';
import type { ProcessCache } from '../reconcile/process/process-cache.ts';
import { judgeDaemonSet } from '../reconcile/read/judge-daemon-set.ts';
import type { StoredInputs } from '../reconcile/read/stored-inputs.ts';
import { stagingOf } from '../reconcile/plan-step.ts';
import { readView, type ReadView } from '../reconcile/read/read-view.ts';
import type { ReconcileInput } from '../reconcile/run/context.ts';

/** What explaining reads from; `cache` shares the nodes among the DaemonSets that are asked for together. */
export interface ExplainSources {
  readonly view: ViewReader & Pick<StateStore, 'readState'>;
  readonly cache: ProcessCache;
  readonly options: ReconcileOptions;
  readonly policies: PolicyReader;
  readonly nowMs: number;
  /** What keeps runs away (standing.ts); absent: a run is taken to come. */
  readonly outages?: readonly Outage[];
}

/** The verdicts of one DaemonSet, in node order. Undefined and rejects as explainRollout does. */
export async function explainNodes(
  stored: StoredInputs,
  sources: ExplainSources,
): Promise<readonly Verdict[] | undefined> {
  return (await explainRollout(stored, sources))?.plan.verdicts();
}

/** A plan, and the nodes that it sees. */
export interface Explained {
  readonly plan: Plan;
  readonly seen: ObservedNodes;
  readonly nodes: View['nodes'];
}

/** Nodes of the cluster, as a plan sees them. */
export interface ObservedNodes {
  readonly nodes: number;
  /** Nodes that are not eligible, and have a pod or had one within the last ten minutes. */
  readonly formerNodes: number;
  /** Eligible nodes whose pod counts as updated by its template generation, and has the hash of another template. */
  readonly otherTemplateNodes: number;
}

/**
 * What a run of now would plan for one DaemonSet. Undefined: there is nothing to tell now, because no run looked at it yet, the view is being written or not whole, or only a live read could tell.
 * Rejects when the table fails.
 */
export async function explainRollout(
  stored: StoredInputs,
  sources: ExplainSources,
): Promise<Explained | undefined> {
  const prepared = await prepare(stored, sources);
  if (prepared === undefined) return undefined;
  const { context, input } = prepared;
  const { policies, options } = sources;
  const staging = stagingOf({ ...input, policies, options });
  const plan = planReconcile(input.view, { ...context, ...defined({ staging }) });
  const { nodes } = input.view;
  const told = isBudgetKnown(plan, input, staging) ? plan : withoutBudget(plan);
  return { plan: told, seen: nodesSeenIn(input.view, context.currentHash), nodes };
}

/** Where nothing may act, a plan has no stages: its budget is that of the strategy, not that of the policy. */
function isBudgetKnown(
  { stages }: Plan,
  { daemonSet, stored }: Prepared['input'],
  staging: StagingContext | undefined,
): boolean {
  const { mode } = stored.registration;
  const isStaged = staging !== undefined && isStagedBy(daemonSet, staging.reading, mode);
  return !isStaged || stages !== undefined;
}

function withoutBudget({ rollout: _ofStrategy, ...plan }: Plan): Plan {
  return plan;
}

function nodesSeenIn(view: View, hash: string | undefined): ObservedNodes {
  const { nodes, gone, nowMs } = view;
  const fromMs = nowMs - TOMBSTONE_KEPT_MS;
  const left = new Set(gone.flatMap(({ node, goneAtMs }) => (goneAtMs > fromMs ? [node] : [])));
  const former = nodes.filter(
    ({ node, placement, pods }) =>
      placement === 'leave' && (pods.length > 0 || left.has(node.name)),
  );
  const current = { hash, templateGeneration: templateGenerationOf(view.daemonSet) };
  const other = nodes.filter(
    ({ placement, pods: [pod] }) =>
      placement === 'run' &&
      pod !== undefined &&
      isUpdated(pod, current) &&
      revisionHashOfPod(pod) !== (hash ?? revisionHashOfPod(pod)),
  );
  return {
    nodes: nodes.length,
    formerNodes: former.length,
    otherTemplateNodes: other.length,
  };
}

/** What a plan is made of, but for its stages. */
export interface Prepared {
  readonly input: Pick<ReconcileInput, 'stored' | 'daemonSet' | 'view' | 'state' | 'nowMs'>;
  readonly read: ReadView;
  readonly context: Omit<PlanContext, 'staging'>;
}

/** What a run of now would plan with. Undefined and rejects as explainRollout does. */
export async function prepare(
  stored: StoredInputs,
  sources: ExplainSources,
): Promise<Prepared | undefined> {
  const { nowMs, options } = sources;
  if (stored.state === undefined) return undefined;
  const { namespace = '', name = '' } = stored.daemonSet.object?.metadata ?? {};
  const judged = await judgeDaemonSet(stored, { namespace, name }, () =>
    Promise.resolve(undefined),
  );
  if (judged.kind !== 'usable') return undefined;
  const { daemonSet } = judged;
  const found = await readView(stored, sources);
  if (found.kind !== 'read') return undefined;
  const { view: read } = found;
  if (read.opaque.some(({ of }) => of === 'Pod' || of === 'Node')) return undefined;
  const state = withoutWaitsAhead(rebaseState(stored.state, stored.meta.era, nowMs), nowMs);
  const { revisions: seen, nodes, pods, gone } = read;
  const { revisionsChanged } = stored.position;
  const known = knownHistory({ daemonSet, seen, revisionsChanged, known: state.history });
  const view = computeView({ daemonSet, nodes, pods, gone, revisions: seen, nowMs });
  const { requestTimeoutMs, burstPodsMax } = options;
  const { mode } = stored.registration;
  const context = {
    guard: await findGuard({ stored, daemonSet, state, sources }),
    mode,
    state,
    currentHash: known?.hash ?? guessUnlessAwaited(daemonSet, seen, mode),
    intents: judgeUnasked({ stored, state, read, nowMs }, { dependencies: { options } }),
    requestTimeoutMs,
    burstPodsMax,
  };
  return { input: { stored, daemonSet, view, state, nowMs }, read, context };
}

/** In copilot the built-in controller may still be about to make the revision: nothing is outdated until it is known. */
function guessUnlessAwaited(
  daemonSet: DaemonSetObject,
  seen: Parameters<typeof guessHash>[1],
  mode: ClusterMode,
): string | undefined {
  const isAwaited = mode === 'copilot' && copilotStanding(daemonSet) === 'followed';
  return isAwaited ? undefined : guessHash(daemonSet, seen);
}

interface GuardInput {
  readonly stored: StoredInputs;
  readonly daemonSet: DaemonSetObject;
  readonly state: DaemonSetState;
  readonly sources: ExplainSources;
}

/**
 * What keeps a run from acting, as far as stored reads tell; the gravest first, as a run meets it. `daemonSet` may be one that
 * is only thought of.
 */
export async function findGuard({ stored, daemonSet, state, sources }: GuardInput): Promise<Guard> {
  const { nowMs, options } = sources;
  const kept = guardOfStandstill(stored, sources);
  if (kept !== undefined) return kept;
  const registered = guardOfSet({ stored, daemonSet, state, sources });
  const context = { dependencies: { options } };
  const freshness = freshnessOf({ stored, state, nowMs }, context, {
    unseenCount: 0,
    hasWork: true,
  });
  const doubt = freshness.kind === 'defer' ? freshness.guard : undefined;
  if (doubt?.code === 'view-incomplete') return doubt;
  if (registered.kind !== 'act') return registered;
  if (await isSentinelMissing(stored, sources)) return SENTINEL_MISSING;
  if (isOpen(stored.meta.breaker, nowMs)) return UNAVAILABLE['cluster-unavailable'];
  return UNAVAILABLE[state.retry?.code ?? ''] ?? doubt ?? registered;
}

function guardOfSet({ stored, daemonSet, state, sources: { nowMs } }: GuardInput): Guard {
  const { registration, frozen } = stored;
  const registered = guardOfSubject(registration, daemonSet, frozen);
  if (registered.kind !== 'act') return registered;
  return guardOfPause(state.paused, registration, nowMs) ?? registered;
}

/** Where Rollcall only looks, that is said of what it would do. */
function guardOfStandstill(
  { registration: { mode } }: StoredInputs,
  { outages = [] }: ExplainSources,
): Guard | undefined {
  const standstill = mode === 'observe' ? undefined : standstillOf(outages, mode);
  return standstill && guardOfOutage(standstill);
}

async function isSentinelMissing(
  { registration, ref }: StoredInputs,
  { view }: ExplainSources,
): Promise<boolean> {
  const { mode, sentinel } = registration;
  if (mode !== 'takeover' || sentinel === undefined) return false;
  const seen = await view.readDaemonSet({ clusterUid: ref.clusterUid, uid: sentinel.uid });
  return seen === undefined || seen.object === null;
}

function unavailable(code: 'cluster-unavailable' | 'no-access', message: string): Guard {
  return { kind: 'status-only', code, message };
}

const SILENT = unavailable(
  'cluster-unavailable',
  'The API server of the cluster does not answer; it is tried again by itself.',
);

/** Guards by the code of a key's back-off: what keeps every request from being sent (L3). */
const UNAVAILABLE: Readonly<Record<string, Guard | undefined>> & {
  readonly 'cluster-unavailable': Guard;
} = {
  'cluster-unavailable': SILENT,
  [BREAKER_OPEN]: SILENT,
  'no-access': unavailable(
    'no-access',
    'The cluster lets Rollcall in with no credential that it has; rollcall cluster doctor says why.',
  ),
};
