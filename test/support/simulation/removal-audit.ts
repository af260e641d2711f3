/**
 * S14 from outside: of a DaemonSet without a policy no more than the share goes from nodes that changed, unless confirmed.
 *
 * Judged when a delete of ours takes effect, by the commits of the API server alone: nodes that exist, that its nodeSelector
 * does not select any more, and from which a delete of ours took a pod within ten minutes, against all that had a pod. Only
 * where an old view cannot excuse it: enough pods for as long as a view may be old, and no edit of the placement since.
 * It knows nothing of records, tombstones and settling.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { controllerUid } from '../simulated-objects.ts';
import type { SimulatedApiServer } from './api-server.ts';
import { phaseOf } from './controllers.ts';

const WINDOW_MS = 600_000;
/** How old a view may be, and the life of a run that read it (node-audit.ts). */
const OLD_MS = 17 * 60_000;
/** An edit may go on for as long, and what it took counts for one window more. */
const EDITED_MS = OLD_MS + WINDOW_MS;
/** What was confirmed may go on for as long. */
const CONFIRMED_MS = 3_600_000 + OLD_MS;
const PODS_MIN = 10;
const SHARE = 0.2;

interface SetRecord {
  placement: string;
  confirmed: string | undefined;
  editedAtMs: number;
  confirmedAtMs: number;
  /** When it last had fewer pods than the removal guard looks at. */
  smallAtMs: number;
  /** The most pods that it had, lately. */
  readonly sizes: { readonly atMs: number; readonly pods: number }[];
  /** When a delete of ours last took a pod from a node. */
  readonly taken: Map<string, number>;
}

/** Watches one cluster. */
export class ShrinkAudit {
  /** Deletes that were judged: none means that a test looked at nothing. */
  judged = 0;
  readonly #api: SimulatedApiServer;
  readonly #clock: Clock;
  readonly #report: (text: string) => void;
  readonly #sets = new Map<string, SetRecord>();

  constructor(api: SimulatedApiServer, clock: Clock, report: (text: string) => void) {
    this.#api = api;
    this.#clock = clock;
    this.#report = report;
    api.subscribe((commit) => {
      if (commit === undefined) this.#sets.clear();
      else if (['daemonsets', 'nodes', 'pods'].includes(commit.kind)) this.#look();
    });
  }

  /** A delete of ours is about to take effect. */
  judge(victim: KubernetesObject): void {
    const set = this.#api
      .list('daemonsets')
      .find(({ metadata }) => metadata.uid === controllerUid(victim));
    const node = this.#api.find('nodes', nodeOf(victim) ?? '');
    const record = set === undefined ? undefined : this.#sets.get(set.metadata.uid);
    if (set === undefined || node === undefined || record === undefined) return;
    if (isSelected(set, node)) return;
    const nowMs = this.#clock.monotonicMs();
    record.taken.set(node.metadata.name, nowMs);
    const isExcused =
      nowMs - record.smallAtMs <= OLD_MS ||
      nowMs - record.editedAtMs <= EDITED_MS ||
      nowMs - record.confirmedAtMs <= CONFIRMED_MS;
    if (isExcused) return;
    this.judged += 1;
    const taken = this.#takenNow(set, record).size;
    const most = Math.max(...record.sizes.map(({ pods }) => pods));
    if (taken <= SHARE * most) return;
    this.#report(
      `S14: ${victim.metadata.name} goes as number ${taken} of ${most} within ten minutes`,
    );
  }

  /** Nodes that lost their pod to us within the window, and still are not selected. */
  #takenNow(set: KubernetesObject, { taken }: SetRecord): ReadonlySet<string> {
    const sinceMs = this.#clock.monotonicMs() - WINDOW_MS;
    const there = this.#api.list('nodes').filter((node) => !isSelected(set, node));
    const names = there.map(({ metadata }) => metadata.name);
    return new Set(names.filter((name) => (taken.get(name) ?? -Infinity) > sinceMs));
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const set of this.#api.list('daemonsets')) this.#lookAt(set, nowMs);
  }

  #lookAt(set: KubernetesObject, nowMs: number): void {
    const { uid, annotations = {} } = set.metadata;
    const placement = JSON.stringify(podSpecOf(set));
    const confirmed = annotations['rollcall.dev/confirm-removal'];
    const record: SetRecord = this.#sets.get(uid) ?? {
      placement,
      confirmed,
      editedAtMs: -Infinity,
      confirmedAtMs: -Infinity,
      smallAtMs: nowMs,
      sizes: [],
      taken: new Map(),
    };
    this.#sets.set(uid, record);
    if (record.placement !== placement) Object.assign(record, { placement, editedAtMs: nowMs });
    if (record.confirmed !== confirmed) Object.assign(record, { confirmed, confirmedAtMs: nowMs });
    const standing = this.#api
      .list('pods')
      .filter((pod) => controllerUid(pod) === uid && isLive(pod));
    const nodes = new Set(this.#api.list('nodes').map(({ metadata }) => metadata.name));
    const places = new Set(
      standing.map((pod) => nodeOf(pod) ?? '').filter((name) => nodes.has(name)),
    );
    for (const name of this.#takenNow(set, record)) places.add(name);
    if (places.size < PODS_MIN) record.smallAtMs = nowMs;
    while ((record.sizes[0]?.atMs ?? nowMs) < nowMs - OLD_MS) record.sizes.shift();
    record.sizes.push({ atMs: nowMs, pods: places.size });
  }
}

function isLive(pod: KubernetesObject): boolean {
  const isTerminal = ['Succeeded', 'Failed'].includes(phaseOf(pod));
  return pod.metadata.deletionTimestamp === undefined && !isTerminal;
}

interface Placing {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: unknown;
}

function podSpecOf(set: KubernetesObject): Placing {
  const { template } = set['spec'] as { readonly template: { readonly spec: Placing } };
  const { nodeSelector, tolerations } = template.spec;
  return { ...(nodeSelector === undefined ? {} : { nodeSelector }), tolerations };
}

function isSelected(set: KubernetesObject, node: KubernetesObject): boolean {
  const { nodeSelector = {} } = podSpecOf(set);
  const labels = node.metadata.labels ?? {};
  return Object.entries(nodeSelector).every(([key, value]) => labels[key] === value);
}
