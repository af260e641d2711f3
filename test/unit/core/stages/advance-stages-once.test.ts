/**
 * One look at a staged rollout, by itself: what it notes of the open step, what it opens, and when it looks again.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { OpenStep, RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import { advanceStages } from '../../../../src/core/stages/advance-stages.ts';
import type { StageNode } from '../../../../src/core/stages/stage-node.ts';
import type { Stages, StagesInput } from '../../../../src/core/stages/stages-input.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { policy } from '../../../support/staged-world.ts';
import { record, stagesInput } from '../../../support/stage-records.ts';
import { NEW_HASH, OLD_HASH, stageNode } from '../../../support/stage-nodes.ts';

const MINUTE_MS = 60_000;
const NOTE = { by: 'somebody', atMs: NOW_MS };
const ORDER = [{ label: 'zone', values: [], isLast: false }];
const YOUNG = { createdAtMs: NOW_MS - 5_000, readyChangedAtMs: NOW_MS - 5_000 };
const BREACH = { cause: 'Restarts', atMs: NOW_MS, message: '', nodes: [] } as const;

/** Ten nodes, `well` of them with a new pod: n1 is the canary. */
function nodes(well: number, others: readonly StageNode[] = []): readonly StageNode[] {
  const kept = 10 - well - others.length;
  const made = Array.from({ length: well + kept }, (_each, index) =>
    stageNode(`n${String(index + 1)}`, {
      is: index < well ? 'well' : 'old',
      labels: { zone: index < 5 ? 'a' : 'b' },
    }),
  );
  return [...made, ...others];
}

function at(step: Partial<OpenStep>, options: Partial<RolloutRecord> = {}): RolloutRecord {
  const base = record(options);
  return { ...base, step: { ...base.step, ...step } };
}

/** A record in its first group, which opened a minute ago. */
function inGroup(
  step: Partial<OpenStep> = {},
  options: Partial<RolloutRecord> = {},
): RolloutRecord {
  const openedAtMs = NOW_MS - MINUTE_MS;
  const { wellSinceMs: _none, ...group } = at(
    { kind: 'group', index: 1, name: '', openedAtMs, progressedAtMs: openedAtMs, updatedNodes: 4 },
    { proven: { hash: NEW_HASH, provenAtMs: openedAtMs, isBaseline: false }, ...options },
  ).step;
  return { ...record({ opened: [''], ...options }), step: { ...group, ...step } };
}

function look(of: RolloutRecord, input: Partial<StagesInput>): Stages {
  return advanceStages(stagesInput({ record: of, ...input }));
}

function names(found: Iterable<string>): readonly string[] {
  return [...found].sort();
}

describe('the progress that a look notes', () => {
  it('is a node more than before, and never a node less', () => {
    const more = look(inGroup(), { nodes: nodes(5) }).record.step;
    assert.deepEqual([more.updatedNodes, more.progressedAtMs], [5, NOW_MS]);
    for (const well of [4, 3]) {
      const none = look(inGroup(), { nodes: nodes(well) }).record.step;
      assert.deepEqual([none.updatedNodes, none.progressedAtMs], [4, NOW_MS - MINUTE_MS]);
    }
  });

  it('is the end of a pause, by the policy or by an order, and not its duration', () => {
    const paused = policy({ isPaused: true });
    const held = look(inGroup(), { nodes: nodes(4), policy: paused }).record.step;
    assert.deepEqual([held.isHeld, held.progressedAtMs], [true, NOW_MS - MINUTE_MS]);
    const ordered = inGroup({}, { orders: { paused: NOTE } });
    assert.equal(look(ordered, { nodes: nodes(4) }).record.step.isHeld, true);
    const still = look(inGroup({ isHeld: true }), { nodes: nodes(4), policy: paused }).record.step;
    assert.equal(still.progressedAtMs, NOW_MS - MINUTE_MS);
    const ended = look(inGroup({ isHeld: true }), { nodes: nodes(4) }).record.step;
    assert.equal(ended.progressedAtMs, NOW_MS);
    assert.ok(!('isHeld' in ended));
  });

  it('is none where nothing is open', () => {
    const done = at({ kind: 'done', index: 1, updatedNodes: 10, progressedAtMs: 7 });
    const seen = look(done, { nodes: nodes(10), seenView: '1/2000' }).record;
    assert.deepEqual(seen.step, done.step);
    assert.equal(seen.seenView, '1/2000');
  });
});

describe('a soak', () => {
  const soaking = policy({ soakMs: 15 * MINUTE_MS });
  const since = (of: RolloutRecord, input: Partial<StagesInput> = {}): number | undefined =>
    look(of, { nodes: nodes(1), policy: soaking, ...input }).record.step.wellSinceMs;
  const SINCE_MS = record().startedAtMs;
  const restarted = [stageNode('n1', { is: 'well', pod: { trouble: { restarts: 1 } } })];

  it('begins anew with a restart of a pod', () => {
    assert.equal(since(record(), { nodes: restarted }), NOW_MS);
    assert.equal(since(record({ restarts: 1 }), { nodes: restarted }), SINCE_MS);
    assert.equal(since(record({ restarts: 2 }), { nodes: restarted }), SINCE_MS, 'a pod that went');
  });

  it('begins anew with a pod that was not ready in between, and not with one from before', () => {
    const turn = (turnedAtMs: number, changedAtMs = turnedAtMs): RolloutRecord['turns'] => {
      const { updated } = stageNode('n1', { is: 'well' });
      assert.ok(updated !== undefined);
      return [
        {
          uid: updated.uid,
          node: nodeName('n1'),
          changedAtMs,
          isReady: true,
          turns: 1,
          turnedAtMs,
        },
      ];
    };
    const changed = NOW_MS - 3_600_000;
    const of = (turnedAtMs: number): RolloutRecord => {
      const turns = turn(turnedAtMs, changed);
      return { ...record(), ...(turns === undefined ? {} : { turns }) };
    };
    assert.equal(since(of(SINCE_MS + 1)), NOW_MS);
    assert.equal(since(of(SINCE_MS)), SINCE_MS);
    assert.equal(since(of(SINCE_MS - 1)), SINCE_MS);
  });
});

describe('the next step', () => {
  it('is the canary, with its own number', () => {
    const waiting = at({ kind: 'waiting', index: -1, updatedNodes: 0 });
    const { step } = look(waiting, { nodes: nodes(0) }).record;
    const { openedAtMs, progressedAtMs, kind, name, index, updatedNodes } = step;
    assert.deepEqual(
      { kind, name, index, updatedNodes },
      { kind: 'canary', name: '', index: 0, updatedNodes: 0 },
    );
    assert.deepEqual([openedAtMs, progressedAtMs], [NOW_MS, NOW_MS]);
  });

  it('is the first group after a canary, which proves the revision', () => {
    const { record: next, open } = look(record(), {
      nodes: nodes(1),
      policy: policy({ order: ORDER }),
    });
    const { kind, name, index, updatedNodes } = next.step;
    assert.deepEqual(
      { kind, name, index, updatedNodes },
      { kind: 'group', name: 'a', index: 1, updatedNodes: 1 },
    );
    assert.deepEqual(next.proven, { hash: NEW_HASH, provenAtMs: NOW_MS, isBaseline: false });
    assert.equal(next.groups, 2);
    assert.deepEqual(names(open), ['n2', 'n3', 'n4', 'n5']);
  });

  it('is counted on from the group before it, which proves nothing by itself', () => {
    const before = inGroup({
      name: 'a',
      index: 1,
      updatedNodes: 5,
      wellSinceMs: NOW_MS - MINUTE_MS,
    });
    const { proven: _none, ...unproven } = before;
    const next = look(unproven, { nodes: nodes(5), policy: policy({ order: ORDER }) }).record;
    assert.deepEqual([next.step.kind, next.step.name, next.step.index], ['group', 'b', 2]);
    assert.equal(next.proven, undefined);
  });

  it('is the end, of the number of the last group, when no group is left', () => {
    const last = inGroup({
      name: 'b',
      index: 2,
      updatedNodes: 10,
      wellSinceMs: NOW_MS - MINUTE_MS,
    });
    const next = look(last, { nodes: nodes(10), policy: policy({ order: ORDER }) }).record;
    assert.deepEqual([next.step.kind, next.step.name, next.step.index], ['done', '', 2]);
  });
});

describe('what is open', () => {
  it('is one node of the canary until its successor is there', () => {
    const canary = [nodeName('n1'), nodeName('n2')];
    const of = at({ updatedNodes: 0 }, { canary });
    assert.deepEqual(names(look(of, { nodes: nodes(0) }).open), ['n1']);
    const tried = [stageNode('n1', { is: 'empty' }), ...nodes(0).slice(1)];
    assert.deepEqual(names(look(of, { nodes: tried }).open), []);
    const elsewhere = [...nodes(0).slice(0, 9), stageNode('n10', { is: 'empty' })];
    assert.deepEqual(names(look(of, { nodes: elsewhere }).open), ['n1'], 'no canary was tried');
    const there = [stageNode('n1', { is: 'unwell', pod: YOUNG }), ...nodes(0).slice(1)];
    assert.deepEqual(names(look(of, { nodes: there }).open), ['n2']);
  });

  it('is everything in a return, at once', () => {
    const of = at({ kind: 'done', index: 0, updatedNodes: 0 }, { isReturn: true });
    assert.equal(look(of, { nodes: nodes(0) }).open.size, 10);
  });

  it('leaves out nodes that are not Ready, and what the partition keeps', () => {
    const sick = [stageNode('n9', { isReady: false }), stageNode('n10')];
    const { open, gate } = look(inGroup(), { nodes: nodes(4, sick) });
    assert.deepEqual(names(open), ['n10', 'n5', 'n6', 'n7', 'n8']);
    assert.deepEqual(gate, { kind: 'updating', pendingNodes: 5 });
    const kept = policy({ partition: { kind: 'count', count: 4 } });
    assert.deepEqual(names(look(inGroup(), { nodes: nodes(4), policy: kept }).open), ['n5', 'n6']);
  });

  it('is nothing while it is paused, not even to put nodes back', () => {
    const ahead = nodes(1, [stageNode('n9', { is: 'well', pod: YOUNG }), stageNode('n10')]);
    const of = at({ updatedNodes: 2 });
    const soaking = policy({ soakMs: 60 * MINUTE_MS });
    assert.deepEqual(names(look(of, { nodes: ahead, policy: soaking }).open), ['n9']);
    const paused = { ...soaking, isPaused: true };
    assert.deepEqual(names(look(of, { nodes: ahead, policy: paused }).open), []);
  });
});

describe('evidence', () => {
  const trouble = {
    restarts: 2,
    waiting: 'CrashLoopBackOff',
    lastExit: { reason: 'Error', exitCode: 1 },
    container: 'main',
  };
  const crashed = stageNode('n1', { is: 'unwell', pod: { ...YOUNG, trouble } });
  const sick = [crashed, ...nodes(0).slice(1)];

  it('halts an open step, and takes back what the canary proved', () => {
    const proven = { hash: NEW_HASH, provenAtMs: NOW_MS, isBaseline: false };
    const halted = look(record({ proven }), { nodes: sick }).record;
    assert.equal(halted.breach?.cause, 'Restarts');
    assert.equal(halted.proven?.hash, OLD_HASH);
    assert.equal(halted.former?.hash, OLD_HASH);
    const { former: _none, ...alone } = record({ proven });
    const without = look(alone, { nodes: sick }).record;
    assert.equal(without.breach?.cause, 'Restarts');
    assert.ok(!('proven' in without) && !('former' in without));
  });

  it('leaves what was good before as it is', () => {
    const other = { hash: 'cccc', provenAtMs: NOW_MS, isBaseline: false };
    assert.deepEqual(look(record({ proven: other }), { nodes: sick }).record.proven, other);
  });

  it('is not looked for in a return, before the first step, and after the last', () => {
    const done = at({ kind: 'done', index: 1 });
    for (const of of [
      record({ isReturn: true }),
      at({ kind: 'waiting', index: -1 }, { canary: [] }),
      done,
    ]) {
      assert.equal(look(of, { nodes: sick }).record.breach, undefined);
    }
  });

  it('keeps the first halt, whatever shows later', () => {
    const breach = { ...BREACH, cause: 'OOMKilled' as const };
    assert.deepEqual(look(record({ breach }), { nodes: sick }).record.breach, breach);
  });

  it('of turns is kept only where a pod turned', () => {
    assert.ok(!('turns' in look(record(), { nodes: nodes(0) }).record));
  });
});

describe('the budget', () => {
  const budget = (input: Partial<StagesInput>): number =>
    look(record(), { nodes: nodes(1), ...input }).maxUnavailable;

  it('is the policy’s, of the nodes that the rollout began with, and one at least', () => {
    const percent = (value: number): StagesInput['policy'] =>
      policy({ maxUnavailable: { kind: 'percent', percent: value } });
    assert.deepEqual(
      [1, 10, 11, 50].map((value) => budget({ policy: percent(value) })),
      [1, 1, 2, 5],
    );
  });

  it('is the strategy’s where the policy says none, and one at least', () => {
    assert.deepEqual(
      [0, 1, 3].map((strategyUnavailable) => budget({ strategyUnavailable })),
      [1, 1, 3],
    );
  });
});

describe('when time alone changes something', () => {
  const deadline = policy({ soakMs: 5 * MINUTE_MS, progressDeadlineMs: 10 * MINUTE_MS });
  const GROUP_MS = NOW_MS - MINUTE_MS;

  it('is the deadline, while nodes are updated or settle', () => {
    const updating = look(inGroup(), { nodes: nodes(4), policy: deadline });
    assert.equal(updating.gate.kind, 'updating');
    assert.deepEqual(updating.untilMs, [GROUP_MS + 10 * MINUTE_MS]);
    const settling = look(inGroup(), {
      nodes: nodes(9, [stageNode('n10', { is: 'empty' })]),
      policy: { ...deadline, soakMs: MINUTE_MS },
      isStageTrue: true,
    });
    assert.equal(settling.gate.kind, 'settling');
    assert.ok(settling.untilMs.includes(NOW_MS + 10 * MINUTE_MS), String(settling.untilMs));
    assert.deepEqual(look(inGroup(), { nodes: nodes(4) }).untilMs, []);
  });

  it('is the end of a soak, and no deadline then', () => {
    const soaking = look(inGroup({ wellSinceMs: GROUP_MS, updatedNodes: 10 }), {
      nodes: nodes(10),
      policy: deadline,
    });
    assert.deepEqual(soaking.untilMs, [GROUP_MS + 5 * MINUTE_MS]);
  });

  it('is ever later, and within bounds, for a view that is silent', () => {
    const afterMs = (lastedMs: number): number | undefined => {
      const progressedAtMs = NOW_MS - lastedMs;
      const silent = look(inGroup({ progressedAtMs, updatedNodes: 10 }), {
        nodes: nodes(10),
        policy: deadline,
        isViewFresh: false,
      });
      assert.equal(silent.gate.kind, 'view');
      const [first] = silent.untilMs;
      return first === undefined ? undefined : first - NOW_MS;
    };
    assert.deepEqual(
      [-MINUTE_MS, 0, MINUTE_MS, 200_000, 8 * MINUTE_MS].map(afterMs),
      [37_000, 37_000, 37_000, 100_000, 240_000],
    );
    assert.equal(afterMs(9 * MINUTE_MS + 59_000), 277_000);
  });
});
