/** Placement of one node (spec 2.5), each rule and its reason. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodSpec, Taint } from '@rollcall/base/objects.ts';
import type { NodeProjection } from '../../../../src/core/model/projections.ts';
import type { PlacementDecision } from '../../../../src/core/placement/placement.ts';
import {
  decidePlacement,
  preparePlacement,
  withAutomaticTolerations,
} from '../../../../src/core/placement/placement.ts';
import { daemonSet, node } from '../../../support/core-fixtures.ts';

function decide(podSpec: PodSpec, options: Partial<NodeProjection> = {}): PlacementDecision {
  return decidePlacement(preparePlacement(daemonSet({ podSpec })), node('n1', options));
}

const noSchedule: Taint = { key: 'nvidia.com/gpu', value: 'true', effect: 'NoSchedule' };
const noExecute: Taint = { key: 'old', effect: 'NoExecute' };
const eligible = { placement: 'run', reason: { code: 'Eligible' } };

describe('decidePlacement (spec 2.5)', () => {
  it('runs on a node that nothing speaks against', () => {
    assert.deepEqual(decide({}), eligible);
  });

  it('looks at nothing else: not ready, cordoned, terminating, PreferNoSchedule', () => {
    const taints: Taint[] = [{ key: 'soft', effect: 'PreferNoSchedule' }];
    const options = { isReady: false, unschedulable: true, isTerminating: true, taints };
    assert.deepEqual(decide({}, options), eligible);
  });

  it('rule 1: leaves every node but the one of spec.nodeName', () => {
    assert.deepEqual(decide({ nodeName: 'n1' }), eligible);
    assert.deepEqual(decide({ nodeName: '' }), eligible);
    assert.deepEqual(decide({ nodeName: 'n2' }), {
      placement: 'leave',
      reason: { code: 'OtherNodeName', wanted: 'n2' },
    });
  });

  it('rule 2: leaves a node that lacks a label of the nodeSelector', () => {
    const podSpec = { nodeSelector: { disk: 'ssd', zone: 'a' } };
    assert.deepEqual(decide(podSpec, { labels: { disk: 'ssd', zone: 'a' } }), eligible);
    assert.deepEqual(decide(podSpec, { labels: { disk: 'ssd' } }), {
      placement: 'leave',
      reason: { code: 'NodeSelectorMismatch', label: 'zone=a' },
    });
  });

  it('rule 2: ANDs nodeSelector and required affinity', () => {
    const nodeSelectorTerms = [{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }];
    const podSpec = {
      nodeSelector: { disk: 'ssd' },
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
      },
    };
    assert.deepEqual(decide(podSpec, { labels: { disk: 'ssd' } }), {
      placement: 'leave',
      reason: { code: 'NodeAffinityMismatch', detail: 'zone Exists', labels: ['zone'] },
    });
    assert.deepEqual(decide(podSpec, { labels: { disk: 'ssd', zone: 'b' } }), eligible);
  });

  it('rule 3: runs where all hard taints are tolerated', () => {
    const tolerations = [
      { key: 'nvidia.com/gpu', operator: 'Exists' },
      { key: 'old', operator: 'Exists' },
    ];
    assert.deepEqual(decide({ tolerations }, { taints: [noSchedule, noExecute] }), eligible);
  });

  it('rule 3: tolerates a cordoned, unready, pressed node by itself (spec 2.6)', () => {
    const taints: Taint[] = [
      { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
      { key: 'node.kubernetes.io/disk-pressure', effect: 'NoSchedule' },
    ];
    assert.deepEqual(decide({}, { taints }), eligible);
  });

  it('rule 3: tolerates network-unavailable only with the host network (spec 2.6)', () => {
    const taints: Taint[] = [
      { key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' },
    ];
    assert.deepEqual(decide({ hostNetwork: true }, { taints }), eligible);
    assert.equal(decide({}, { taints }).placement, 'keep');
  });

  it('rule 4: keeps under an untolerated NoSchedule taint', () => {
    assert.deepEqual(decide({}, { taints: [noSchedule] }), {
      placement: 'keep',
      reason: { code: 'TaintNotTolerated', taint: 'nvidia.com/gpu=true:NoSchedule' },
    });
  });

  it('rule 4: leaves under an untolerated NoExecute taint, and names that one', () => {
    assert.deepEqual(decide({}, { taints: [noSchedule, noExecute] }), {
      placement: 'leave',
      reason: { code: 'TaintNotTolerated', taint: 'old:NoExecute' },
    });
  });

  it('takes a template without a spec as one without demands', () => {
    const bare = daemonSet({ spec: { template: {} } });
    assert.deepEqual(decidePlacement(preparePlacement(bare), node('n1')), eligible);
  });
});

/** Automatic tolerations (spec 2.6). */

function texts(spec: Parameters<typeof withAutomaticTolerations>[0]): readonly string[] {
  return withAutomaticTolerations(spec).map(
    ({ key = '', operator = '', effect = '', tolerationSeconds }) =>
      `${key.replace('node.kubernetes.io/', '')} ${operator} ${effect} ${tolerationSeconds ?? 'for ever'}`,
  );
}

const ALWAYS = [
  'not-ready Exists NoExecute for ever',
  'unreachable Exists NoExecute for ever',
  'disk-pressure Exists NoSchedule for ever',
  'memory-pressure Exists NoSchedule for ever',
  'pid-pressure Exists NoSchedule for ever',
  'unschedulable Exists NoSchedule for ever',
];

describe('withAutomaticTolerations (spec 2.6)', () => {
  it('adds six to every template, and a seventh with the host network', () => {
    assert.deepEqual(texts({}), ALWAYS);
    assert.deepEqual(texts({ hostNetwork: true }), [
      ...ALWAYS,
      'network-unavailable Exists NoSchedule for ever',
    ]);
  });

  it('replaces an identical one in its place (upstream never tests: toleration replacement dropping seconds)', () => {
    const same = {
      key: 'node.kubernetes.io/not-ready',
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 30,
    };
    const own = { key: 'own', operator: 'Exists' };
    assert.deepEqual(texts({ tolerations: [same, own] }), [
      ALWAYS[0],
      'own Exists  for ever',
      ...ALWAYS.slice(1),
    ]);
  });

  it('keeps one that differs in operator, effect or value', () => {
    const key = 'node.kubernetes.io/not-ready';
    const others = [
      { key, operator: 'Equal', effect: 'NoExecute', tolerationSeconds: 30 },
      { key, operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 31 },
      { key, operator: 'Exists', tolerationSeconds: 32 },
      { key, operator: 'Exists', effect: 'NoExecute', value: 'x', tolerationSeconds: 33 },
      { tolerationSeconds: 34 },
    ];
    const result = withAutomaticTolerations({ tolerations: others });
    assert.deepEqual(result.slice(0, others.length), others);
    assert.equal(result.length, others.length + ALWAYS.length);
  });
});
