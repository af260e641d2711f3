/**
 * What the embedded engine knows about its clusters right now, for a table, a JSON document and the
 * question whether everything has settled.
 *
 * Reads what the functions read, through the same ports. Counters of DESIRED … AVAILABLE are those of the
 * status that the watcher last sent, as `kubectl get daemonsets` shows them; the sentinel is left out.
 */
import type { ClusterId, ClusterUid } from '../core/model/identifiers.ts';
import type { DaemonSetStatus } from '@rollcall/base/objects.ts';
import type { NameItem } from '../core/model/view-items.ts';
import type { NodeCode, Verdict } from '../core/model/verdict.ts';
import { defined } from '@rollcall/base/defined.ts';
import { hasSentinelName } from '../core/takeover/takeover-sentinel.ts';
import { namePages } from '../app/clusters/name-pages.ts';
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
  /** Effects that were recorded and are not resolved. */
  readonly openIntents: number;
  /** True when the last run saw everything and had nothing left to do. */
  readonly isComplete: boolean;
  /** When it will be looked at again, milliseconds since 1970. */
  readonly dueAtMs?: number;
}

/** One cluster. */
export interface ClusterOverview {
  readonly cluster: string;
  readonly clusterUid: string;
  readonly mode: string;
  readonly isFrozen: boolean;
  /** True when the view is known to be whole. */
  readonly isViewComplete: boolean;
  readonly incompleteReason?: string;
  readonly daemonSets: readonly DaemonSetOverview[];
}

/** What `readOverview` reads from. */
export interface OverviewSources {
  readonly registry: RegistryStore;
  readonly view: ViewStore;
}

const NAMES_PER_PAGE = 100;

/** Reads one cluster; undefined when it is not registered. Rejects when a table fails. */
export async function readOverview(
  id: ClusterId,
  sources: OverviewSources,
): Promise<ClusterOverview | undefined> {
  const registration = await sources.registry.readCluster(id);
  if (registration === undefined) return undefined;
  const meta = await sources.view.readMeta(registration.clusterUid);
  const daemonSets: DaemonSetOverview[] = [];
  for await (const item of eachName(registration.clusterUid, sources.view)) {
    if (hasSentinelName(item)) continue;
    const overview = await readDaemonSet(registration.clusterUid, item, sources.view);
    if (overview !== undefined) daemonSets.push(overview);
  }
  return {
    cluster: registration.id,
    clusterUid: registration.clusterUid,
    mode: registration.mode,
    isFrozen: registration.isFrozen,
    isViewComplete: meta?.isComplete === true && !meta.isCutOpen,
    ...defined({ incompleteReason: meta?.incompleteReason }),
    daemonSets,
  };
}

async function* eachName(cluster: ClusterUid, view: ViewStore): AsyncGenerator<NameItem> {
  for await (const names of namePages(view, cluster, { limit: NAMES_PER_PAGE })) yield* names;
}

async function readDaemonSet(
  cluster: ClusterUid,
  item: NameItem,
  view: ViewStore,
): Promise<DaemonSetOverview | undefined> {
  if (item.uid === null) return undefined;
  const ref = { clusterUid: cluster, uid: item.uid };
  const [daemonSet, state, verdicts] = await Promise.all([
    view.readDaemonSet(ref),
    view.readState(ref),
    view.readVerdicts(ref),
  ]);
  const object = daemonSet?.object ?? undefined;
  if (object === undefined) return undefined;
  return {
    namespace: item.namespace,
    name: item.name,
    uid: item.uid,
    generation: object.metadata.generation ?? 0,
    ...readCounters(object.status),
    codes: countCodes(verdicts ?? []),
    openIntents: state?.intents.length ?? 0,
    isComplete: state?.memo !== undefined,
    ...defined({ dueAtMs: state?.dueAtMs }),
  };
}

/** An absent counter is zero, as Kubernetes leaves it out. */
function readCounters(
  status: DaemonSetStatus | undefined,
): Pick<
  DaemonSetOverview,
  'observedGeneration' | 'desired' | 'current' | 'ready' | 'upToDate' | 'available' | 'misscheduled'
> {
  const count = (name: keyof DaemonSetStatus): number => {
    const value = status?.[name];
    return typeof value === 'number' ? value : 0;
  };
  return {
    observedGeneration: count('observedGeneration'),
    desired: count('desiredNumberScheduled'),
    current: count('currentNumberScheduled'),
    ready: count('numberReady'),
    upToDate: count('updatedNumberScheduled'),
    available: count('numberAvailable'),
    misscheduled: count('numberMisscheduled'),
  };
}

function countCodes(verdicts: readonly Verdict[]): Partial<Record<NodeCode, number>> {
  const counts: Partial<Record<NodeCode, number>> = {};
  for (const verdict of verdicts) counts[verdict.code] = (counts[verdict.code] ?? 0) + 1;
  return counts;
}
