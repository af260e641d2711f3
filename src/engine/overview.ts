/**
 * What the embedded engine knows about its clusters right now, for a table, a JSON document and the
 * question whether everything has settled.
 *
 * Reads what the functions read, through the same ports; verdicts are made here, by the plan of a run (explain.ts). Counters of DESIRED … AVAILABLE are those of the
 * status that the watcher last sent, as `kubectl get daemonsets` shows them; the sentinel is left out.
 */
import { readPolicyOf } from '../core/may-act/opt-in.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { missedSinceMs, outagesOfCluster, readStanding } from '../app/why/standing.ts';
import type { Outage } from '../core/status/outages.ts';
import { explainRollout, type ObservedNodes } from '../app/why/explain.ts';
import { defaultReconcileOptions } from '../app/reconcile/process/dependencies.ts';
import { createProcessCache, type ProcessCache } from '../app/reconcile/process/process-cache.ts';
import { readPosition, type StoredInputs } from '../app/reconcile/read/stored-inputs.ts';
import { isOpen } from '../core/model/breaker.ts';
import type { ClusterId, ClusterUid, Uid } from '../core/model/identifiers.ts';
import type { DaemonSetStatus } from '@rollcall/base/objects.ts';
import type { ClusterRegistration } from '../core/model/registration.ts';
import { generationsOf } from '../core/rollout/pod-counts.ts';
import type { HeldRemoval } from '../core/model/state.ts';
import { toldObject, type ClusterMeta, type NameItem } from '../core/model/view-items.ts';
import type { StagedProgress } from '../core/model/staged-progress.ts';
import type { NodeCode } from '../core/model/verdict.ts';
import { countCodes } from '../core/status/verdicts.ts';
import { defined } from '@rollcall/base/defined.ts';
import { standingFreeze, type Freeze, type StandingFreeze } from '../core/may-act/freeze.ts';
import { freezeInForce } from '../core/may-act/registration-guard.ts';
import { hasSentinelName } from '../core/may-act/takeover-sentinel.ts';
import { shownBudget, stagedStatus } from '../app/rollout/rollout-status.ts';
import type { ShownBudget, StagedStatus } from '../app/rollout/rollout-status.ts';
import { namePages } from '../app/clusters/read-registry.ts';
import { createPolicyReader } from '../adapters/policy/policy-reader.ts';
import type { FreezeStore } from '../ports/stores/freeze-store.ts';
import type { RegistryStore } from '../ports/stores/registry-store.ts';
import type { ViewStore } from '../ports/stores/view-store.ts';

/** One DaemonSet of one cluster. */
export interface DaemonSetOverview {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly observedGeneration: number;
  readonly desired: number;
  readonly current: number;
  readonly ready: number;
  readonly upToDate: number;
  readonly available: number;
  readonly misscheduled: number;
  /** How many nodes have each verdict code. */
  readonly codes: Readonly<Partial<Record<NodeCode, number>>>;
  /** Nodes as a plan of now sees them; absent: none can be told. */
  readonly seen?: ObservedNodes;
  /** Effects that were recorded and are not resolved. */
  readonly openIntents: number;
  /** True when the last run saw everything and had nothing left to do. */
  readonly isComplete: boolean;
  /** When it will be looked at again, milliseconds since 1970. */
  readonly dueAtMs?: number;
  /** How its staged rollout stands; absent: no policy asks for stages, or none has begun. */
  readonly rollout?: Pick<
    StagedStatus,
    'phase' | 'summary' | 'revision' | 'gate' | 'evidence' | 'strays' | 'breach'
  > & { readonly budget?: ShownBudget };
  /** A removal of pods that waits for an operator to confirm it; outside of takeover it is only reported. */
  readonly removal?: HeldRemoval;
  /** Since when a run should have come and did not. */
  readonly missedSinceMs?: number;
  /** By name, in every cluster; absent: it is not, whatever its cluster is. */
  readonly frozen?: StandingFreeze;
}

/** One cluster. */
export interface ClusterOverview {
  readonly cluster: string;
  readonly clusterUid: string;
  readonly mode: string;
  readonly isFrozen: boolean;
  /** By whom and why, with the whole stack or by itself; absent: it is not frozen. */
  readonly frozen?: StandingFreeze;
  /** True when the view is known to be whole. */
  readonly isViewComplete: boolean;
  readonly incompleteReason?: string;
  /** What makes it untrue, beside a freeze; the gravest first. */
  readonly outages: readonly Outage[];
  readonly daemonSets: readonly DaemonSetOverview[];
}

export interface OverviewSources {
  readonly registry: RegistryStore;
  readonly freezes: Pick<FreezeStore, 'readFreeze' | 'readStop'>;
  readonly view: ViewStore;
  readonly clock: Clock;
}

const NAMES_PER_PAGE = 100;
/** Codes are counted anew after this long, although nothing that they rest on has changed: time alone changes a few. */
const COUNTED_FOR_MS = 300_000;

interface Counted {
  /** What the codes rest on, as one text. */
  readonly text: string;
  readonly atMs: number;
  readonly codes: DaemonSetOverview['codes'];
  readonly stages?: StagedProgress;
  readonly seen: ObservedNodes;
  readonly budget?: ShownBudget;
}

/** Overviews of clusters; remembers counted codes, so that a table that is drawn each second costs small reads. */
export class Overviews {
  readonly #sources: OverviewSources;
  readonly #policies = createPolicyReader();
  /** By cluster and UID; of the DaemonSets that the last overview of the cluster showed. */
  readonly #counted = new Map<ClusterId, ReadonlyMap<Uid, Counted>>();

  constructor(sources: OverviewSources) {
    this.#sources = sources;
  }

  /** Reads one cluster; undefined when it is not registered. Rejects when a table fails. */
  async read(id: ClusterId): Promise<ClusterOverview | undefined> {
    const { registry, freezes, view, clock } = this.#sources;
    const [registration, freeze, standing] = await Promise.all([
      registry.readCluster(id),
      freezes.readFreeze(),
      readStanding(this.#sources),
    ]);
    if (registration === undefined) return undefined;
    const meta = await view.readMeta(registration.clusterUid);
    const daemonSets = await this.#readDaemonSets(registration, freeze, meta);
    const frozen = freezeInForce(registration, freeze.all && { scope: 'stack', note: freeze.all });
    const missed = daemonSets.flatMap(({ missedSinceMs: since }) => since ?? []);
    const question = { meta, nowMs: clock.nowMs(), standing, missed };
    return {
      cluster: registration.id,
      clusterUid: registration.clusterUid,
      mode: registration.mode,
      isFrozen: frozen !== undefined,
      ...defined({ frozen }),
      isViewComplete: meta?.isComplete === true && !meta.isCutOpen,
      ...defined({ incompleteReason: meta?.incompleteReason }),
      outages: outagesOfCluster(registration, question).filter(({ code }) => code !== 'frozen'),
      daemonSets,
    };
  }

  async #readDaemonSets(
    registration: ClusterRegistration,
    freeze: Freeze,
    meta: ClusterMeta | undefined,
  ): Promise<readonly DaemonSetOverview[]> {
    const { view, clock } = this.#sources;
    const daemonSets: DaemonSetOverview[] = [];
    const counted = new Map<Uid, Counted>();
    const cache = createProcessCache();
    for await (const item of eachName(registration.clusterUid, view)) {
      if (hasSentinelName(item) || item.uid === null) continue;
      const ref = { clusterUid: registration.clusterUid, uid: item.uid };
      const [state, daemonSet, position] = await Promise.all([
        view.readState(ref),
        view.readDaemonSet(ref),
        readPosition(meta ?? {}, ref, view),
      ]);
      if (daemonSet === undefined) continue;
      const frozen = defined({ frozen: standingFreeze(freeze, item) });
      const stored = { registration, ...frozen, meta, ref, daemonSet, state, position };
      const codes = meta === undefined ? undefined : await this.#count({ ...stored, meta }, cache);
      if (codes !== undefined) counted.set(item.uid, codes);
      const rollout = this.#rolloutOf(stored, codes);
      const overview = overviewOf(item, { ...stored, counted: codes, rollout });
      const sinceMs = meta && missedSinceMs({ ...stored, meta }, clock.nowMs());
      if (overview === undefined) continue;
      daemonSets.push({ ...overview, ...defined({ missedSinceMs: sinceMs }) });
    }
    this.#counted.set(registration.id, counted);
    return daemonSets;
  }

  /** Those of before while they still hold, or while nothing can be told. */
  async #count(stored: StoredInputs, cache: ProcessCache): Promise<Counted | undefined> {
    const { view, clock } = this.#sources;
    const nowMs = clock.nowMs();
    const text = textOf(stored, nowMs);
    const former = this.#counted.get(stored.registration.id)?.get(stored.ref.uid);
    if (former?.text === text && nowMs - former.atMs < COUNTED_FOR_MS) return former;
    const policies = this.#policies;
    const sources = { view, cache, policies, options: defaultReconcileOptions, nowMs };
    const explained = await explainRollout(stored, sources);
    if (explained === undefined) return former;
    const { plan, seen } = explained;
    const verdicts = plan.verdicts();
    return {
      text,
      atMs: nowMs,
      codes: countCodes(verdicts),
      seen,
      ...defined({
        stages: plan.stages,
        budget: shownBudget(plan, verdicts),
      }),
    };
  }

  #rolloutOf(
    { registration, daemonSet, state }: Pick<StoredInputs, 'registration' | 'daemonSet' | 'state'>,
    counted: Counted | undefined,
  ): DaemonSetOverview['rollout'] {
    const { stages, seen, budget } = counted ?? {};
    const policy = readPolicyOf(toldObject(daemonSet), this.#policies);
    const nowMs = this.#sources.clock.nowMs();
    const source = { registration, daemonSet, state, policy, stages, seen };
    const status = stagedStatus(source, nowMs);
    if (status === undefined) return undefined;
    const { phase, summary, revision, gate, evidence, strays, breach } = status;
    return {
      ...{ phase, summary, revision, gate, evidence },
      ...defined({ strays, breach, budget }),
    };
  }
}

function overviewOf(
  { namespace, name }: NameItem,
  of: Pick<StoredInputs, 'ref' | 'frozen' | 'daemonSet' | 'state'> & {
    readonly counted: Counted | undefined;
    readonly rollout: DaemonSetOverview['rollout'];
  },
): DaemonSetOverview | undefined {
  const { ref, frozen, daemonSet, state, counted, rollout } = of;
  const object = toldObject(daemonSet);
  if (object === null) return undefined;
  const { codes = {}, seen } = counted ?? {};
  const removal = state?.shrink?.held;
  return {
    namespace,
    name,
    uid: ref.uid,
    ...generationsOf(object),
    ...readCounters(object.status),
    codes,
    openIntents: state?.intents.length ?? 0,
    isComplete: state?.memo !== undefined,
    ...defined({ dueAtMs: state?.dueAtMs, seen, rollout, removal }),
    ...(frozen?.scope === 'daemon-set' ? { frozen } : {}),
  };
}

/** What verdicts rest on: versions and stamps, and the breaker. */
function textOf(stored: StoredInputs, nowMs: number): string {
  const { registration, frozen, meta, daemonSet, position, state } = stored;
  const { podsChanged, revisionsChanged } = position;
  return [
    registration.configVersion,
    registration.rival?.seenAtMs ?? 0,
    JSON.stringify(frozen ?? {}),
    meta.isComplete,
    meta.isCutOpen,
    meta.nodesChanged,
    isOpen(meta.breaker, nowMs),
    daemonSet.stamp,
    podsChanged,
    revisionsChanged,
    state?.version ?? 0,
  ].join(' ');
}

async function* eachName(cluster: ClusterUid, view: ViewStore): AsyncGenerator<NameItem> {
  for await (const names of namePages(view, cluster, { limit: NAMES_PER_PAGE })) yield* names;
}

/** An absent counter is zero, as Kubernetes leaves it out. */
function readCounters(status: DaemonSetStatus | undefined) {
  const count = (name: keyof DaemonSetStatus): number => {
    const value = status?.[name];
    return typeof value === 'number' ? value : 0;
  };
  return {
    desired: count('desiredNumberScheduled'),
    current: count('currentNumberScheduled'),
    ready: count('numberReady'),
    upToDate: count('updatedNumberScheduled'),
    available: count('numberAvailable'),
    misscheduled: count('numberMisscheduled'),
  };
}
