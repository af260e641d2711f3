/**
 * How fast nodes may be given NoExecute taints: by the state of their zone.
 *
 * Normal zone: one node in ten seconds. Disrupted zone (at least three nodes and 55 % not ready): one in a hundred
 * seconds if the zone has more than 50 nodes, else none. No zone with a ready node: none at all, and those that are
 * there come off. Rates and thresholds are kube-controller-manager's defaults. Differs from Kubernetes: states are
 * computed when something changes instead of every five seconds.
 */
import type { NodeView } from '../shared/object-views.ts';
import { conditionOf } from '../shared/object-views.ts';

const NORMAL_PERIOD_MS = 10_000;
const DISRUPTED_PERIOD_MS = 100_000;
const DISRUPTED_MIN = 3;
const DISRUPTED_SHARE = 0.55;
const LARGE_ZONE_NODES = 50;

/** State of a zone. */
export type ZoneState = 'normal' | 'partial' | 'full';

/** May a node be tainted now? */
export type TaintPermission =
  | { readonly kind: 'granted' }
  /** Ask again then; undefined: when the zone's state changes. */
  | { readonly kind: 'wait'; readonly delayMs?: number };

interface Zone {
  readonly ready: Set<string>;
  readonly notReady: Set<string>;
  nextAtMs: number;
}

/** The zone of a node, by its topology labels. */
function zoneOf(node: NodeView): string {
  const { labels = {} } = node.metadata;
  const region = labels['topology.kubernetes.io/region'] ?? '';
  return `${region}:${labels['topology.kubernetes.io/zone'] ?? ''}`;
}

/** State by the number of nodes. */
export function zoneState(of: { readonly ready: number; readonly notReady: number }): ZoneState {
  if (of.ready === 0 && of.notReady > 0) return 'full';
  const isDisrupted =
    of.notReady >= DISRUPTED_MIN && of.notReady / (of.notReady + of.ready) >= DISRUPTED_SHARE;
  return isDisrupted ? 'partial' : 'normal';
}

/** The zones of a cluster. */
export class Zones {
  readonly #zones = new Map<string, Zone>();
  readonly #zoneOfNode = new Map<string, string>();

  /** Takes a node's state in; true when the state of a zone has changed by it. */
  set(node: NodeView): boolean {
    const { name } = node.metadata;
    const before = this.#states();
    this.#drop(name);
    const zoneName = zoneOf(node);
    const zone = this.#zones.get(zoneName) ?? newZone();
    const isReady = conditionOf(node.status.conditions, 'Ready')?.status === 'True';
    (isReady ? zone.ready : zone.notReady).add(name);
    this.#zones.set(zoneName, zone);
    this.#zoneOfNode.set(name, zoneName);
    return before !== this.#states();
  }

  /** The node is gone; true when the state of a zone has changed by it. */
  remove(name: string): boolean {
    const before = this.#states();
    this.#drop(name);
    return before !== this.#states();
  }

  /** No node of the cluster is ready. */
  get isFullyDisrupted(): boolean {
    return [...this.#zones.values()].every((zone) => stateOf(zone) === 'full');
  }

  /** Asks to taint a node; a permission is used up by being given. */
  take(name: string, nowMs: number): TaintPermission {
    const zone = this.#zones.get(this.#zoneOfNode.get(name) ?? '');
    if (zone === undefined || this.isFullyDisrupted) return { kind: 'wait' };
    const periodMs = periodOf(zone);
    if (periodMs === undefined) return { kind: 'wait' };
    if (zone.nextAtMs > nowMs) {
      return { kind: 'wait', delayMs: Math.min(zone.nextAtMs - nowMs, periodMs) };
    }
    zone.nextAtMs = nowMs + periodMs;
    return { kind: 'granted' };
  }

  #drop(name: string): void {
    const zoneName = this.#zoneOfNode.get(name);
    const zone = zoneName === undefined ? undefined : this.#zones.get(zoneName);
    this.#zoneOfNode.delete(name);
    if (zone === undefined || zoneName === undefined) return;
    zone.ready.delete(name);
    zone.notReady.delete(name);
    if (zone.ready.size + zone.notReady.size === 0) this.#zones.delete(zoneName);
  }

  /** All states in one text, for comparison. */
  #states(): string {
    return [...this.#zones].map(([name, zone]) => `${name} ${stateOf(zone)}`).join('\n');
  }
}

function newZone(): Zone {
  return { ready: new Set(), notReady: new Set(), nextAtMs: 0 };
}

function stateOf({ ready, notReady }: Zone): ZoneState {
  return zoneState({ ready: ready.size, notReady: notReady.size });
}

/** Time between two taints; undefined: none at all. */
function periodOf(zone: Zone): number | undefined {
  if (stateOf(zone) !== 'partial') return NORMAL_PERIOD_MS;
  const size = zone.ready.size + zone.notReady.size;
  return size > LARGE_ZONE_NODES ? DISRUPTED_PERIOD_MS : undefined;
}
