/**
 * The scheduler: binds each pending pod to a node, or says why it cannot.
 *
 * A loop around find-node.ts: one pod at a time, first come first served. Each decision counts at once, so a pod never
 * waits for an earlier pod's binding to be seen. Differs from Kubernetes: no order by priority in the queue, no pod
 * groups; no pod makes room for a more important one.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { LocalClient, Observation, ObservedChange } from '../client/local-client.ts';
import { isTerminal, keyOf, nodeNameOf, viewPod } from '../controllers/shared/object-views.ts';
import { createWorkQueue, DONE } from '../controllers/shared/work-queue.ts';
import type { WorkOutcome, WorkQueue } from '../controllers/shared/work-queue.ts';
import { createEventRecorder } from '../node-agent/shared/event-recorder.ts';
import type { EventRecorder } from '../node-agent/shared/event-recorder.ts';
import type { ApiObject } from '../objects/api-object.ts';
import { bindPod } from './bind-pod.ts';
import { ClusterState } from './state/cluster-state.ts';
import { PODS_FLUSH_MS, SCHEDULER_NAME } from './constants.ts';
import { describeFailure } from './describe-failure.ts';
import { findNode } from './find-node.ts';
import { movesPlacement } from './moves-placement.ts';
import { reportUnschedulable } from './report-unschedulable.ts';
import { prepareSchedulingPod } from './state/scheduling-pod.ts';
import { WaitingPods } from './waiting-pods.ts';

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
  readonly #waiting = new WaitingPods();
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
      this.#waiting.forget(key);
      const isOver = type === 'DELETED' || isTerminal(object);
      if (!isOver) this.#cluster.setPod(object);
      else if (this.#cluster.release(nodeName, object.metadata.uid)) {
        this.#wake(nodeName);
      }
      return;
    }
    if (type === 'DELETED') this.#waiting.forget(key);
    else if (isOurs(object) && !hasSameSpec(previous, object)) {
      this.#queue.add(key);
    }
  }

  /** The node has changed, or has more room. */
  #wake(nodeName: string): void {
    const node = this.#cluster.node(nodeName);
    if (node === undefined) return;
    for (const { key, delayMs } of this.#waiting.dueFor(node, this.#clock.monotonicMs())) {
      if (delayMs === 0) this.#queue.add(key);
      else this.#queue.addAfter(key, delayMs);
    }
  }

  async #schedule(key: string): Promise<WorkOutcome> {
    await this.#ready;
    const object = this.#podAt(key);
    if (object === undefined || nodeNameOf(object) !== undefined || !isOurs(object)) return DONE;
    const pod = prepareSchedulingPod(object);
    const search = findNode(pod, this.#cluster);
    if (search.kind === 'none') {
      this.#waiting.add(pod, this.#clock.monotonicMs());
      await this.#report(object, describeFailure(search.failure));
      return { kind: 'later', delayMs: PODS_FLUSH_MS };
    }
    const { nodeName } = search;
    this.#cluster.assume(nodeName, pod);
    const binding = await bindPod(this.#client, { pod: object, nodeName });
    if (binding.kind === 'bound') {
      this.#waiting.forget(key);
      this.#record({
        about: object,
        type: 'Normal',
        reason: 'Scheduled',
        message: `Successfully assigned ${key} to ${nodeName}`,
      });
      return DONE;
    }
    this.#cluster.release(nodeName, pod.uid);
    this.#wake(nodeName);
    if (binding.kind === 'moot') return DONE;
    this.#log.warn('a binding was refused', { pod: key, node: nodeName, because: binding.message });
    return { kind: 'retry' };
  }

  #podAt(key: string): ApiObject | undefined {
    const [namespace = '', name = ''] = key.split('/');
    return this.#pods.get(name, namespace);
  }

  async #report(pod: ApiObject, message: string): Promise<void> {
    this.#record({ about: pod, type: 'Warning', reason: 'FailedScheduling', message });
    await reportUnschedulable(this.#client, {
      pod,
      message,
      nowMs: this.#clock.nowMs(),
    });
  }
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
