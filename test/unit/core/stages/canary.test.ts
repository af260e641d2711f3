/**
 * The canary of a staged rollout as nodes come and go: a revision is proven by nodes that ran it, and by no others (S16).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { RefusalEntry } from '../../../../src/core/model/state.ts';
import type { RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import { advanceStages } from '../../../../src/core/stages/advance-stages.ts';
import { pickCanary, withAbleCanary } from '../../../../src/core/stages/canary.ts';
import type { StageNode } from '../../../../src/core/stages/stage-node.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { policy } from '../../../support/staged-world.ts';
import { stageNode } from '../../../support/stage-nodes.ts';
import { record, stagesInput } from '../../../support/stage-records.ts';

const OTHERS = ['n2', 'n3', 'n4'].map((name) => stageNode(name));
const gone = OTHERS;
const notReady = [stageNode('n1', { isReady: false }), ...OTHERS];

const after = (nodes: readonly StageNode[], of: Partial<RolloutRecord> = {}): RolloutRecord =>
  withAbleCanary(record(of), stagesInput({ nodes }));

describe('S16: a canary', () => {
  for (const [title, nodes] of [
    ['is gone', gone],
    ['is not Ready before its turn', notReady],
    ['is left out by now', [stageNode('n1', { isExcluded: true }), ...OTHERS]],
  ] as const) {
    it(`has another node in the place of one that ${title}`, () => {
      const { canary } = after(nodes);
      assert.equal(canary.length, 1);
      assert.ok(!canary.includes(nodeName('n1')));
    });

    it(`proves nothing by a node that ${title}: the next step waits for another one`, () => {
      const input = stagesInput({ policy: policy({ soakMs: 60_000 }), record: record(), nodes });
      const stages = advanceStages({ ...input, nowMs: NOW_MS });
      assert.deepEqual(stages.gate, { kind: 'updating', pendingNodes: 1 });
      assert.equal(stages.record.step.kind, 'canary');
      assert.notEqual(stages.record.proven?.hash, stages.record.hash);
    });
  }

  it('has another node in the place of one that was tainted before its turn, and would get no pod now', () => {
    const input = stagesInput({ nodes: OTHERS, keptNodes: [stageNode('n1')] });
    const { canary } = withAbleCanary(record(), input);
    assert.equal(canary.length, 1);
    assert.ok(!canary.includes(nodeName('n1')));
  });

  it('keeps a node that was begun on, well or not, and those that are able', () => {
    const begun = record();
    for (const is of ['well', 'unwell', 'empty'] as const) {
      const nodes = [stageNode('n1', { is, isReady: false }), ...OTHERS];
      assert.equal(withAbleCanary(begun, stagesInput({ nodes })), begun);
    }
    const two = after(OTHERS, { canary: [nodeName('n1'), nodeName('n3')], baseNodes: 4 });
    assert.ok(two.canary.includes(nodeName('n3')));
  });

  it('stays as it was once another step is open, or a breach stands', () => {
    const { step } = record();
    const group = record({ step: { ...step, kind: 'group', index: 1 } });
    assert.equal(withAbleCanary(group, stagesInput({ nodes: gone })), group);
    const breach = { cause: 'Restarts', atMs: NOW_MS, message: '', nodes: [] } as const;
    const halted = record({ breach });
    assert.equal(withAbleCanary(halted, stagesInput({ nodes: gone })), halted);
  });

  it('of which no node is left, and none is able, opens nothing', () => {
    const nodes = OTHERS.map(({ node }) => stageNode(node.name, { isReady: false }));
    const { gate } = advanceStages(stagesInput({ record: record(), nodes }));
    assert.deepEqual(gate, { kind: 'no-canary' });
  });
});

describe('an edit in the middle of a canary', () => {
  const abandoned = { labels: { 'controller-revision-hash': 'eeee' } };
  const begun = [
    stageNode('n5', { pod: abandoned }),
    stageNode('n6', { is: 'empty' }),
    // In its canary, and never reached.
    stageNode('n7'),
  ];
  const others = ['n1', 'n2', 'n3', 'n4', 'n8'].map((name) => stageNode(name));
  const nodes = [...others, ...begun];
  const canary = [nodeName('n5'), nodeName('n6')];
  const two = policy({ canary: { kind: 'share', share: { kind: 'count', count: 2 }, spread: [] } });
  const picked = (of: Partial<RolloutRecord>, all = nodes): readonly string[] =>
    ['a', 'b', 'c', 'd'].flatMap((rolloutId) => {
      const before = record({ hash: 'eeee', canary: [...canary, nodeName('n7')], ...of });
      return pickCanary(stagesInput({ nodes: all, record: before, policy: two, rolloutId }));
    });

  it('goes on with its nodes: with each edit others would be given what nothing proved', () => {
    assert.deepEqual(new Set(picked({})), new Set(canary));
  });

  it('goes on with them where its revision comes back, and where one before it is left on some', () => {
    const back = nodes.map((each) =>
      each.node.name === 'n5' ? stageNode('n5', { is: 'well' }) : each,
    );
    assert.deepEqual(new Set(picked({ hash: 'dddd' }, back)), new Set(canary));
    assert.deepEqual(new Set(picked({ hash: 'dddd', abandoned: ['eeee'] })), new Set(canary));
    const step = { ...record().step, kind: 'waiting' } as const;
    assert.deepEqual(
      new Set(picked({ hash: 'dddd', abandoned: ['eeee'], step })),
      new Set(canary),
      'of which no step was opened',
    );
  });

  it('is no wider than the policy says, though the one before it was', () => {
    const all = nodes.map(({ node }) => stageNode(node.name, { pod: abandoned }));
    assert.equal(picked({ canary: all.map(({ node }) => node.name) }, all).length, 4 * 2);
  });

  it('has others in the place of those that cannot go, and after a halt, or a step that is passed', () => {
    const down = nodes.map((each) =>
      each.node.name === 'n5' ? stageNode('n5', { isReady: false }) : each,
    );
    const chosen = new Set(picked({}, down));
    assert.ok(chosen.has('n6') && !chosen.has('n5') && chosen.size > 1);
    const breach = { cause: 'Restarts', atMs: NOW_MS, message: '', nodes: [] } as const;
    assert.ok(new Set(picked({ breach })).size > 2);
    assert.ok(new Set(picked({ step: { ...record().step, kind: 'group' } })).size > 2);
  });
});

describe('a canary where pods serve nobody', () => {
  const idle = { is: 'old', pod: { isReady: false } } as const;
  const nodes = [
    ...['n1', 'n2', 'n3', 'n4', 'n5', 'n6'].map((name) => stageNode(name)),
    stageNode('sick1', idle),
    stageNode('sick2', idle),
    stageNode('sick3', idle),
  ];
  const picked = (maxUnavailable: number, count: number, of = nodes): readonly string[] =>
    [
      ...pickCanary(
        stagesInput({
          nodes: of,
          policy: policy({
            maxUnavailable: { kind: 'count', count: maxUnavailable },
            canary: { kind: 'share', share: { kind: 'count', count }, spread: [] },
          }),
        }),
      ),
    ].sort();

  it('is of these, where they use up the budget: no other node could go before them', () => {
    assert.deepEqual(picked(3, 2), ['sick1', 'sick2']);
    assert.deepEqual(picked(2, 3), ['sick1', 'sick2', 'sick3']);
    assert.equal(picked(3, 5).filter((name) => name.startsWith('sick')).length, 3);
  });

  it('counts nodes that are down against the budget, and chooses none of them', () => {
    const down = [
      ...nodes.slice(0, 7),
      stageNode('down1', { isReady: false, pod: { isReady: false } }),
      stageNode('down2', { is: 'empty', isReady: false }),
    ];
    assert.deepEqual(picked(3, 1, down), ['sick1']);
    assert.equal(picked(4, 1, down)[0]?.startsWith('down'), false);
  });

  it('is of nodes without a pod, where they use it up: a pod of the former revision may never be let in', () => {
    const without = [
      ...nodes.slice(0, 6),
      stageNode('empty1', { is: 'empty' }),
      stageNode('empty2', { is: 'empty' }),
    ];
    assert.deepEqual(picked(2, 2, without), ['empty1', 'empty2']);
    assert.equal(picked(3, 1, without)[0]?.startsWith('empty'), false);
  });

  it('is of those without a pod first, and of no other where they alone use it up', () => {
    const empty = ['z1', 'z2'].map((name) => stageNode(name, { is: 'empty' }));
    const mixed = [...nodes, ...empty];
    assert.deepEqual(picked(3, 2, mixed), ['z1', 'z2']);
    assert.deepEqual(picked(3, 3, mixed), ['sick1', 'z1', 'z2']);
    const three = picked(2, 3, mixed);
    assert.deepEqual([three[1], three[2]], ['z1', 'z2']);
    assert.match(three[0] ?? '', /^n/, 'no pod that serves nobody can be taken away either');
  });

  it('is not of these for that reason while a healthy node can go: what is broken may be the node', () => {
    const free = new Set(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((rolloutId) =>
        pickCanary(
          stagesInput({
            nodes,
            rolloutId,
            policy: policy({ maxUnavailable: { kind: 'count', count: 4 } }),
          }),
        ).join(),
      ),
    );
    assert.ok(
      [...free].some((name) => name.startsWith('n')),
      [...free].join(),
    );
  });
});

describe('a canary that was not begun', () => {
  const refusalOf = (name: string): RefusalEntry => ({
    node: nodeName(name),
    generation: 1,
    code: 'admission',
    message: 'refused',
    delayMs: 60_000,
    notBeforeMs: NOW_MS,
  });
  const budget = policy({ maxUnavailable: { kind: 'count', count: 2 } });
  const emptied = [stageNode('n2', { is: 'empty' }), stageNode('n3', { is: 'empty' })];
  const canaryAfter = (
    first: StageNode,
    { others = emptied, refused = ['n3'] }: { others?: StageNode[]; refused?: string[] } = {},
  ): string =>
    withAbleCanary(
      record({ canary: [nodeName('n1')] }),
      stagesInput({
        policy: budget,
        nodes: [first, ...others, stageNode('n4')],
        refusals: refused.map(refusalOf),
      }),
    ).canary.join();

  it('goes to a node that is refused its former pod, where such nodes use up the budget', () => {
    assert.equal(canaryAfter(stageNode('n1')), 'n3');
    assert.equal(canaryAfter(stageNode('n1', { pod: { isReady: false } })), 'n3');
  });

  it('stays where others are without a pod for a moment, or leave room for it', () => {
    assert.equal(canaryAfter(stageNode('n1'), { refused: [] }), 'n1');
    const [, ...others] = emptied;
    assert.equal(canaryAfter(stageNode('n1'), { others }), 'n1');
  });

  it('is begun by a delete that may be on its way', () => {
    assert.equal(canaryAfter({ ...stageNode('n1'), isLeaving: true }), 'n1');
    assert.equal(canaryAfter(stageNode('n1', { is: 'empty' })), 'n1');
    assert.equal(canaryAfter(stageNode('n1', { is: 'unwell' })), 'n1');
  });
});
