/**
 * Nodes of a staged rollout, in values: each with one pod of the old revision unless said otherwise.
 */
import { nodeName } from '../../src/core/model/identifiers.ts';
import type { NodeProjection, PodProjection } from '../../src/core/model/projections.ts';
import type { StageNode } from '../../src/core/stages/stage-node.ts';
import { node, pod } from './core-fixtures.ts';

/** The hash that is rolled out, and the one before. */
export const NEW_HASH = 'bbbb';
export const OLD_HASH = 'aaaa';

/** What of a node a test varies. */
export interface StageNodeOptions {
  readonly labels?: NodeProjection['labels'];
  readonly isReady?: boolean;
  readonly isExcluded?: boolean;
  /** `old` (default), `well` or `unwell` with a new pod, `empty`. */
  readonly is?: 'old' | 'well' | 'unwell' | 'empty';
  readonly pod?: Partial<PodProjection>;
  readonly emptySinceMs?: number;
  readonly hasNoPlace?: true;
}

/** One node. */
export function stageNode(name: string, options: StageNodeOptions = {}): StageNode {
  const { labels = {}, isReady = true, isExcluded = false, is = 'old', emptySinceMs } = options;
  const podOf = (hash: string): PodProjection =>
    pod(name, {
      labels: { app: 'agent', 'controller-revision-hash': hash },
      isReady: is !== 'unwell',
      ...options.pod,
    });
  return {
    node: node(nodeName(name), { labels, isReady }),
    isExcluded,
    isWell: is === 'well',
    isMoving: is === 'empty' || is === 'unwell',
    ...(is === 'old' ? { old: podOf(OLD_HASH) } : {}),
    ...(is === 'well' || is === 'unwell' ? { updated: podOf(NEW_HASH) } : {}),
    ...(emptySinceMs === undefined ? {} : { emptySinceMs }),
    ...(options.hasNoPlace === undefined ? {} : { hasNoPlace: true }),
  };
}
