/**
 * The taint eviction controller: deletes pods that do not tolerate their node's NoExecute taints, at once or when the
 * tolerated time is over; a taint that goes in time calls it off.
 *
 * Looks at a pod when it is bound, when its tolerations change, and when its node's NoExecute taints change. As upstream,
 * a deadline that is set stays, however the taints change after it, until the pod may stay.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Taint, Toleration } from '@rollcall/base/objects.ts';
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import { toleratesTaint } from '@rollcall/base/taints.ts';
import type { EventRecorder } from '../node-agent/shared/event-recorder.ts';
import { createEventRecorder } from '../node-agent/shared/event-recorder.ts';
import { isDeleted } from '../client/local-client.ts';
import type { ApiObject } from '../objects/api-object.ts';
import type { ControllerContext, RunningController } from './shared/controller-context.ts';
import { keyOf, nodeNameOf, viewNode, viewPod } from './shared/object-views.ts';
import { patchPodStatus, podRef } from './shared/patch-pod-status.ts';
import { createWorkQueue, DONE, RETRY } from './shared/work-queue.ts';
import type { WorkOutcome, WorkQueue } from './shared/work-queue.ts';

const WORKERS = 8;
const CONDITION = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
} as const;

/** Starts it. */
export function startTaintEviction(context: ControllerContext): RunningController {
  return new TaintEviction(context);
}

class TaintEviction {
  readonly #context: ControllerContext;
  readonly #record: EventRecorder;
  readonly #deletions: WorkQueue;
  /** Deadlines by pod UID. */
  readonly #deadlines = new Map<string, Cancel>();

  constructor(context: ControllerContext) {
    const { mirrors, client, clock, log } = context;
    this.#context = context;
    const component = 'taint-eviction-controller';
    this.#record = createEventRecorder({ client, clock, log, component });
    this.#deletions = createWorkQueue({
      name: 'taint-eviction',
      clock,
      log,
      workers: WORKERS,
      process: (key) => this.#delete(key),
    });
    mirrors.of('nodes').subscribe(({ type, object, previous }) => {
      if (type !== 'DELETED') this.#onNode(object, previous);
    });
    mirrors.of('pods').subscribe(({ type, object, previous }) => {
      if (type === 'DELETED') this.#callOff(object);
      else if (hasMoved(object, previous)) this.#onPod(object);
    });
  }

  readonly stop = async (): Promise<void> => {
    for (const cancel of this.#deadlines.values()) cancel();
    this.#deadlines.clear();
    await this.#deletions.stop();
  };

  #onNode(node: ApiObject, previous: ApiObject | undefined): void {
    const taints = executeTaints(node);
    if (previous !== undefined && isDeepStrictEqual(taints, executeTaints(previous))) return;
    if (taints.length === 0 && this.#deadlines.size === 0) return;
    for (const pod of this.#context.podsByNode.podsOn(node.metadata.name)) this.#judge(pod, taints);
  }

  #onPod(pod: ApiObject): void {
    const nodeName = nodeNameOf(pod);
    const node =
      nodeName === undefined ? undefined : this.#context.mirrors.of('nodes').get(nodeName);
    if (node === undefined) return;
    const taints = executeTaints(node);
    if (taints.length > 0) this.#judge(pod, taints);
  }

  #judge(pod: ApiObject, taints: readonly Taint[]): void {
    const { tolerations = [] } = viewPod(pod).spec;
    const { uid } = pod.metadata;
    const staysMs = toleratedMs(taints, tolerations);
    if (staysMs === Infinity || staysMs <= 0) this.#callOff(pod);
    if (staysMs <= 0) this.#deletions.add(keyWithUid(pod));
    if (staysMs === Infinity || staysMs <= 0 || this.#deadlines.has(uid)) return;
    const cancel = this.#context.clock.after(staysMs, () => {
      this.#deadlines.delete(uid);
      this.#deletions.add(keyWithUid(pod));
    });
    this.#deadlines.set(uid, cancel);
  }

  #callOff(pod: ApiObject): void {
    const { uid } = pod.metadata;
    const cancel = this.#deadlines.get(uid);
    if (cancel === undefined) return;
    cancel();
    this.#deadlines.delete(uid);
    this.#note(pod, `Cancelling deletion of Pod ${keyOf(pod)}`);
  }

  async #delete(key: string): Promise<WorkOutcome> {
    const { client, clock } = this.#context;
    const [namespace = '', name = '', uid = ''] = key.split('/');
    const found = await client.get({ resource: 'pods', namespace, name });
    if (found.kind === 'refused') return found.status.code === 404 ? DONE : RETRY;
    const pod = found.object;
    if (pod.metadata.uid !== uid) return DONE;
    this.#note(pod, `Marking for deletion Pod ${keyOf(pod)}`);
    const patched = await patchPodStatus(client, {
      pod,
      condition: CONDITION,
      nowMs: clock.nowMs(),
    });
    if (patched === 'failed') return RETRY;
    return isDeleted(await client.delete(podRef(pod), { uid })) ? DONE : RETRY;
  }

  #note(about: ApiObject, message: string): void {
    const reason = 'TaintManagerEviction';
    this.#record({ about, type: 'Normal', reason, message });
  }
}

/** The shortest time that a toleration names, of the first that fits each taint; 0: one taint is not tolerated at all. */
function toleratedMs(taints: readonly Taint[], tolerations: readonly Toleration[]): number {
  const seconds = taints.map((taint) => {
    const used = tolerations.find((toleration) => toleratesTaint(toleration, taint));
    return used === undefined ? 0 : (used.tolerationSeconds ?? Infinity);
  });
  return Math.min(Infinity, ...seconds) * 1000;
}

/** Bound just now, or with other tolerations. */
function hasMoved(pod: ApiObject, previous: ApiObject | undefined): boolean {
  if (previous === undefined || previous.metadata.uid !== pod.metadata.uid) return true;
  if (previous['spec'] === pod['spec']) return false;
  const before = viewPod(previous).spec;
  const after = viewPod(pod).spec;
  return (
    before.nodeName !== after.nodeName || !isDeepStrictEqual(before.tolerations, after.tolerations)
  );
}

function executeTaints(node: ApiObject): readonly Taint[] {
  return (viewNode(node).spec.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
}

function keyWithUid(pod: ApiObject): string {
  return `${keyOf(pod)}/${pod.metadata.uid}`;
}
