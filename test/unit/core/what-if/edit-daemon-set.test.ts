/** A DaemonSet after an edit is what an API server would have after `kubectl apply`, or `kubectl set image`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  applyManifest,
  hasSameTemplate,
  isSameObject,
  setImages,
} from '../../../../src/core/what-if/edit-daemon-set.ts';
import { editNodes } from '../../../../src/core/what-if/edit.ts';
import type { NodeEdit } from '../../../../src/core/what-if/edit.ts';
import { daemonSet, node } from '../../../support/core-fixtures.ts';

const GENERATION = 'deprecated.daemonset.template.generation';
const POD = {
  containers: [{ name: 'agent', image: 'a:1', imagePullPolicy: 'IfNotPresent' }],
  nodeSelector: { pool: 'a' },
  dnsPolicy: 'ClusterFirst',
};

function manifestOf(pod: JsonObject): JsonObject {
  const template = { metadata: { labels: { app: 'agent' } }, spec: pod };
  return { metadata: { labels: { team: 'x' } }, spec: { template } };
}

/** As it stands in a cluster, after an apply of `last`. */
function live(last?: JsonObject): DaemonSetObject {
  const applied =
    last === undefined
      ? {}
      : { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(last) };
  const template = { metadata: { labels: { app: 'agent' } }, spec: POD };
  const annotations = { [GENERATION]: '4', ...applied };
  return daemonSet({ metadata: { generation: 7, annotations }, spec: { template } });
}

function edited(outcome: ReturnType<typeof applyManifest>): DaemonSetObject {
  assert.ok(outcome.kind === 'edited');
  return outcome.daemonSet;
}

describe('applying a manifest', () => {
  it('keeps what the API server filled in, and raises both generations with the template', () => {
    const next = edited(
      applyManifest(live(), manifestOf({ containers: [{ name: 'agent', image: 'a:2' }] })),
    );
    const { containers, dnsPolicy, nodeSelector } = next.spec.template.spec ?? {};
    assert.deepEqual(containers, [
      { name: 'agent', image: 'a:2', imagePullPolicy: 'IfNotPresent' },
    ]);
    assert.deepEqual([dnsPolicy, nodeSelector], ['ClusterFirst', { pool: 'a' }]);
    assert.equal(next.metadata.generation, 8);
    assert.equal(next.metadata.annotations?.[GENERATION], '5');
    assert.deepEqual(next.metadata.labels, { team: 'x' });
  });

  it('takes away what the last apply wrote and the manifest leaves out', () => {
    const containers = [{ name: 'agent', image: 'a:1' }];
    const before = manifestOf({ containers, nodeSelector: { pool: 'a' } });
    const next = edited(applyManifest(live(before), manifestOf({ containers })));
    assert.equal(next.spec.template.spec?.nodeSelector, undefined);
  });

  it('takes away a container of the last apply, and keeps one that another wrote', () => {
    const agent = { name: 'agent', image: 'a:1' };
    const sidecar = { name: 'sidecar', image: 's:1' };
    const now = live(manifestOf({ containers: [sidecar] }));
    const both = { ...POD, containers: [agent, sidecar] };
    const found = { ...now, spec: { ...now.spec, template: { ...now.spec.template, spec: both } } };
    const next = edited(applyManifest(found, manifestOf({ containers: [agent] })));
    assert.deepEqual(next.spec.template.spec?.['containers'], [agent]);
  });

  it('is no change where it says what stands', () => {
    const found = live();
    const next = edited(applyManifest(found, { spec: { template: { spec: POD } } }));
    assert.ok(isSameObject(found, next) && hasSameTemplate(found, next));
    assert.equal(next.metadata.generation, 7);
  });

  it('raises the generation alone where the template stays', () => {
    const next = edited(applyManifest(live(), { spec: { minReadySeconds: 9 } }));
    assert.equal(next.metadata.generation, 8);
    assert.equal(next.metadata.annotations?.[GENERATION], '4');
  });

  it('is refused with another selector, as the API server refuses it', () => {
    const outcome = applyManifest(live(), { spec: { selector: { matchLabels: { app: 'b' } } } });
    assert.ok(outcome.kind === 'refused');
    assert.equal(outcome.problems[0]?.field, 'spec.selector');
  });

  it('takes a broken note of the last apply as none', () => {
    const found = live();
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{' };
    const broken = { ...found, metadata: { ...found.metadata, annotations } };
    assert.equal(applyManifest(broken, { spec: { minReadySeconds: 9 } }).kind, 'edited');
  });
});

describe('setting images', () => {
  it('needs a name where there are several containers', () => {
    const found = live();
    const spec = { ...POD, containers: [{ name: 'a' }, { name: 'b' }] };
    const two = { ...found, spec: { ...found.spec, template: { ...found.spec.template, spec } } };
    const outcome = setImages(two, [{ image: 'x:1' }]);
    assert.ok(outcome.kind === 'refused');
    assert.match(outcome.problems[0]?.message ?? '', /are a, b: say of which/);
  });
});

describe('editing nodes', () => {
  const nodes = [
    node('n1', { taints: [{ key: 'gpu', effect: 'NoSchedule' }], labels: { pool: 'a' } }),
  ];
  const after = (edit: object) => {
    const outcome = editNodes(nodes, [{ node: nodes[0]?.name, ...edit } as NodeEdit]);
    assert.ok(outcome.kind === 'nodes');
    return outcome.nodes[0];
  };

  it('does to each what the API server and the node controller do', () => {
    assert.equal(after({ kind: 'label', key: 'pool', value: 'b' })?.labels['pool'], 'b');
    assert.equal(after({ kind: 'unlabel', key: 'pool' })?.labels['pool'], undefined);
    assert.deepEqual(after({ kind: 'untaint', key: 'gpu' })?.taints, []);
    assert.equal(after({ kind: 'untaint', key: 'gpu', effect: 'NoExecute' })?.taints.length, 1);
    const replaced = after({
      kind: 'taint',
      taint: { key: 'gpu', value: 'x', effect: 'NoSchedule' },
    });
    assert.deepEqual(replaced?.taints, [{ key: 'gpu', value: 'x', effect: 'NoSchedule' }]);
    const cordoned = after({ kind: 'cordon' });
    assert.ok(cordoned?.unschedulable);
    assert.equal(cordoned.taints.at(-1)?.key, 'node.kubernetes.io/unschedulable');
    assert.equal(after({ kind: 'delete' }), undefined);
  });
});
