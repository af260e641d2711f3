/**
 * Which nodes are in open steps, and which group would be next.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { OpenStep, RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import type { StageNode } from '../../../../src/core/stages/stage-node.ts';
import { awaitedApproval } from '../../../../src/core/rollout/approval.ts';
import { findSteps } from '../../../../src/core/stages/steps.ts';
import { policy } from '../../../support/staged-world.ts';
import { record } from '../../../support/stage-records.ts';
import { stageNode } from '../../../support/stage-nodes.ts';

const NODES = [
  stageNode('a1', { labels: { zone: 'a' } }),
  stageNode('a2', { labels: { zone: 'a' }, is: 'well' }),
  stageNode('b1', { labels: { zone: 'b' } }),
  stageNode('b2', { labels: { zone: 'b' }, isExcluded: true }),
  stageNode('c1', { labels: { zone: 'c' } }),
];
const ORDERED = policy({ order: [{ label: 'zone', values: [], isLast: false }] });

const WELL = { is: 'well' } as const;

function steps(
  step: Partial<OpenStep>,
  nodes: readonly StageNode[] = NODES,
): {
  readonly open: readonly string[];
  readonly next: string | undefined;
} {
  const canary = [nodeName('c1')];
  const opened = step.name === undefined ? [] : ['a', step.name];
  const found = findSteps(record({ step: { ...record().step, ...step }, canary, opened }), {
    nodes,
    policy: ORDERED,
  });
  return { open: found.open.map(({ node }) => node.name), next: found.next?.name };
}

describe('open steps', () => {
  it('are none while the rollout waits, and the canary first', () => {
    assert.deepEqual(steps({ kind: 'waiting' }), { open: [], next: 'a' });
    assert.deepEqual(steps({ kind: 'canary' }), { open: ['c1'], next: 'a' });
  });

  it('stay open, with all groups before the one that was opened last', () => {
    assert.deepEqual(steps({ kind: 'group', name: 'a' }), { open: ['a1', 'a2', 'c1'], next: 'b' });
  });

  it('leave out excluded nodes, and groups of which only canaries are left', () => {
    const open = ['a1', 'a2', 'b1', 'c1'];
    assert.deepEqual(steps({ kind: 'group', name: 'b' }), { open, next: undefined });
    assert.deepEqual(steps({ kind: 'done' }), { open, next: undefined });
  });

  it('stay open when the group that was opened last has no node any more', () => {
    const gone = steps({ kind: 'group', name: 'gone' });
    assert.deepEqual(gone, { open: ['a1', 'a2', 'c1'], next: 'b' });
  });

  it('are the canary alone when the order was edited and no group of before is left', () => {
    const nodes = NODES.filter(({ node }) => node.labels['zone'] !== 'a');
    assert.deepEqual(steps({ kind: 'group', name: 'gone' }, nodes), { open: ['c1'], next: 'b' });
  });
});

describe('the step that waits for approval', () => {
  const at = (index: number, groups: number): RolloutRecord =>
    record({ groups, step: { ...record().step, kind: index === 0 ? 'canary' : 'group', index } });

  it('is the next one, unless it needs none, was agreed to, or is not there', () => {
    assert.equal(awaitedApproval(at(0, 3), 'none'), undefined);
    assert.equal(awaitedApproval(at(0, 3), 'after-canary'), 1);
    assert.equal(awaitedApproval(at(1, 3), 'after-canary'), undefined);
    assert.equal(awaitedApproval(at(1, 3), 'each-step'), 2);
    assert.equal(awaitedApproval(at(3, 3), 'each-step'), undefined);
    assert.equal(awaitedApproval(at(-1, 3), 'each-step'), undefined, 'the canary opens by itself');
    const done = record({ step: { ...record().step, kind: 'done' } });
    assert.equal(awaitedApproval(done, 'each-step'), undefined);
    const approved = { by: 'ann', atMs: 1, stepIndex: 2 };
    assert.equal(awaitedApproval({ ...at(1, 3), orders: { approved } }, 'each-step'), undefined);
    assert.equal(awaitedApproval({ ...at(2, 3), orders: { approved } }, 'each-step'), 3);
  });

  it('is numbered by what was opened, whatever became of its nodes', () => {
    const { left } = findSteps(
      record({ opened: ['a', 'gone'], step: { ...record().step, kind: 'group', index: 2 } }),
      { nodes: NODES, policy: ORDERED },
    );
    assert.equal(left, 2);
    assert.equal(awaitedApproval(at(2, 2 + left), 'each-step'), 3);
  });
});

describe('a canary that was made wider for pods that a halted revision left broken', () => {
  const HALTED = { id: 'cccc', hash: 'cccc', cause: 'Restarts', atMs: 5 } as const;
  const canary = ['left1', 'left2', 'n1'].map(nodeName);
  const left = (name: string, isReady: boolean): StageNode =>
    stageNode(name, {
      pod: { labels: { app: 'agent', 'controller-revision-hash': 'cccc' }, isReady },
    });
  const open = (
    nodes: readonly StageNode[],
    { count = 1, ...options }: Partial<RolloutRecord> & { readonly count?: number } = {},
  ): readonly string[] => {
    const share = { kind: 'count', count } as const;
    const one = policy({ canary: { kind: 'share', share, spread: [] } });
    const of = record({ canary, refused: [HALTED], ...options });
    return findSteps(of, { nodes, policy: one }).open.map(({ node }) => node.name);
  };
  const healed = [left('left1', true), left('left2', true), stageNode('n1'), stageNode('n2')];

  it('opens them while they serve nobody', () => {
    const broken = [left('left1', false), left('left2', true), stageNode('n1'), stageNode('n2')];
    assert.deepEqual(open(broken), ['left1', 'n1']);
  });

  it('leaves those that serve again before their turn to the step that follows', () => {
    assert.deepEqual(open(healed), ['n1']);
    const begun = [left('left1', true), ...['left2', 'n1'].map((name) => stageNode(name, WELL))];
    assert.deepEqual(open(begun), ['left2', 'n1']);
    const next = findSteps(record({ canary, refused: [HALTED] }), {
      nodes: [left('left1', true), left('left2', true), stageNode('n1', WELL)],
      policy: policy(),
    });
    assert.notEqual(next.next, undefined);
  });

  it('is as wide as the policy says all the same, and opens what was added for lost nodes', () => {
    assert.deepEqual(open([...healed, left('left3', true)], { count: 2 }), ['left2', 'n1']);
    const [lost, added] = [nodeName('n1'), nodeName('n2')];
    const wider = { canary: [...canary, added], losses: [{ node: lost, atMs: 5, added }] };
    assert.deepEqual(open(healed, wider), ['n1', 'n2']);
  });

  it('leaves one that serves again also where the halted revision was on no more nodes than a canary has', () => {
    const two = { canary: ['left1', 'n1'].map(nodeName) };
    assert.deepEqual(open([left('left1', false), stageNode('n1')], two), ['left1', 'n1']);
    assert.deepEqual(open([left('left1', true), stageNode('n1')], two), ['n1']);
    assert.deepEqual(open([left('left1', true), stageNode('n1', WELL)], two), ['n1']);
  });

  it('opens what no halted revision was left on', () => {
    assert.equal(open(healed, { refused: [] }).length, 3);
  });

  it('opens all of it once the revision is proven', () => {
    const step = { ...record().step, kind: 'group', name: 'gone' } as const;
    assert.equal(open(healed, { step }).length, 3);
  });
});
