/**
 * S19 from outside: a start-up taint goes from a node only once each DaemonSet that the node waits for had a pod Ready there, and
 * nothing else of the node goes with it.
 *
 * A node waits for the DaemonSets that counted and belonged there when it joined, for as long as they do: which of the others a view
 * knew is not told here. It knows the commits of the API server and placement as the specification has it; nothing of the code.
 */
import type { DaemonSetObject, KubernetesObject, Taint } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { projectLiveNode } from '../../../src/core/projections/project.ts';
import { referencePlacement } from '../reference-placement.ts';
import { controllerUid } from '../simulated-objects.ts';
import type { Commit, SimulatedApiServer } from './api-server.ts';

/** The taint of every world that has one. */
export const START_UP_TAINT: Taint = { key: 'example.com/agents-not-ready', effect: 'NoSchedule' };

const LABEL = 'rollcall.dev/start-up';

interface Watched {
  /** UIDs of DaemonSets that it waits for. */
  readonly owed: Set<string>;
  /** Those that had a pod Ready there. */
  readonly served: Set<string>;
  /** Since when all of them serve. */
  servedAtMs: number | undefined;
}

/** Watches the nodes of one API server. */
export class StartUpAudit {
  /** How long after the last Ready each taint was removed, in milliseconds of virtual time. */
  readonly delaysMs: number[] = [];
  counts: 'labelled' | 'all' = 'labelled';
  readonly #api: SimulatedApiServer;
  readonly #clock: Clock;
  readonly #report: (text: string) => void;
  readonly #nodes = new Map<string, Watched>();

  constructor(api: SimulatedApiServer, clock: Clock, report: (text: string) => void) {
    this.#api = api;
    this.#clock = clock;
    this.#report = report;
    api.subscribe((commit) => {
      if (commit === undefined) this.#nodes.clear();
      else this.#note(commit);
    });
  }

  /** The functions are about to change a node. */
  judge(before: KubernetesObject, after: KubernetesObject): void {
    const { name } = before.metadata;
    const left = JSON.stringify(withTaints(before, taintsOf(before).filter(isOther)));
    if (left !== JSON.stringify(withTaints(after, taintsOf(after)))) {
      this.#report(`S19: more than the start-up taint of ${name} would change`);
    }
    this.judgeServed(before);
  }

  /** A node is about to be released, by the removal or by the condition. */
  judgeServed({ metadata: { name, uid } }: KubernetesObject): void {
    const watched = this.#nodes.get(uid);
    if (watched === undefined) return;
    const missing = [...watched.owed].filter((set) => !watched.served.has(set));
    if (missing.length > 0) {
      this.#report(`S19: ${name} is released before ${missing.join(', ')} served there`);
    }
    if (watched.servedAtMs !== undefined) {
      this.delaysMs.push(this.#clock.monotonicMs() - watched.servedAtMs);
    }
  }

  /** All has settled: no node has the taint that has no reason to. */
  judgeEnd(): void {
    for (const node of this.#api.list('nodes')) {
      const watched = this.#nodes.get(node.metadata.uid);
      if (watched?.servedAtMs === undefined) continue;
      this.#report(`S19: ${node.metadata.name} keeps its start-up taint though all serve there`);
    }
  }

  #note({ kind, type, object }: Commit): void {
    if (kind === 'nodes') this.#noteNode(type, object);
    else if (kind === 'daemonsets') this.#noteSet(object, type === 'deleted');
    else if (kind === 'pods' && type !== 'deleted') this.#notePod(object);
  }

  #noteNode(type: Commit['type'], node: KubernetesObject): void {
    const { uid } = node.metadata;
    if (type === 'deleted' || taintsOf(node).every(isOther)) {
      this.#nodes.delete(uid);
      return;
    }
    const owing = this.#api.list('daemonsets').filter((set) => this.#isOwed(set, node));
    const uids = new Set(owing.map(({ metadata }) => metadata.uid));
    const known = this.#nodes.get(uid);
    if (known === undefined) {
      this.#nodes.set(uid, { owed: uids, served: new Set(), servedAtMs: undefined });
      return;
    }
    for (const set of known.owed) if (!uids.has(set)) known.owed.delete(set);
    this.#noteServed(known);
  }

  #noteSet(set: KubernetesObject, isGone: boolean): void {
    const nodes = new Map(this.#api.list('nodes').map((node) => [node.metadata.uid, node]));
    for (const [uid, watched] of this.#nodes) {
      if (!watched.owed.has(set.metadata.uid)) continue;
      const node = nodes.get(uid);
      if (!isGone && node !== undefined && this.#isOwed(set, node)) continue;
      watched.owed.delete(set.metadata.uid);
      this.#noteServed(watched);
    }
  }

  /** Of a pod that is older than the node nobody knows on which machine it was Ready. */
  #notePod(pod: KubernetesObject): void {
    const { nodeName = '' } = pod['spec'] as { readonly nodeName?: string };
    const node = this.#api.find('nodes', nodeName);
    const watched = this.#nodes.get(node?.metadata.uid ?? '');
    const owner = controllerUid(pod);
    if (node === undefined || watched === undefined || owner === undefined) return;
    const [born = '', joined = ''] = [pod, node].map(({ metadata }) => metadata.creationTimestamp);
    if (!isReady(pod) || born < joined || watched.served.has(owner)) return;
    watched.served.add(owner);
    this.#noteServed(watched);
  }

  #noteServed(watched: Watched): void {
    if (watched.servedAtMs !== undefined || watched.owed.size === 0) return;
    const isServed = [...watched.owed].every((set) => watched.served.has(set));
    if (isServed) watched.servedAtMs = this.#clock.monotonicMs();
  }

  #isOwed(set: KubernetesObject, node: KubernetesObject): boolean {
    const { labels = {}, deletionTimestamp } = set.metadata;
    const isLabelled = labels[LABEL] === 'true';
    if (deletionTimestamp !== undefined || (this.counts === 'labelled' && !isLabelled))
      return false;
    const spec = (set as DaemonSetObject).spec.template.spec ?? {};
    const seen = projectLiveNode(node);
    const bare = { ...seen, taints: seen.taints.filter(isOther) };
    return (
      referencePlacement(spec, bare) === 'run' &&
      (this.counts === 'labelled' || referencePlacement(spec, seen) === 'run')
    );
  }
}

function isOther({ key, effect }: Taint): boolean {
  return key !== START_UP_TAINT.key || effect !== START_UP_TAINT.effect;
}

function taintsOf(node: KubernetesObject): readonly Taint[] {
  return (node['spec'] as { readonly taints?: readonly Taint[] } | undefined)?.taints ?? [];
}

function withTaints(node: KubernetesObject, taints: readonly Taint[]): object {
  return { ...node, spec: { ...(node['spec'] as object), taints } };
}

function isReady(pod: KubernetesObject): boolean {
  const { conditions = [] } = (pod['status'] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
