/**
 * A DaemonSet that is made anew over the pods that one of its name left: both count template generations from 1, by which Kubernetes tells
 * pods apart. Under a policy a pod is of the revision that it names.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  REVISION_HASH_LABEL,
  TEMPLATE_GENERATION_ANNOTATION,
  TEMPLATE_GENERATION_LABEL,
} from '../../../../src/core/pod/pod-facts.ts';
import type { ReconcileWorld } from '../../../support/reconcile-world.ts';
import { stagedSetWorld } from '../../../support/staged-set-world.ts';

/** All pods were left by a DaemonSet of another template, and both are in template generation 1. */
async function overOrphans(mode: 'copilot' | 'takeover'): Promise<ReconcileWorld> {
  const made = stagedSetWorld({
    mode,
    policy: 'canary: {nodes: 1}\nsoak: 10m\nmaxUnavailable: 2',
  });
  await made.settle();
  for (const { metadata } of made.pods) {
    made.cluster.change('pods', { namespace: 'system', name: metadata.name }, (pod) => ({
      ...pod,
      metadata: {
        ...pod.metadata,
        labels: {
          ...pod.metadata.labels,
          [REVISION_HASH_LABEL]: 'left',
          [TEMPLATE_GENERATION_LABEL]: '1',
        },
      },
    }));
  }
  made.change(({ metadata }) => {
    const annotations = { ...metadata.annotations, [TEMPLATE_GENERATION_ANNOTATION]: '1' };
    return { metadata: { ...metadata, annotations } };
  });
  const { rollout: _before, ...state } = await made.state();
  assert.equal(await made.view.writeState(made.ref, state), 'written');
  return made;
}

const left = (made: ReconcileWorld): number =>
  made.pods.filter(({ metadata }) => metadata.labels?.[REVISION_HASH_LABEL] === 'left').length;

describe('pods that a deleted DaemonSet left', () => {
  for (const mode of ['copilot', 'takeover'] as const) {
    it(`are no evidence of the template, and are replaced in stages (${mode})`, async () => {
      const made = await overOrphans(mode);
      await made.settle({ withinMs: 120_000 });
      assert.equal(left(made), 5, 'the canary goes first');
      await made.settle({ withinMs: 3_600_000 });
      assert.equal(left(made), 0);
    });
  }
});
