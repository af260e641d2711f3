/**
 * Makes Rollcall look at what a thaw let go: every key of the stack or of a cluster, or one DaemonSet in each cluster.
 *
 *   directory, a page at a time ─▶ registration ─▶ names, a page at a time ─▶ hints
 *
 * A thaw changes nothing in a cluster, so nothing else would hint the keys before resync does, within six hours. Clusters
 * that are only observed, or frozen by themselves, have nothing to do. What one cluster fails with holds up no other. It may be
 * repeated: hints are harmless. An abort leaves the rest to resync.
 */
import { pagesOf } from '@rollcall/base/pages.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { hintFor } from '../../core/model/hint.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { FreezeScope, StackScope } from '../../core/may-act/freeze.ts';
import type { HintQueue } from '../../ports/queues/queue.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';
import { wakeCluster } from '../clusters/wake-cluster.ts';

const CLUSTERS_PER_PAGE = 200;
const AT_ONCE = 8;

/** How far it is. */
export interface Woken {
  /** Clusters that were gone through, those without anything to do among them. */
  readonly clusters: number;
  readonly hints: number;
  /** Clusters whose keys could not be hinted, each with the reason. */
  readonly failed: readonly { readonly id: ClusterId; readonly reason: string }[];
  /** False: an abort came first. */
  readonly isWhole: boolean;
}

export interface WakeStackDependencies {
  readonly registry: Pick<RegistryStore, 'listClusters' | 'readCluster'>;
  readonly view: Pick<ViewStore, 'listNames' | 'readName'>;
  readonly hints: Pick<HintQueue, 'sendHints'>;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Called after each page of clusters. */
  readonly onPage: (far: Woken) => void;
}

/** Sends the hints. Rejects only when the directory cannot be read. */
export async function wakeScope(
  scope: FreezeScope,
  dependencies: WakeStackDependencies,
): Promise<Woken> {
  if (scope.kind !== 'cluster') return wakeStack(scope, dependencies);
  try {
    const registration = await dependencies.registry.readCluster(scope.id);
    const hints = registration === undefined ? 0 : await wakeCluster(registration, dependencies);
    return { clusters: 1, hints, failed: [], isWhole: true };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { clusters: 1, hints: 0, failed: [{ id: scope.id, reason }], isWhole: true };
  }
}

async function wakeStack(scope: StackScope, dependencies: WakeStackDependencies): Promise<Woken> {
  const { registry, signal, onPage } = dependencies;
  const failed: { id: ClusterId; reason: string }[] = [];
  let [clusters, hints] = [0, 0];
  const pages = pagesOf((from) => registry.listClusters({ limit: CLUSTERS_PER_PAGE, ...from }));
  for await (const page of pages) {
    await sideBySide(page.clusters, AT_ONCE, async (id) => {
      if (signal.aborted) return;
      try {
        hints += await wakeOne(id, scope, dependencies);
      } catch (error) {
        failed.push({ id, reason: error instanceof Error ? error.message : String(error) });
      }
      clusters += 1;
    });
    if (page.cursor !== undefined) onPage({ clusters, hints, failed, isWhole: false });
    if (signal.aborted) break;
  }
  return { clusters, hints, failed, isWhole: !signal.aborted };
}

async function wakeOne(
  id: ClusterId,
  scope: StackScope,
  dependencies: WakeStackDependencies,
): Promise<number> {
  const registration = await dependencies.registry.readCluster(id);
  if (registration === undefined || !mayAct(registration)) return 0;
  if (scope.kind === 'stack') return wakeCluster(registration, dependencies);
  const { view, hints, random } = dependencies;
  const { namespace, name } = scope;
  const found = await view.readName(registration.clusterUid, { namespace, name });
  if (found === undefined || found.uid === null) return 0;
  const hint = hintFor(registration, { namespace, name }, 'manual');
  await hints.sendHints([hint], `manual/${random.uniqueId()}/`);
  return 1;
}

function mayAct({ mode, isFrozen }: ClusterRegistration): boolean {
  return mode !== 'observe' && !isFrozen;
}
