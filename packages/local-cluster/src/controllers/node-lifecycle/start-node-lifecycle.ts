/**
 * The node lifecycle controller: conditions become taints, silent nodes become Unknown, their pods not ready.
 *
 * Works node by node, when the node changes and when its silence would become too long; a renewed Lease is only noted.
 * Decisions: node-health.ts, taints-of-conditions.ts, zones.ts, beta-labels.ts. Differs from Kubernetes: no monitoring
 * pass every five seconds, so conditions are acted upon at once; a pod that is bound to a node which is not ready is
 * not looked at (it has no condition Ready that could be wrong).
 */
import type { EventRecorder } from '../../node-agent/shared/pod-runtime.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { formatTime } from '../../objects/timestamps.ts';
import { createComponentRecorder, withoutVersion } from '../shared/component-recorder.ts';
import type { ControllerContext, RunningController } from '../shared/controller-context.ts';
import type { NodeView } from '../shared/object-views.ts';
import { conditionOf, viewNode } from '../shared/object-views.ts';
import { createWorkQueue, DONE, RETRY } from '../shared/work-queue.ts';
import type { WorkOutcome, WorkQueue } from '../shared/work-queue.ts';
import { planBetaLabels } from './beta-labels.ts';
import { markPodsNotReady } from './mark-pods-not-ready.ts';
import { observeNode, planUnknownConditions } from './node-health.ts';
import type { NodeHealth } from './node-health.ts';
import { lacksExecuteTaint, planTaints } from './taints-of-conditions.ts';
import type { ExecutePolicy } from './taints-of-conditions.ts';
import { Zones } from './zones.ts';

/** Defaults of kube-controller-manager 1.36. */
const NODE_MONITOR_GRACE_MS = 50_000;
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
  readonly #zones = new Zones();
  /** Nodes that went silent and whose pods are still to be marked. */
  readonly #podsToMark = new Set<string>();
  #wasFullyDisrupted = false;

  constructor(context: ControllerContext) {
    const { mirrors, client, clock, log } = context;
    this.#context = context;
    this.#record = createComponentRecorder({ client, clock, log, component: 'node-controller' });
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
      if (type === 'DELETED') this.#forget(object);
      else this.#onNode(object, previous);
    });
  }

  readonly stop = (): Promise<void> => this.#queue.stop();

  #onNode(object: ApiObject, previous: ApiObject | undefined): void {
    const { name, uid } = object.metadata;
    if (previous?.metadata.uid !== uid) {
      this.#note(object, 'RegisteredNode', `Registered Node ${name} in Controller`);
    }
    this.#observe(name);
    if (this.#zones.set(viewNode(object))) this.#onZoneState();
    this.#queue.add(name);
  }

  #forget(node: ApiObject): void {
    const { name } = node.metadata;
    this.#note(node, 'RemovingNode', `Removing Node ${name} from Controller`);
    this.#health.delete(name);
    this.#podsToMark.delete(name);
    if (this.#zones.remove(name)) this.#onZoneState();
  }

  /** Every node's NoExecute taint may be wanted, or unwanted, now. */
  #onZoneState(): void {
    const isFullyDisrupted = this.#zones.isFullyDisrupted;
    if (this.#wasFullyDisrupted && !isFullyDisrupted) this.#beginAnew();
    this.#wasFullyDisrupted = isFullyDisrupted;
    for (const { metadata } of this.#context.mirrors.of('nodes').list()) {
      this.#queue.add(metadata.name);
    }
  }

  /** After a time in which nobody was heard, everybody gets the whole grace again. */
  #beginAnew(): void {
    const nowMs = this.#context.clock.monotonicMs();
    for (const [name, health] of this.#health) {
      this.#health.set(name, { ...health, seenAtMs: nowMs });
    }
  }

  #observe(name: string): void {
    const { mirrors, clock } = this.#context;
    const node = mirrors.of('nodes').get(name);
    if (node === undefined) return;
    const lease = mirrors.of('leases.coordination.k8s.io').get(name, LEASE_NAMESPACE);
    const health = observeNode(this.#health.get(name), {
      node: viewNode(node),
      renewTime: renewTimeOf(lease),
      nowMs: clock.monotonicMs(),
    });
    this.#health.set(name, health);
  }

  async #look(name: string): Promise<WorkOutcome> {
    const object = this.#context.mirrors.of('nodes').get(name);
    const health = this.#health.get(name);
    if (object === undefined || health === undefined) return DONE;
    const node = viewNode(object);
    const silentInMs = this.#silentInMs(health);
    if (silentInMs <= 0 && !(await this.#declareSilent(object))) return RETRY;
    if (this.#podsToMark.has(name) && !(await this.#markPods(name))) return RETRY;
    const taints = await this.#syncTaints(object);
    if (taints.kind === 'retry' || !(await this.#syncLabels(node))) return RETRY;
    const delays = [
      ...(silentInMs > 0 ? [silentInMs] : []),
      ...(taints.kind === 'later' ? [taints.delayMs] : []),
    ];
    return delays.length === 0 ? DONE : { kind: 'later', delayMs: Math.min(...delays) };
  }

  #silentInMs({ seenAtMs, hasReady }: NodeHealth): number {
    const { settings, clock } = this.#context;
    const graceMs = hasReady
      ? (settings.nodeMonitorGraceMs ?? NODE_MONITOR_GRACE_MS)
      : (settings.nodeStartupGraceMs ?? NODE_STARTUP_GRACE_MS);
    // "Longer than the grace", so one millisecond more.
    return seenAtMs + graceMs + 1 - clock.monotonicMs();
  }

  /** False when it must be tried again. */
  async #declareSilent(object: ApiObject): Promise<boolean> {
    const { client, clock } = this.#context;
    const node = viewNode(object);
    const { name, uid, resourceVersion } = object.metadata;
    const conditions = planUnknownConditions(node, formatTime(clock.nowMs()));
    if (conditions.length === 0) return true;
    const wasReady = conditionOf(node.status.conditions, 'Ready')?.status === 'True';
    const outcome = await client.patch(
      { resource: 'nodes', name },
      {
        type: 'strategic',
        subresource: 'status',
        // The version is the fence: a node that spoke meanwhile is not silent.
        body: { metadata: { uid, resourceVersion }, status: { conditions } },
      },
    );
    if (outcome.kind === 'refused') return outcome.status.code === 404;
    if (wasReady) {
      this.#record({
        about: withoutVersion(object),
        type: 'Normal',
        reason: 'NodeNotReady',
        message: `Node ${name} status is now: NodeNotReady`,
      });
      this.#podsToMark.add(name);
    }
    return true;
  }

  async #markPods(name: string): Promise<boolean> {
    const { client, clock, podsByNode } = this.#context;
    const isMarked = await markPodsNotReady({
      client,
      record: this.#record,
      pods: podsByNode.podsOn(name),
      nowMs: clock.nowMs(),
    });
    if (isMarked) this.#podsToMark.delete(name);
    return isMarked;
  }

  async #syncTaints(object: ApiObject): Promise<WorkOutcome> {
    const { client, clock } = this.#context;
    // Written by ourselves a moment ago, perhaps: the newest state decides.
    const latest = this.#context.mirrors.of('nodes').get(object.metadata.name);
    if (latest === undefined) return DONE;
    const node = viewNode(latest);
    const { name, uid, resourceVersion } = latest.metadata;
    const { policy, delayMs } = this.#executePolicy(node);
    const taints = planTaints({ node, executePolicy: policy, nowText: formatTime(clock.nowMs()) });
    if (taints !== undefined) {
      const outcome = await client.patch(
        { resource: 'nodes', name },
        { type: 'merge', body: { metadata: { uid, resourceVersion }, spec: { taints } } },
      );
      if (outcome.kind === 'refused' && outcome.status.code !== 404) return RETRY;
    }
    return delayMs === undefined ? DONE : { kind: 'later', delayMs };
  }

  #executePolicy(node: NodeView): { readonly policy: ExecutePolicy; readonly delayMs?: number } {
    if (this.#zones.isFullyDisrupted) return { policy: 'clear' };
    if (!lacksExecuteTaint(node)) return { policy: 'follow' };
    const permission = this.#zones.take(node.metadata.name, this.#context.clock.monotonicMs());
    if (permission.kind === 'granted') return { policy: 'follow' };
    const { delayMs } = permission;
    return { policy: 'hold', ...(delayMs === undefined ? {} : { delayMs }) };
  }

  async #syncLabels(node: NodeView): Promise<boolean> {
    const labels = planBetaLabels(node);
    if (Object.keys(labels).length === 0) return true;
    const { name, uid } = node.metadata;
    const outcome = await this.#context.client.patch(
      { resource: 'nodes', name },
      { type: 'merge', body: { metadata: { uid, labels } } },
    );
    return outcome.kind === 'ok' || outcome.status.code === 404;
  }

  #note(about: ApiObject, reason: string, message: string): void {
    const text = `Node ${about.metadata.name} event: ${message}`;
    this.#record({ about: withoutVersion(about), type: 'Normal', reason, message: text });
  }
}

function renewTimeOf(lease: ApiObject | undefined): string | undefined {
  const spec = lease?.['spec'] as { readonly renewTime?: string } | undefined;
  return spec?.renewTime;
}
