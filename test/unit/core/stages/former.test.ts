/**
 * Which nodes run the former revision while a new one is unproven, and which are put back (issue 17: stage-true revisions).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { OpenStep, RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import { findAhead, findFormer, isRollingBack } from '../../../../src/core/stages/former.ts';
import type { StageNode } from '../../../../src/core/stages/stage-node.ts';
import type { StagesInput } from '../../../../src/core/stages/stages-input.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { policy } from '../../../support/staged-world.ts';
import { record, stagesInput } from '../../../support/stage-records.ts';
import { NEW_HASH, OLD_HASH, stageNode } from '../../../support/stage-nodes.ts';

const BREACH = { cause: 'Restarts', atMs: NOW_MS, message: '', nodes: [] } as const;
const ROLLBACK = policy({ onHalt: 'rollback' });
const NOTE = { by: 'somebody', atMs: NOW_MS };
const PROVEN = { hash: NEW_HASH, provenAtMs: NOW_MS, isBaseline: false };
const STARTED_MS = record().startedAtMs;
const kept = (count: number): StagesInput['policy'] =>
  policy({ partition: { kind: 'count', count } });

/** n1 is the canary, and well; n2 old, n3 ahead of its turn, n4 left out. */
const NODES = [
  stageNode('n1', { is: 'well' }),
  stageNode('n2'),
  stageNode('n3', { is: 'well', pod: { createdAtMs: STARTED_MS } }),
  stageNode('n4', { isExcluded: true }),
];

function former(
  options: Partial<RolloutRecord> = {},
  input: Partial<StagesInput> = {},
): readonly string[] {
  return [...findFormer(record(options), stagesInput({ nodes: NODES, ...input }))].sort();
}

function step(options: Partial<OpenStep>): Pick<RolloutRecord, 'step'> {
  return { step: { ...record().step, ...options } };
}

describe('nodes of the former revision', () => {
  it('are all outside of open steps while the revision is unproven', () => {
    assert.deepEqual(former(), ['n2', 'n3', 'n4']);
    assert.deepEqual(former(step({ kind: 'waiting', index: -1 })), ['n1', 'n2', 'n3', 'n4']);
  });

  it('are those that the policy leaves out once the canary proved it', () => {
    assert.deepEqual(former({ proven: PROVEN }), ['n4']);
  });

  it('are none in copilot, in a return, and where nothing was proven before', () => {
    assert.deepEqual(former({}, { isStageTrue: false }), []);
    assert.deepEqual(former({ isReturn: true }), []);
    const { former: _none, ...without } = record();
    assert.equal(findFormer(without, stagesInput({ nodes: NODES })).size, 0);
  });

  it('are all of them in a rollback', () => {
    assert.deepEqual(former({ breach: BREACH, proven: PROVEN }, { policy: ROLLBACK }).length, 4);
  });

  describe('with a partition', () => {
    const all = ['n1', 'n2', 'n3', 'n4', 'n5'].map((name) => stageNode(name, { is: 'well' }));

    it('are the last of the order, the canary after all others, once it was raised', () => {
      const at = { proven: PROVEN, canary: [nodeName('n5')] };
      assert.deepEqual(former(at, { nodes: all, policy: kept(2) }), ['n3', 'n4']);
      assert.deepEqual(former(at, { nodes: all, policy: kept(4) }), ['n1', 'n2', 'n3', 'n4']);
      assert.deepEqual(former(at, { nodes: all, policy: kept(9) }).length, 5);
    });

    it('are those that wait, too, once what it lets be updated is used up, and not before', () => {
      const nodes = [...all.slice(0, 2), stageNode('n3'), stageNode('n4', { is: 'empty' })];
      const at = { proven: PROVEN, baseNodes: 4 };
      assert.deepEqual(former(at, { nodes, policy: kept(2) }), ['n3', 'n4']);
      assert.deepEqual(former(at, { nodes, policy: kept(1) }), []);
    });
  });
});

describe('a rollback', () => {
  const at = stagesInput({ policy: ROLLBACK });

  it('is what a breach asks for where the policy says so, or what an operator orders', () => {
    const undone = { orders: { undo: { ...NOTE, to: OLD_HASH } } };
    assert.equal(isRollingBack(record({ breach: BREACH }), at), true);
    assert.equal(isRollingBack(record({ breach: BREACH }), stagesInput()), false);
    assert.equal(isRollingBack(record(), at), false);
    assert.equal(isRollingBack(record(undone), stagesInput()), true);
    assert.equal(
      isRollingBack(record({ orders: { undo: { ...NOTE, to: 'cccc' } } }), stagesInput()),
      false,
      'an order of another time',
    );
  });

  it('is none where pods are made by the built-in controller, or nothing was proven', () => {
    const { former: _none, ...without } = record({ breach: BREACH });
    assert.equal(isRollingBack(without, at), false);
    assert.equal(isRollingBack(record({ breach: BREACH }), { ...at, isStageTrue: false }), false);
  });
});

describe('nodes that are put back', () => {
  function ahead(
    nodes: readonly StageNode[],
    options: Partial<RolloutRecord> = {},
    input: Partial<StagesInput> = {},
  ): readonly string[] {
    const at = record(options);
    const with_ = stagesInput({ nodes, ...input });
    return findAhead({ record: at, former: findFormer(at, with_) }, with_).map(
      ({ node }) => node.name,
    );
  }
  const young = { pod: { createdAtMs: STARTED_MS } };
  const THREE = [
    ...NODES,
    stageNode('n5', { is: 'well', ...young }),
    stageNode('n6', { is: 'unwell', ...young }),
  ];
  const madeAt = (createdAtMs: number, hash: string = OLD_HASH): StageNode =>
    stageNode('n7', {
      pod: { createdAtMs, labels: { app: 'agent', 'controller-revision-hash': hash } },
    });

  it('go one at a time until a pod of the former revision was let in', () => {
    assert.deepEqual(ahead(THREE), ['n3']);
    assert.deepEqual(ahead([...THREE, madeAt(STARTED_MS)]), ['n3', 'n5', 'n6']);
  });

  it('are none whose pod is from before this rollout: nobody replaced it, as after an undo half-way', () => {
    const before = { pod: { createdAtMs: STARTED_MS - 1 } };
    const nodes = [...THREE, madeAt(STARTED_MS), stageNode('n8', { is: 'well', ...before })];
    assert.deepEqual(ahead(nodes), ['n3', 'n5', 'n6']);
    const all = ahead(nodes, { breach: BREACH }, { policy: ROLLBACK });
    assert.ok(all.includes('n8'), 'a rollback takes them as well');
  });

  it('are not shown to be let in by a pod from before this rollout, or of a third revision', () => {
    assert.deepEqual(ahead([...THREE, madeAt(STARTED_MS - 1)]), ['n3']);
    assert.deepEqual(ahead([...THREE, madeAt(STARTED_MS, 'cccc')]), ['n3']);
  });

  it('wait while one was tried and has no pod, whatever was empty before', () => {
    const lost = (emptySinceMs: number | undefined): StageNode =>
      stageNode('n7', { is: 'empty', ...(emptySinceMs === undefined ? {} : { emptySinceMs }) });
    assert.deepEqual(ahead([...THREE, lost(STARTED_MS)]), []);
    assert.deepEqual(ahead([...THREE, lost(undefined)]), []);
    assert.deepEqual(ahead([...THREE, lost(STARTED_MS - 1)]), ['n3']);
  });

  it('are none after a halt that asks for no rollback, and never what the policy leaves out', () => {
    assert.deepEqual(ahead(THREE, { breach: BREACH }), []);
    const all = [...THREE, madeAt(STARTED_MS), stageNode('n8', { is: 'well', isExcluded: true })];
    assert.deepEqual(ahead(all, { breach: BREACH }, { policy: ROLLBACK }), [
      'n1',
      'n3',
      'n5',
      'n6',
    ]);
  });

  it('are in a rollback those of a third revision that nothing proved, and no others', () => {
    const third = [
      madeAt(STARTED_MS, 'cccc'),
      stageNode('n8', { pod: { labels: { 'controller-revision-hash': 'dddd' } } }),
      stageNode('n9', { pod: { labels: { 'controller-revision-hash': 'eeee' } } }),
      madeAt(STARTED_MS),
    ];
    const refused = [{ id: 'cccc', hash: 'cccc', cause: 'Restarts', atMs: STARTED_MS }] as const;
    const at = { refused, abandoned: ['dddd'] };
    assert.deepEqual(ahead(third, { ...at, breach: BREACH }, { policy: ROLLBACK }), ['n7', 'n8']);
    assert.deepEqual(ahead(third, at), []);
  });
});
