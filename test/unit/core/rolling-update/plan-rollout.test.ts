/** When a rolling update acts, how it shares a run, what it says (spec 2.9). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Plan, PlanContext } from '../../../../src/core/model/plan.ts';
import type { PodProjection } from '../../../../src/core/model/projections.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import {
  CURRENT_HASH,
  NOW_MS,
  LIFE_MS,
  context,
  daemonSet,
  failedPod,
  namedPod,
  node,
  pod,
  slot,
  state,
  statusOnly,
  view,
} from '../../../support/core-fixtures.ts';
import type { PodOptions, ViewOptions } from '../../../support/core-fixtures.ts';

const OLD = { app: 'agent', 'controller-revision-hash': 'old' };

function old(onNode: string, options: PodOptions = {}): PodProjection {
  return namedPod(onNode, `old-${onNode}`, { labels: OLD, ...options });
}

function rolling(rollingUpdate: JsonObject): JsonObject {
  return { updateStrategy: { type: 'RollingUpdate', rollingUpdate } };
}

const unavailable = (max: number | string) => daemonSet({ spec: rolling({ maxUnavailable: max }) });
const surge = (max: number | string) =>
  daemonSet({ spec: rolling({ maxSurge: max, maxUnavailable: 0 }) });
const onDelete = daemonSet({ spec: { updateStrategy: { type: 'OnDelete' } } });

function plan(options: ViewOptions, by: Partial<PlanContext> = {}): Plan {
  return planReconcile(view(options), context(by));
}

function effects({ creates, deletes }: Plan): readonly string[] {
  return [...creates.map(({ node: on }) => `+${on}`), ...deletes.map(({ name }) => `-${name}`)];
}

const nodes = ['n1', 'n2', 'n3'].map((name) => node(name));
const pods = nodes.map(({ name }) => old(name));

describe('OnDelete (spec 2.9)', () => {
  it('leaves outdated pods alone, and says so', () => {
    const made = plan({ daemonSet: onDelete, nodes, pods: [...pods.slice(1), pod('n1')] });
    assert.deepEqual(effects(made), []);
    assert.equal(made.rollout, undefined);
    const [current, outdated] = made.verdicts();
    assert.equal(current?.code, 'Running');
    assert.equal(outdated?.code, 'Outdated');
    assert.equal(
      outdated.message,
      'Node n2 has pod old-n2 of an older revision, which stays until it is deleted (OnDelete).',
    );
  });

  it('makes what was deleted anew, of the current revision', () => {
    const made = plan({ daemonSet: onDelete, nodes, pods: pods.slice(1) });
    assert.deepEqual(effects(made), ['+n1']);
    assert.match(JSON.stringify(made.creates[0]?.body), new RegExp(CURRENT_HASH));
  });
});

describe('nothing is rolled', () => {
  it('while the current revision is not known', () => {
    for (const set of [unavailable(3), surge(3), onDelete]) {
      const made = plan({ daemonSet: set, nodes, pods }, { currentHash: undefined });
      assert.deepEqual(effects(made), []);
      assert.equal(made.rollout, undefined);
      assert.equal(made.verdicts()[0]?.code, 'Running');
    }
  });

  it('while the guard does not let us act; progress and verdicts are there all the same', () => {
    const guard = statusOnly('frozen');
    const made = plan({ daemonSet: unavailable(1), nodes, pods }, { guard });
    assert.deepEqual(effects(made), []);
    assert.equal(made.rollout?.waitingNodes, 2);
    assert.deepEqual(
      made.verdicts().map(({ code }) => code),
      ['WaitingForCluster', 'WaitingForRollout', 'WaitingForRollout'],
    );
    const surging = plan({ daemonSet: surge(1), nodes, pods }, { guard });
    assert.deepEqual(effects(surging), []);
    assert.equal(surging.verdicts()[0]?.code, 'WaitingForCluster');
  });
});

describe('a lost state (protocol 6)', () => {
  const young = { state: state({ version: 0, createdAtMs: NOW_MS - 5000 }) };
  it('keeps available pods until no forgotten request is alive, and looks again then', () => {
    const broken = [...pods.slice(0, 2), old('n3', { isReady: false })];
    const made = plan({ daemonSet: unavailable(2), nodes, pods: broken }, young);
    assert.deepEqual(effects(made), ['-old-n3']);
    assert.equal(made.dueAtMs, NOW_MS - 5000 + LIFE_MS);
    assert.equal(made.verdicts()[0]?.code, 'WaitingForCluster');
    assert.equal(made.verdicts()[0]?.untilMs, made.dueAtMs);
    assert.equal(made.verdicts()[1]?.code, 'WaitingForRollout');
  });

  it('counts a pod that would leave its node as unavailable', () => {
    const taints = [{ key: 'k', effect: 'NoExecute' as const }];
    const fleet = [node('n1', { taints }), node('n2')];
    const made = plan({ daemonSet: unavailable(1), nodes: fleet, pods: pods.slice(0, 2) }, young);
    assert.deepEqual(effects(made), []);
    assert.equal(made.rollout?.unavailableNodes, 1);
    assert.equal(made.rollout.waitingNodes, 1);
  });

  it('keeps pods that would be vacated, too; creates beside them go on', () => {
    const taints = [{ key: 'k', effect: 'NoSchedule' as const }];
    const fleet = [node('n1'), node('n2'), node('v1', { taints })];
    const made = plan(
      { daemonSet: surge(1), nodes: fleet, pods: [pod('n1'), old('n2'), old('v1')] },
      young,
    );
    assert.deepEqual(effects(made), ['+n2']);
    assert.equal(made.verdicts()[2]?.code, 'WaitingForCluster');
  });
});

describe('the burst (spec 2.8, S9)', () => {
  const many = Array.from({ length: 400 }, (_, index) =>
    node(`n${String(index).padStart(3, '0')}`),
  );
  const outdated = many.map(({ name }) => old(name));

  it('upstream never tests: burst cap 250, over what the rollout deletes', () => {
    const made = plan({ daemonSet: unavailable('100%'), nodes: many, pods: outdated });
    assert.equal(made.deletes.length, 250);
    assert.equal(made.cappedCount, 150);
    assert.equal(made.verdicts()[249]?.code, 'Updating');
    assert.equal(made.verdicts()[250]?.code, 'WaitingForBurst');
    assert.match(
      made.verdicts()[250]?.message ?? '',
      /older revision; it is updated after the present batch/,
    );
  });

  it('and over what it creates', () => {
    const made = plan({ daemonSet: surge('100%'), nodes: many, pods: outdated });
    assert.equal(made.creates.length, 250);
    assert.equal(made.cappedCount, 150);
    assert.equal(made.verdicts()[250]?.code, 'WaitingForBurst');
  });

  it('is shared with the rest of the run, which comes first', () => {
    const failed = many.slice(0, 200).map(({ name }) => failedPod(name));
    const set = unavailable('100%');
    const made = plan({ daemonSet: set, nodes: many, pods: [...failed, ...outdated.slice(200)] });
    const reasons = made.deletes.map(({ reason }) => reason);
    assert.equal(reasons.filter((reason) => reason === 'failed').length, 200);
    assert.equal(reasons.filter((reason) => reason === 'outdated').length, 50);
    assert.equal(reasons[199], 'failed');
    assert.equal(made.cappedCount, 150);
    const empty = { daemonSet: surge('100%'), nodes: many, pods: outdated.slice(0, 200) };
    const creates = plan(empty).creates.map(({ node: on }) => on);
    assert.equal(creates.length, 250);
    assert.equal(creates[0], 'n200');
    assert.equal(creates[200], 'n000');
  });

  it('strays of vanished nodes come before it, too', () => {
    const stray = old('gone', { boundNode: null });
    const options = { daemonSet: unavailable('100%'), nodes, pods: [...pods, stray] };
    assert.deepEqual(effects(plan(options, { burstPodsMax: 1 })), ['-old-gone']);
  });

  it('cuts what is least urgent: unavailable pods first, then the longest not updated', () => {
    const ages = many.map(({ name }, index) =>
      index === 399 ? old(name, { isReady: false }) : old(name, { createdAtMs: 1000 - index }),
    );
    const made = plan(
      { daemonSet: unavailable('100%'), nodes: many, pods: ages },
      { burstPodsMax: 2 },
    );
    assert.deepEqual(effects(made), ['-old-n399', '-old-n398']);
  });
});

describe('progress and verdicts', () => {
  it('without surge: counts of nodes before the effects of the plan', () => {
    const made = plan({
      daemonSet: unavailable('50%'),
      nodes: [...nodes, node('n4'), node('n5')],
      pods: [pod('n1'), pod('n2', { isReady: false }), old('n3'), old('n4'), old('n5')],
    });
    assert.deepEqual(made.rollout, {
      desiredNodes: 5,
      updatedNodes: 2,
      unavailableNodes: 1,
      surgingNodes: 0,
      unavailableNodesMax: 3,
      surgeNodesMax: 0,
      waitingNodes: 1,
    });
    const [, , deleted, , waiting] = made.verdicts();
    assert.equal(deleted?.code, 'Updating');
    assert.equal(
      deleted.message,
      'Node n3 has pod old-n3 of an older revision; it is being deleted to make room for its successor.',
    );
    assert.equal(waiting?.code, 'WaitingForRollout');
    assert.equal(waiting.pod, 'old-n5');
    assert.equal(
      waiting.message,
      'Node n5 has pod old-n5 of an older revision; it is replaced when maxUnavailable has room for another node.',
    );
  });

  it('counts as updated what should run, and is not worked at in this run', () => {
    const taints = [{ key: 'k', effect: 'NoSchedule' as const }];
    const fleet = [node('n1'), node('n2'), node('n3', { taints })];
    const mixed = [pod('n1'), pod('n2'), pod('n3'), namedPod('n2', 'x', { createdAtMs: NOW_MS })];
    const made = plan({ daemonSet: unavailable(1), nodes: fleet, pods: mixed });
    assert.equal(made.rollout?.updatedNodes, 1);
    assert.equal(made.rollout.desiredNodes, 2);
  });

  it('with surge: each step of a node has its sentence', () => {
    const fresh = pod('n2', { name: slot('n2', CURRENT_HASH), isReady: false });
    const made = plan({
      daemonSet: surge(2),
      nodes,
      pods: [old('n1'), old('n2', { createdAtMs: 1 }), fresh, old('n3')],
    });
    assert.deepEqual(made.rollout, {
      desiredNodes: 3,
      updatedNodes: 0,
      unavailableNodes: 0,
      surgingNodes: 1,
      unavailableNodesMax: 0,
      surgeNodesMax: 2,
      waitingNodes: 1,
    });
    assert.deepEqual(
      made.verdicts().map(({ code, message }) => `${code}: ${message}`),
      [
        `Updating: Node n1 has pod old-n1 of an older revision; pod ${slot('n1', CURRENT_HASH)} is being created beside it.`,
        `Updating: Node n2 has pod ${fresh.name} of the current revision; pod old-n2 goes when that is available.`,
        'WaitingForRollout: Node n3 has pod old-n3 of an older revision; it is replaced when maxSurge has room for another node.',
      ],
    );
  });
});
