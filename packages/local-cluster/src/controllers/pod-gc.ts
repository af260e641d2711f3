/**
 * The pod garbage collector: ends pods that no node agent will end.
 *
 * Pods of a node that is gone (asked of the API server after 40 s), and terminating pods without a node. Differs from
 * Kubernetes: works on change instead of every 20 s; ended pods are kept however many, the out-of-service taint is not read.
 */
import { isDeleted } from '../client/local-client.ts';
import type { ApiObject } from '../objects/api-object.ts';
import type { ControllerContext, RunningController } from './shared/controller-context.ts';
import { isTerminal, keyOf, nodeNameOf } from './shared/object-views.ts';
import { patchPodStatus, podRef } from './shared/patch-pod-status.ts';
import { createWorkQueue, DONE, RETRY } from './shared/work-queue.ts';
import type { WorkOutcome } from './shared/work-queue.ts';

const ORPHAN_QUARANTINE_MS = 40_000;
const ORPHAN_CONDITION = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByPodGC',
  message: 'PodGC: node no longer exists',
} as const;

/** Starts it. */
export function startPodGc(context: ControllerContext): RunningController {
  const { mirrors, clock, log } = context;
  const goneNodes = createWorkQueue({
    name: 'pod-gc-orphans',
    clock,
    log,
    process: (nodeName) => endOrphans(context, nodeName),
  });
  const unbound = createWorkQueue({
    name: 'pod-gc-unscheduled',
    clock,
    log,
    process: (key) => endUnscheduled(context, key),
  });
  mirrors.of('nodes').subscribe(({ type, object: { metadata } }) => {
    if (type === 'DELETED') goneNodes.addAfter(metadata.name, ORPHAN_QUARANTINE_MS);
  });
  mirrors.of('pods').subscribe(({ type, object }) => {
    const nodeName = nodeNameOf(object);
    if (type === 'DELETED') return;
    if (nodeName === undefined) {
      if (object.metadata.deletionTimestamp !== undefined) unbound.add(keyOf(object));
    } else if (mirrors.of('nodes').get(nodeName) === undefined) {
      goneNodes.addAfter(nodeName, ORPHAN_QUARANTINE_MS);
    }
  });
  return {
    stop: async () => {
      await Promise.all([goneNodes.stop(), unbound.stop()]);
    },
  };
}

async function endOrphans(context: ControllerContext, nodeName: string): Promise<WorkOutcome> {
  const { mirrors, client, podsByNode } = context;
  const pods = podsByNode.podsOn(nodeName);
  if (pods.length === 0 || mirrors.of('nodes').get(nodeName) !== undefined) return DONE;
  const live = await client.get({ resource: 'nodes', name: nodeName });
  if (live.kind === 'ok') return DONE;
  if (live.status.code !== 404) return RETRY;
  let outcome = DONE;
  for (const pod of pods) {
    if (!(await forceDelete(context, { pod, condition: ORPHAN_CONDITION }))) outcome = RETRY;
  }
  return outcome;
}

async function endUnscheduled(context: ControllerContext, key: string): Promise<WorkOutcome> {
  const [namespace = '', name = ''] = key.split('/');
  const pod = context.mirrors.of('pods').get(name, namespace);
  if (pod?.metadata.deletionTimestamp === undefined || nodeNameOf(pod) !== undefined) return DONE;
  // What a finalizer holds stays, and is failed already.
  if (isTerminal(pod) && pod.metadata.deletionGracePeriodSeconds === 0) return DONE;
  return (await forceDelete(context, { pod })) ? DONE : RETRY;
}

/** Phase Failed, then deletion without grace. False when it must be tried again. */
async function forceDelete(
  { client, clock, log }: ControllerContext,
  of: { readonly pod: ApiObject; readonly condition?: typeof ORPHAN_CONDITION },
): Promise<boolean> {
  const { pod, condition } = of;
  log.info('a pod is deleted by force', { pod: keyOf(pod), node: nodeNameOf(pod) });
  if (!isTerminal(pod)) {
    const change = { pod, condition, phase: 'Failed', nowMs: clock.nowMs() } as const;
    const patched = await patchPodStatus(client, change);
    if (patched === 'absent') return true;
    if (patched === 'failed') return false;
  }
  const { uid } = pod.metadata;
  return isDeleted(await client.delete(podRef(pod), { gracePeriodSeconds: 0, uid }));
}
