/** With surge (spec 2.7): which of several pods of former revisions stays on a node. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodProjection } from '../../../../src/core/model/projections.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import {
  CURRENT_HASH,
  context,
  daemonSet,
  namedPod,
  node,
  surging,
  view,
} from '../../../support/core-fixtures.ts';

const NODES = [node('n1')];

function podOf(hash: string, createdAtMs: number, isReady: boolean): PodProjection {
  const labels = { app: 'agent', 'controller-revision-hash': hash };
  return { ...namedPod('n1', hash, { createdAtMs, labels }), isReady };
}

function victims(pods: readonly PodProjection[], compat = 'mended'): readonly string[] {
  const annotations = { 'rollcall.dev/compat': compat };
  const set = daemonSet({ metadata: { annotations }, spec: surging() });
  const { deletes } = planReconcile(view({ daemonSet: set, nodes: NODES, pods }), context({}));
  return deletes.map(({ name, reason }) => `${name} ${reason}`);
}

describe('of two pods of former revisions, which an edit in the middle of an update left', () => {
  const sick = podOf('first', 1, false);
  const well = podOf('second', 2, true);

  it('the one that is ready stays, though it is younger (S3)', () => {
    assert.deepEqual(victims([sick, well]), ['first duplicate']);
    const current = podOf(CURRENT_HASH, 3, false);
    assert.deepEqual(victims([sick, well, current]), ['first duplicate']);
  });

  it('strict: the older one stays, whatever it is', () => {
    assert.deepEqual(victims([sick, well], 'strict'), ['second duplicate']);
  });
});
