/**
 * Content that is part of a revision, through whole runs (ADR 0061): from what the watcher told to the label of pods, by a
 * live read before each delete; and what a hand-back finds.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIG_HASH_LABEL } from '../../../../src/core/pod/revision.ts';
import type { ObservedConfig } from '../../../../src/core/model/projections.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';
import { nodeOf } from '../../../support/simulated-cluster.ts';

const NODES = 4;
const MINUTE_MS = 60_000;
const POLICY = 'canary: {nodes: 1}\nsoak: 2m\nmaxUnavailable: 2\nconfig: {configMaps: [settings]}';

function told(hash: string): ObservedConfig {
  return { key: '0a0a0a0a', objects: [{ kind: 'ConfigMap', name: 'settings', hash }] };
}

async function world(policy = POLICY): Promise<ReconcileWorld> {
  const made = new ReconcileWorld({
    nodes: NODES,
    daemonSet: (object: DaemonSetObject): DaemonSetObject => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'rollcall.dev/rollout': policy } },
    }),
  });
  for (const { metadata } of made.cluster.list('nodes')) {
    made.cluster.change('nodes', { namespace: '', name: metadata.name }, (node) => ({
      ...node,
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    }));
  }
  await made.settle();
  return made;
}

const labelOf = ({ metadata }: KubernetesObject): string | undefined =>
  metadata.labels?.[CONFIG_HASH_LABEL];
const uidsOf = (made: ReconcileWorld): readonly string[] =>
  made.pods.map(({ metadata }) => metadata.uid).sort();

describe('content in whole runs', () => {
  it('is rolled out step by step, and the pods that are made say what they began with', async () => {
    const made = await world();
    made.mirror.config = told('11111111111111111111');
    await made.settle({ withinMs: MINUTE_MS });
    const before = uidsOf(made);
    assert.deepEqual(made.pods.map(labelOf), Array(NODES).fill(undefined));

    made.mirror.config = told('22222222222222222222');
    await made.settle({ withinMs: MINUTE_MS });
    assert.equal(made.pods.filter((pod) => labelOf(pod) !== undefined).length, 1, 'the canary');
    assert.equal(made.daemonSet.status?.updatedNumberScheduled, 1);

    await made.settle({ withinMs: 30 * MINUTE_MS });
    assert.equal(new Set(made.pods.map(nodeOf)).size, NODES);
    assert.equal(new Set(made.pods.map(labelOf)).size, 1);
    assert.match(
      labelOf(made.pods[0] ?? assert.fail('no pod')) ?? '',
      /^[0-9a-f]{8}\.[0-9a-f]{10}$/,
    );
    assert.equal(uidsOf(made).filter((uid) => before.includes(uid)).length, 0);
    assert.equal(made.daemonSet.status?.updatedNumberScheduled, NODES);
    assert.equal(
      made.cluster.list('controllerrevisions').length,
      1,
      'history knows templates alone',
    );
  });

  it('leaves pods alone that a live read shows as made with it', async () => {
    const made = await world();
    made.mirror.config = told('11111111111111111111');
    await made.settle({ withinMs: MINUTE_MS });
    made.mirror.config = told('22222222222222222222');
    await made.settle({ withinMs: 30 * MINUTE_MS });
    const before = uidsOf(made);
    await made.settle({ withinMs: 30 * MINUTE_MS });
    assert.deepEqual(uidsOf(made), before);
  });

  it('a policy that goes while content is rolled out restarts nobody any more', async () => {
    const made = await world();
    made.mirror.config = told('11111111111111111111');
    await made.settle({ withinMs: MINUTE_MS });
    made.mirror.config = told('22222222222222222222');
    await made.settle({ withinMs: MINUTE_MS });
    const name = { namespace: 'system', name: 'agents' };
    made.cluster.change('daemonsets', name, (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: {} },
    }));
    made.mirror.config = undefined;
    const before = uidsOf(made);
    await made.settle({ withinMs: 30 * MINUTE_MS });
    assert.deepEqual(uidsOf(made), before);
    assert.equal(made.daemonSet.status?.updatedNumberScheduled, NODES);
  });
});
