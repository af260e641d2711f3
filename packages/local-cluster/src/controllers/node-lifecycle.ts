/**
 * The node lifecycle controller: conditions become taints, silent nodes become Unknown, their pods not ready.
 *
 * Works node by node, when the node changes and when its silence would become too long; a renewed Lease is only noted.
 * Differs from Kubernetes: conditions are acted upon at once, also by NoExecute taints, however many nodes of a zone fail.
 */
import type { EventRecorder } from '../node-agent/shared/event-recorder.ts';
import { createEventRecorder } from '../node-agent/shared/event-recorder.ts';
import type { ApiObject } from '../objects/api-object.ts';
import { formatTime } from '../objects/timestamps.ts';
import { observeNode, planUnknownConditions } from './node-health.ts';
import type { NodeHealth } from './node-health.ts';
import { planTaints } from './node-taints.ts';
import type { ControllerContext, RunningController } from './shared/controller-context.ts';
import { conditionOf, viewNode, viewPod } from './shared/object-views.ts';
import { patchPodStatus } from './shared/patch-pod-status.ts';
import { createWorkQueue, DONE, RETRY } from './shared/work-queue.ts';
import type { WorkOutcome, WorkQueue } from './shared/work-queue.ts';

const NODE_MONITOR_GRACE_MS = 50_000;
/** The same for a node that never posted a status. */
const NODE_STARTUP_GRACE_MS = 60_000;
const LEASE_NAMESPACE = 'kube-node-lease';
const WORKERS = 8;

/** Starts it. */
export function startNodeLifecycle(context: ControllerContext): RunningController {
  return new NodeLifecycle(context);
}

class NodeLifecycle {
  readonly #context: ControllerContext;
  readonly #queue: WorkQueue;
  readonly #record: EventRecorder;
  readonly #health = new Map<string, NodeHealth>();
  /** Nodes that went silent and whose pods are still to be marked. */
  readonly #podsToMark = new Set<string>();

  constructor(context: ControllerContext) {
    const { mirrors, client, clock, log } = context;
    this.#context = context;
    this.#record = createEventRecorder({ client, clock, log, component: 'node-controller' });
    this.#queue = createWorkQueue({
      name: 'node-lifecycle',
      clock,
      log,
      workers: WORKERS,
      process: (name) => this.#look(name),
    });
    mirrors.of('leases.coordination.k8s.io').subscribe(({ object }) => {
      if (object.metadata.namespace === LEASE_NAMESPACE) this.#observe(object.metadata.name);
    });
    mirrors.of('nodes').subscribe(({ type, object, previous }) => {
      const { name, uid } = object.metadata;
      if (type === 'DELETED') {
        this.#note(object, 'RemovingNode', `Removing Node ${name} from Controller`);
        this.#health.delete(name);
        this.#podsToMark.delete(name);
        return;
      }
      if (previous?.metadata.uid !== uid) {
        this.#note(object, 'RegisteredNode', `Registered Node ${name} in Controller`);
      }
      this.#observe(name);
      this.#queue.add(name);
    });
  }

  readonly stop = (): Promise<void> => this.#queue.stop();

  #observe(name: string): void {
    const { mirrors, clock } = this.#context;
    const node = mirrors.of('nodes').get(name);
    if (node === undefined) return;
    const lease = mirrors.of('leases.coordination.k8s.io').get(name, LEASE_NAMESPACE);
    const spec = lease?.['spec'] as { readonly renewTime?: string } | undefined;
    const health = observeNode(this.#health.get(name), {
      node: viewNode(node),
      renewTime: spec?.renewTime,
      nowMs: clock.monotonicMs(),
    });
    this.#health.set(name, health);
  }

  async #look(name: string): Promise<WorkOutcome> {
    const object = this.#context.mirrors.of('nodes').get(name);
    const health = this.#health.get(name);
    if (object === undefined || health === undefined) return DONE;
    const silentInMs = this.#silentInMs(health);
    if (silentInMs <= 0 && !(await this.#declareSilent(object))) return RETRY;
    if (this.#podsToMark.has(name) && !(await this.#markPods(name))) return RETRY;
    if (!(await this.#syncTaints(name))) return RETRY;
    return silentInMs > 0 ? { kind: 'later', delayMs: silentInMs } : DONE;
  }

  #silentInMs({ seenAtMs, hasReady }: NodeHealth): number {
    const graceMs = hasReady ? NODE_MONITOR_GRACE_MS : NODE_STARTUP_GRACE_MS;
    // "Longer than the grace", so one millisecond more.
    return seenAtMs + graceMs + 1 - this.#context.clock.monotonicMs();
  }

  /** False when it must be tried again. */
  async #declareSilent(object: ApiObject): Promise<boolean> {
    const { client, clock } = this.#context;
    const node = viewNode(object);
    const { name, uid, resourceVersion } = object.metadata;
    const conditions = planUnknownConditions(node, formatTime(clock.nowMs()));
    if (conditions.length === 0) return true;
    const wasReady = conditionOf(node.status.conditions, 'Ready')?.status === 'True';
    // The version is the fence: a node that spoke meanwhile is not silent.
    const body = { metadata: { uid, resourceVersion }, status: { conditions } };
    const patch = { type: 'strategic', subresource: 'status', body } as const;
    const outcome = await client.patch({ resource: 'nodes', name }, patch);
    if (outcome.kind === 'refused') return outcome.status.code === 404;
    if (!wasReady) return true;
    const reason = 'NodeNotReady';
    const message = `Node ${name} status is now: NodeNotReady`;
    this.#record({ about: object, type: 'Normal', reason, message });
    this.#podsToMark.add(name);
    return true;
  }

  /** Whether its pods are ready is not known now. */
  async #markPods(nodeName: string): Promise<boolean> {
    const { client, clock, podsByNode } = this.#context;
    let isComplete = true;
    for (const pod of podsByNode.podsOn(nodeName)) {
      const ready = conditionOf(viewPod(pod).status.conditions, 'Ready');
      if (ready === undefined || ready.status === 'False') continue;
      const condition = { type: 'Ready', status: 'False' } as const;
      const result = await patchPodStatus(client, { pod, condition, nowMs: clock.nowMs() });
      if (result === 'failed') isComplete = false;
      if (result !== 'written') continue;
      const message = 'Node is not ready';
      this.#record({ about: pod, type: 'Warning', reason: 'NodeNotReady', message });
    }
    if (isComplete) this.#podsToMark.delete(nodeName);
    return isComplete;
  }

  async #syncTaints(nodeName: string): Promise<boolean> {
    const { client, clock, mirrors } = this.#context;
    // Written by ourselves a moment ago, perhaps: the newest state decides.
    const latest = mirrors.of('nodes').get(nodeName);
    if (latest === undefined) return true;
    const taints = planTaints(viewNode(latest), formatTime(clock.nowMs()));
    if (taints === undefined) return true;
    const { name, uid, resourceVersion } = latest.metadata;
    const body = { metadata: { uid, resourceVersion }, spec: { taints } };
    const outcome = await client.patch({ resource: 'nodes', name }, { type: 'merge', body });
    return outcome.kind === 'ok' || outcome.status.code === 404;
  }

  #note(about: ApiObject, reason: string, message: string): void {
    const text = `Node ${about.metadata.name} event: ${message}`;
    this.#record({ about, type: 'Normal', reason, message: text });
  }
}
