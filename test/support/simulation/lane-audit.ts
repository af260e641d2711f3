/**
 * S15 from outside: of the DaemonSets under a policy no two are down on one node at once through deletes of ours.
 *
 * Down is a DaemonSet on a node from the moment at which a delete of ours takes a live pod from where it belongs until one of
 * its pods is ready there again, or the node is gone: one that comes under its name is another. Judged when a delete takes effect,
 * by the commits of the API server alone.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { controllerUid } from '../simulated-objects.ts';
import type { SimulatedApiServer } from './api-server.ts';
import { phaseOf } from './controllers.ts';
import { placementOf } from './oracle.ts';
import { readyOf } from './staged-pods.ts';

/** Watches one cluster. */
export class LaneAudit {
  /** Deletes that were judged beside another DaemonSet under a policy. */
  judged = 0;
  readonly #api: SimulatedApiServer;
  readonly #report: (text: string) => void;
  /** Names of nodes on which a DaemonSet is down, by its UID. */
  readonly #down = new Map<string, Set<string>>();

  constructor(api: SimulatedApiServer, report: (text: string) => void) {
    this.#api = api;
    this.#report = report;
    api.subscribe((commit) => {
      if (commit === undefined) this.#down.clear();
      else if (commit.kind === 'pods' && commit.type !== 'deleted') this.#noteReady(commit.object);
      else if (commit.kind === 'nodes' && commit.type === 'deleted') this.#noteGone(commit.object);
    });
  }

  /** A delete of ours is about to take effect. */
  judge(victim: KubernetesObject): void {
    const sets = this.#api.list('daemonsets').filter(isUnderPolicy);
    const set = sets.find(({ metadata }) => metadata.uid === controllerUid(victim));
    const node = this.#api.find('nodes', nodeOf(victim) ?? '');
    if (set === undefined || node === undefined || !this.#isReplacement(victim, set, node)) return;
    const { name } = node.metadata;
    const others = sets.filter((other) => other !== set && placementOf(other, node) === 'run');
    if (others.length > 0) this.judged += 1;
    const down = others.filter(({ metadata }) => this.#down.get(metadata.uid)?.has(name) === true);
    for (const { metadata } of down) {
      this.#report(
        `S15: ${victim.metadata.name} goes from ${name}, where ${metadata.name} is down`,
      );
    }
    const own = this.#down.get(set.metadata.uid) ?? new Set();
    this.#down.set(set.metadata.uid, own.add(name));
  }

  /** A live pod, the only one there, where it belongs. */
  #isReplacement(victim: KubernetesObject, set: KubernetesObject, node: KubernetesObject): boolean {
    const { uid, deletionTimestamp } = victim.metadata;
    if (deletionTimestamp !== undefined || isTerminal(victim)) return false;
    if (placementOf(set, node) !== 'run') return false;
    return !this.#api
      .list('pods')
      .some(
        (pod) =>
          pod.metadata.uid !== uid &&
          controllerUid(pod) === set.metadata.uid &&
          nodeOf(pod) === node.metadata.name &&
          !isTerminal(pod),
      );
  }

  #noteGone({ metadata }: KubernetesObject): void {
    for (const nodes of this.#down.values()) nodes.delete(metadata.name);
  }

  #noteReady(pod: KubernetesObject): void {
    if (readyOf(pod)?.status !== 'True' || pod.metadata.deletionTimestamp !== undefined) return;
    this.#down.get(controllerUid(pod) ?? '')?.delete(nodeOf(pod) ?? '');
  }
}

function isUnderPolicy({ metadata }: KubernetesObject): boolean {
  return metadata.annotations?.['rollcall.dev/rollout'] !== undefined;
}

function isTerminal(pod: KubernetesObject): boolean {
  return ['Succeeded', 'Failed'].includes(phaseOf(pod));
}
