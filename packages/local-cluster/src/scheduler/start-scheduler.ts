/**
 * The scheduler: binds each pending pod to a node, or says why it cannot.
 *
 * A loop around find-node.ts: one pod at a time, first come first served. Each decision counts at once, so a pod never
 * waits for an earlier pod's binding to be seen. Differs from Kubernetes: no order by priority in the queue, no pod
 * groups; no pod makes room for a more important one, and messages say nothing of that.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Status } from '../api/request/api-request.ts';
import type { LocalClient, Observation, ObservedChange } from '../client/local-client.ts';
import {
  isTerminal,
  keyOf,
  nodeNameOf,
  viewNode,
  viewPod,
} from '../controllers/shared/object-views.ts';
import { patchPodStatus, podRef } from '../controllers/shared/patch-pod-status.ts';
import { createWorkQueue, DONE } from '../controllers/shared/work-queue.ts';
import type { WorkOutcome, WorkQueue } from '../controllers/shared/work-queue.ts';
import { createEventRecorder } from '../node-agent/shared/event-recorder.ts';
import type { EventRecorder } from '../node-agent/shared/event-recorder.ts';
import type { ApiObject } from '../objects/api-object.ts';
import { ClusterState } from './cluster-state.ts';
import { findFailure, findNode, prepareSchedulingPod } from './find-node.ts';
import type { SchedulingPod } from './find-node.ts';

/** Times of kube-scheduler 1.36: back-off of a pod that found no node, and when it is tried again although nothing happened. */
const BACK_OFF_FIRST_MS = 1000;
const BACK_OFF_MAX_MS = 10_000;
const FLUSH_MS = 5 * 60_000;
const SCHEDULER_NAME = 'default-scheduler';

/** A pod that found no node. */
interface WaitingPod {
  readonly pod: SchedulingPod;
  readonly attempts: number;
  readonly readyAtMs: number;
}

/** What the scheduler runs on. */
export interface SchedulerOptions {
  readonly client: LocalClient;
  readonly clock: Clock;
  readonly log: Log;
}

/** Starts it; `stop` resolves when the pod in work is bound or refused. */
export function startScheduler(options: SchedulerOptions): { readonly stop: () => Promise<void> } {
  return new Scheduler(options);
}

class Scheduler {
  readonly #client: LocalClient;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #record: EventRecorder;
  readonly #cluster = new ClusterState();
  readonly #waiting = new Map<string, WaitingPod>();
  readonly #queue: WorkQueue;
  readonly #nodes: Observation;
  readonly #pods: Observation;
  readonly #ready: Promise<void>;

  constructor({ client, clock, log }: SchedulerOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#log = log.with({ component: SCHEDULER_NAME });
    this.#record = createEventRecorder({
      client,
      clock,
      log: this.#log,
      component: SCHEDULER_NAME,
    });
    this.#queue = createWorkQueue({
      name: 'scheduler',
      clock,
      log: this.#log,
      process: (key) => this.#schedule(key),
    });
    this.#nodes = client.observe({ resource: 'nodes' }, (change) => {
      this.#onNode(change);
    });
    this.#pods = client.observe({ resource: 'pods' }, (change) => {
      this.#onPod(change);
    });
    this.#ready = this.#learnNodes();
  }

  readonly stop = async (): Promise<void> => {
    this.#nodes.stop();
    this.#pods.stop();
    await this.#queue.stop();
  };

  /** No pod is judged before the nodes are known, whatever the order in which the watches begin. */
  async #learnNodes(): Promise<void> {
    for (const node of await this.#client.list({ resource: 'nodes' })) {
      if (this.#cluster.node(node.metadata.name) === undefined) this.#cluster.setNode(node);
    }
  }

  #onNode({ type, object, previous }: ObservedChange): void {
    const { name } = object.metadata;
    if (type === 'DELETED') {
      this.#cluster.removeNode(name);
      return;
    }
    if (previous !== undefined && !movesPlacement(previous, object)) return;
    this.#cluster.setNode(object);
    this.#wake(name);
  }

  #onPod({ type, object, previous }: ObservedChange): void {
    const key = keyOf(object);
    const nodeName = nodeNameOf(object);
    if (nodeName !== undefined) {
      this.#waiting.delete(key);
      const isOver = type === 'DELETED' || isTerminal(object);
      if (!isOver) this.#cluster.setPod(object);
      else if (this.#cluster.release(nodeName, object.metadata.uid)) {
        this.#wake(nodeName);
      }
      return;
    }
    if (type === 'DELETED') this.#waiting.delete(key);
    else if (isOurs(object) && !hasSameSpec(previous, object)) {
      this.#queue.add(key);
    }
  }

  /** The node has changed, or has more room: pods that it could take now are tried again, after their back-off. */
  #wake(nodeName: string): void {
    const node = this.#cluster.node(nodeName);
    if (node === undefined) return;
    for (const [key, { pod, readyAtMs }] of this.#waiting) {
      const isElsewhere = pod.pinnedTo?.has(nodeName) === false;
      if (isElsewhere || findFailure(pod, node) !== undefined) continue;
      const delayMs = readyAtMs - this.#clock.monotonicMs();
      if (delayMs <= 0) this.#queue.add(key);
      else this.#queue.addAfter(key, delayMs);
    }
  }

  #wait(key: string, pod: SchedulingPod): void {
    const attempts = (this.#waiting.get(key)?.attempts ?? 0) + 1;
    const backOffMs = Math.min(BACK_OFF_FIRST_MS * 2 ** (attempts - 1), BACK_OFF_MAX_MS);
    const readyAtMs = this.#clock.monotonicMs() + backOffMs;
    this.#waiting.set(key, { pod, attempts, readyAtMs });
  }

  async #schedule(key: string): Promise<WorkOutcome> {
    await this.#ready;
    const object = this.#podAt(key);
    if (object === undefined || nodeNameOf(object) !== undefined || !isOurs(object)) return DONE;
    const pod = prepareSchedulingPod(object);
    const search = findNode(pod, this.#cluster);
    if (search.kind === 'none') {
      this.#wait(key, pod);
      await this.#report(object, search.message);
      return { kind: 'later', delayMs: FLUSH_MS };
    }
    const { nodeName } = search;
    this.#cluster.assume(nodeName, pod);
    const refusal = await this.#bind(object, nodeName);
    if (refusal === undefined) {
      this.#waiting.delete(key);
      const message = `Successfully assigned ${key} to ${nodeName}`;
      this.#record({ about: object, type: 'Normal', reason: 'Scheduled', message });
      return DONE;
    }
    this.#cluster.release(nodeName, pod.uid);
    this.#wake(nodeName);
    // The pod is gone, another one, or bound already: nothing is left to do.
    if (refusal.code === 404 || refusal.code === 409) return DONE;
    const because = refusal.message ?? 'no reason given';
    this.#log.warn('a binding was refused', { pod: key, node: nodeName, because });
    return { kind: 'retry' };
  }

  /** POST pods/NAME/binding; the UID keeps a namesake from being bound. */
  async #bind(pod: ApiObject, nodeName: string): Promise<Status | undefined> {
    const { namespace, name, uid } = pod.metadata;
    const outcome = await this.#client.act(podRef(pod), 'binding', {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace: namespace ?? '', name, uid },
      target: { kind: 'Node', name: nodeName },
    });
    return outcome.kind === 'ok' ? undefined : outcome.status;
  }

  #podAt(key: string): ApiObject | undefined {
    const [namespace = '', name = ''] = key.split('/');
    return this.#pods.get(name, namespace);
  }

  /** Nothing is written when the pod says so already: an attempt that ends as the last one wakes no watcher. */
  async #report(pod: ApiObject, message: string): Promise<void> {
    this.#record({ about: pod, type: 'Warning', reason: 'FailedScheduling', message });
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' } as const;
    const nowMs = this.#clock.nowMs();
    await patchPodStatus(this.#client, { pod, condition: { ...condition, message }, nowMs });
  }
}

/** Can a node's change let a pod in? Heartbeats and images cannot: they come often and must not wake the scheduler. */
function movesPlacement(before: ApiObject, after: ApiObject): boolean {
  const left = viewNode(before);
  const right = viewNode(after);
  return (
    left.metadata.uid !== right.metadata.uid ||
    !isDeepStrictEqual(left.spec, right.spec) ||
    !isDeepStrictEqual(left.metadata.labels, right.metadata.labels) ||
    !isDeepStrictEqual(left.status.allocatable, right.status.allocatable)
  );
}

/** A pod's own status, which this scheduler writes too, must not wake it. */
function hasSameSpec(before: ApiObject | undefined, after: ApiObject): boolean {
  return (
    before !== undefined &&
    before.metadata.uid === after.metadata.uid &&
    (before['spec'] === after['spec'] || isDeepStrictEqual(before['spec'], after['spec']))
  );
}

/** Pending, ungated, and for this scheduler. */
function isOurs(pod: ApiObject): boolean {
  const { spec, metadata } = viewPod(pod);
  const gates = spec['schedulingGates'];
  return (
    (spec.schedulerName ?? SCHEDULER_NAME) === SCHEDULER_NAME &&
    metadata.deletionTimestamp === undefined &&
    !isTerminal(pod) &&
    !(Array.isArray(gates) && gates.length > 0)
  );
}
