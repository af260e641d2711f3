/**
 * An observer for worlds of thousands of nodes: S1 and S3 from each commit alone, whatever stands elsewhere.
 *
 * The ordinary one looks at every pod at every commit, which grows with the square of a world. This one keeps what it heard,
 * and assumes a simple world: one DaemonSet without surge or minReadySeconds, nodes that do not change, and nobody who
 * deletes pods but us. What else the ordinary one judges is judged as ever.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { nodeOf } from '../simulated-cluster.ts';
import type { Commit, SimulatedApiServer } from './api-server.ts';
import type { AvailabilityAudit } from './availability-audit.ts';
import { Observer } from './observer.ts';

/** Observes one wide world. */
export class WideObserver extends Observer {
  /** How many nodes may be without an available pod because of us. */
  unavailableMax = 0;
  /** The most that were. */
  mostUnavailable = 0;
  /** Pods that were made, and those that were deleted. */
  made = 0;
  deleted = 0;
  /** Pod objects by node, by UID. */
  readonly #onNode = new Map<string, Map<string, KubernetesObject>>();
  /** Nodes of which we deleted the available pod, and that have none yet. */
  readonly #lost = new Set<string>();

  override watchApi(api: SimulatedApiServer, clock: Clock): AvailabilityAudit {
    api.subscribe((commit) => {
      if (commit?.kind === 'pods') this.#note(commit);
    });
    return super.watchApi(api, clock);
  }

  protected override looksAtEverything(): boolean {
    return false;
  }

  #note({ type, object }: Commit): void {
    const node = nodeOf(object) ?? '?';
    const { uid, name } = object.metadata;
    const here = this.#onNode.get(node) ?? new Map<string, KubernetesObject>();
    this.#onNode.set(node, here);
    const before = here.get(uid);
    if (type === 'deleted') here.delete(uid);
    else here.set(uid, object);
    if (before === undefined) this.made += 1;
    if (here.size > 1) this.report(`S1: ${String(here.size)} pods on ${node}, one is ${name}`);
    if (isAvailable(object)) this.#lost.delete(node);
    if (!isEnding(object) || before === undefined || isEnding(before)) return;
    this.deleted += 1;
    if (isAvailable(before)) this.#lose(node, name);
  }

  #lose(node: string, name: string): void {
    this.#lost.add(node);
    this.mostUnavailable = Math.max(this.mostUnavailable, this.#lost.size);
    if (this.#lost.size <= this.unavailableMax) return;
    const count = `${String(this.#lost.size)} of ${String(this.unavailableMax)}`;
    this.report(`S3: ${name} on ${node} deleted as number ${count}`);
  }
}

function isEnding({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function isAvailable(pod: KubernetesObject): boolean {
  const { conditions = [] } = (pod['status'] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  return isReady && !isEnding(pod);
}
