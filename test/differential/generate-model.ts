/**
 * What a scenario that is being drawn knows of itself: a rough model, good enough to draw steps that mean
 * something. Nothing here is exact: placement decides which nodes have pods, and nobody computes it here.
 */
import type { Seeded } from '../conformance/scenarios/seeded.ts';

export interface Model {
  readonly seeded: Seeded;
  readonly nodes: Set<string>;
  readonly notReady: Set<string>;
  readonly taintKeys: Map<string, Set<string>>;
  /** Sets by name; true while their pods never become ready. */
  readonly sets: Map<string, boolean>;
  /** Subjects of `pod-free`, `pod-ready` and `pod-reclaim`: "set node". */
  readonly held: Set<string>;
  readonly unready: Set<string>;
  readonly released: Set<string>;
  isRefusing: boolean;
  nextNode: number;
  nextVersion: number;
}

/** One of the nodes that have not left. */
export function anyNode({ seeded, nodes }: Model): string {
  return seeded.pick([...nodes]);
}
