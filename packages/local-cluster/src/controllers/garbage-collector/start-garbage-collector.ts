/**
 * The garbage collector: deletes what has lost all its owners, finishes foreground deletions, orphans on request.
 *
 * A loop around owner-graph.ts (where to look) and attempt-to-delete.ts (what to do). Every served resource but events
 * is watched. Work is triggered by changes alone; retries are for refused requests.
 */
import type { ControllerContext, RunningController } from '../shared/controller-context.ts';
import { refOf } from '../shared/known-resources.ts';
import { createWorkQueue, DONE, RETRY } from '../shared/work-queue.ts';
import type { WorkOutcome, WorkQueue } from '../shared/work-queue.ts';
import { attemptToDelete } from './attempt-to-delete.ts';
import { dropOwners, removeFinalizer } from './collection-requests.ts';
import { ORPHAN_FINALIZER } from './finalizers.ts';
import { OwnerGraph } from './owner-graph.ts';
import type { GraphWork } from './owner-graph.ts';

/** Objects looked at in parallel, as kube-controller-manager's --concurrent-gc-syncs. */
const WORKERS = 20;

/** Starts it. */
export function startGarbageCollector(context: ControllerContext): RunningController {
  const { mirrors, kinds, clock, log } = context;
  const graph = new OwnerGraph((kind) => kinds.ofKind(kind)?.isNamespaced ?? true);
  const deletions: WorkQueue = createWorkQueue({
    name: 'garbage-collector',
    clock,
    log,
    workers: WORKERS,
    process: async (uid) => {
      const node = graph.node(uid);
      if (node === undefined) return DONE;
      const { coordinates } = node;
      const result = await attemptToDelete(context, node);
      if (result.kind === 'retry') return RETRY;
      if (result.kind === 'blocked') {
        for (const { coordinates: dependent } of result.by) deletions.add(dependent.uid);
      }
      if (result.kind === 'absent') {
        enqueue(graph.confirmAbsent(coordinates));
        // Somebody claims it to be elsewhere.
        if (graph.node(uid)?.isVirtual === true) return RETRY;
      }
      return DONE;
    },
  });
  const orphanings = createWorkQueue({
    name: 'garbage-collector-orphans',
    clock,
    log,
    workers: WORKERS,
    process: (uid) => orphanDependents({ context, graph }, uid),
  });
  const enqueue = ({ toDelete, toOrphan }: GraphWork): void => {
    for (const uid of toDelete) deletions.add(uid);
    for (const uid of toOrphan) orphanings.add(uid);
  };
  kinds.onServed(({ resource }) => {
    if (resource === 'events') return;
    mirrors.of(resource).subscribe((change) => {
      enqueue(graph.observe(change));
    });
  });
  return {
    stop: async () => {
      await Promise.all([deletions.stop(), orphanings.stop()]);
    },
  };
}

async function orphanDependents(
  of: { readonly context: ControllerContext; readonly graph: OwnerGraph },
  uid: string,
): Promise<WorkOutcome> {
  const { client, kinds } = of.context;
  const owner = of.graph.node(uid);
  const ownerKind = owner === undefined ? undefined : kinds.ofKind(owner.coordinates);
  if (owner === undefined || ownerKind === undefined) return DONE;
  for (const { coordinates } of [...owner.dependents]) {
    const known = kinds.ofKind(coordinates);
    if (known === undefined) continue;
    const ref = refOf(known, coordinates);
    const result = await dropOwners(client, {
      ref,
      dependentUid: coordinates.uid,
      ownerUids: [uid],
    });
    if (result === 'failed') return RETRY;
  }
  const ref = refOf(ownerKind, owner.coordinates);
  const result = await removeFinalizer(client, { ref, uid, finalizer: ORPHAN_FINALIZER });
  return result === 'failed' ? RETRY : DONE;
}
