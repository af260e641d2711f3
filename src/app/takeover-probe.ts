/** Takeover: the probe for the built-in DaemonSet controller, and the switch (design 5). */
import type { ClusterId } from '../core/model/identifiers.ts';
import type { Clock } from '../ports/clock.ts';
import type { ClusterConnector } from '../ports/cluster-access.ts';
import type { ProbeAccess } from '../ports/probe-access.ts';
import type { Random } from '../ports/random.ts';
import type { RegistryStore } from '../ports/registry-store.ts';
import type { ViewStore } from '../ports/view-store.ts';

/** What the probe needs. */
export interface ProbeDependencies {
  readonly access: ProbeAccess;
  readonly clock: Clock;
  readonly random: Random;
  /** How long the built-in loop gets to show itself; longer than a leader's lease of 15 s. */
  readonly waitMs?: number;
  readonly pollMs?: number;
}

/** What the probe found. Takeover may be entered only when `absent`. */
export type ProbeResult =
  | { readonly kind: 'absent'; readonly probedAtMs: number }
  | { readonly kind: 'present'; readonly afterMs: number }
  | { readonly kind: 'unknown'; readonly message: string };

/** Creates a DaemonSet that matches no node, and sees whether somebody observes it. */
export async function probeForBuiltInController(
  _dependencies: ProbeDependencies,
): Promise<ProbeResult> {
  throw new Error('probeForBuiltInController is being written');
}

/** What entering takeover needs. */
export interface TakeoverDependencies extends ProbeDependencies {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'writeCluster'>;
  readonly view: Pick<ViewStore, 'readMeta' | 'writeMeta'>;
  readonly connector: ClusterConnector;
}

/** What came of it. */
export type TakeoverResult =
  | { readonly kind: 'entered'; readonly probedAtMs: number; readonly isSnapshotRequested: boolean }
  | { readonly kind: 'refused'; readonly reason: 'unknown-cluster' | 'built-in-controller-runs' }
  | { readonly kind: 'failed'; readonly message: string };

/** Probes, then switches the registration to takeover; the view waits for a new snapshot. */
export async function enterTakeover(
  _cluster: ClusterId,
  _dependencies: TakeoverDependencies,
): Promise<TakeoverResult> {
  throw new Error('enterTakeover is being written');
}
