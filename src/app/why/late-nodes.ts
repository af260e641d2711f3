/**
 * Nodes of a cluster that joined longer ago than the bound and have their start-up taint, by the stored view: what `status` and `why` tell.
 *
 * Reads tables alone, and nothing of a cluster without the setting; its nodes, and the rest only where one of them is late.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { NodeProjection } from '../../core/model/projections.ts';
import type { ClusterRegistration, StartUp } from '../../core/model/registration.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import { nodesStartingUp, startUpDone } from '../../core/start-up/start-up-done.ts';
import type { LateNodes } from '../../core/start-up/start-up-words.ts';
import { guardOfRegistration } from '../../core/may-act/registration-guard.ts';
import type { StandingFreeze } from '../../core/may-act/freeze.ts';
import { readNodes } from '../reconcile/read/read-view.ts';
import type { Readers } from '../reconcile/read/load-set.ts';
import { readStartUpPods, readStartUpSets } from '../reconcile/read/start-up-sets.ts';

export interface LateQuestion {
  readonly registration: ClusterRegistration;
  readonly meta: ClusterMeta;
  /** Of the whole stack; absent: there is none. */
  readonly frozen?: StandingFreeze;
}

/** Undefined: none is late, or nothing can be told now. Rejects when a table fails. */
export async function findLateNodes(
  { registration, meta, frozen }: LateQuestion,
  sources: Readers & { readonly nowMs: number },
): Promise<LateNodes | undefined> {
  const { startUp, clusterUid } = registration;
  if (startUp === undefined || !meta.isComplete) return undefined;
  const read = await readNodes({ ref: { clusterUid }, meta }, sources);
  if (read.kind !== 'whole') return undefined;
  const nodes = read.objects.filter((object): object is NodeProjection => object.kind === 'Node');
  const late = nodesStartingUp(nodes, startUp).filter((node) => isLate(node, startUp, sources));
  if (late.length === 0) return undefined;
  const sets = await readStartUpSets(clusterUid, startUp, sources);
  const known = await Promise.all(
    sets.map(async (each) => ({
      set: each.set,
      pods: await readStartUpPods(each, { meta }, sources),
    })),
  );
  const guard = guardOfRegistration(registration, frozen);
  return {
    startUp,
    nodes: late.map((node) => ({ node: node.name, decision: startUpDone(node, known, startUp) })),
    ...defined({ held: guard.kind === 'act' ? undefined : guard.message }),
  };
}

function isLate(
  { createdAtMs = 0 }: NodeProjection,
  { waitBoundMs }: StartUp,
  { nowMs }: { readonly nowMs: number },
): boolean {
  return nowMs - createdAtMs > waitBoundMs;
}
