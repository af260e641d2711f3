/**
 * What a soak counts from, and what begins it anew: time in which a pod was ready all along, and nothing else (S16).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, uid } from '../../../../src/core/model/identifiers.ts';
import type {
  OpenStep,
  PodTurns,
  RolloutRecord,
} from '../../../../src/core/model/rollout-record.ts';
import { advanceStages } from '../../../../src/core/stages/advance-stages.ts';
import type { StagesInput } from '../../../../src/core/stages/stages-input.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { policy } from '../../../support/staged-world.ts';
import type { StageNode } from '../../../../src/core/stages/stage-node.ts';
import { stageNode, type StageNodeOptions } from '../../../support/stage-nodes.ts';
import { record, stagesInput } from '../../../support/stage-records.ts';

const SOAK_MS = 3_600_000;
const NODES = [stageNode('n1', { is: 'well', pod: { readyChangedAtMs: NOW_MS - 1000 } })];

function look(of: Partial<RolloutRecord>, input: Partial<StagesInput> = {}) {
  return advanceStages(
    stagesInput({
      policy: policy({ soakMs: SOAK_MS }),
      record: record(of),
      nodes: [...NODES, stageNode('n2')],
      ...input,
    }),
  );
}

const knownSince = (changedAtMs: number): readonly PodTurns[] => {
  const { updated } = NODES[0] ?? {};
  const pod = updated?.uid ?? uid('none');
  return [{ uid: pod, node: nodeName('n1'), changedAtMs, isReady: true, turns: 0 }];
};

describe('S16: a soak', () => {
  it('goes on while nothing happened to its pods', () => {
    const { step } = look({ turns: knownSince(NOW_MS - 1000) }).record;
    assert.equal(step.wellSinceMs, record().step.wellSinceMs);
  });

  it('begins anew where a pod was not ready in between, though no run saw it', () => {
    const { step } = look({ turns: knownSince(NOW_MS - 60_000) }).record;
    assert.equal(step.wellSinceMs, NOW_MS);
  });

  it('begins anew where another pod came in the place of one, though no run saw the node without', () => {
    const before = [{ ...knownSince(NOW_MS - 1000)[0], uid: uid('before') } as PodTurns];
    const { step } = look({ turns: before }).record;
    assert.equal(step.wellSinceMs, NOW_MS);
  });

  it('is not lost in a view that is too old for a moment, and ends in none', () => {
    const known = { turns: knownSince(NOW_MS - 1000) };
    const old = look(known, { isViewFresh: false, policy: policy({ soakMs: 60_000 }) });
    assert.deepEqual(old.gate, { kind: 'view' });
    assert.equal(old.record.step.wellSinceMs, record().step.wellSinceMs);
  });

  describe('of which a part was in the dark', () => {
    const since = NOW_MS - 1_800_000;
    const well = { ...record().step, wellSinceMs: since };
    const known = { turns: knownSince(NOW_MS - 1000) };
    const dark = (unheardMs: number, before?: number) => {
      const step = before === undefined ? well : { ...well, unheardMs: before };
      return look({ ...known, step }, { unheardMs }).record.step;
    };

    it('counts without it', () => {
      const { wellSinceMs, unheardMs } = dark(1_000_000);
      assert.equal(wellSinceMs, since + 1_000_000);
      assert.equal(unheardMs, 1_000_000);
      assert.equal(dark(1_000_000, 1_000_000).wellSinceMs, since, 'taken out once');
      assert.equal(dark(2_500_000, 1_000_000).wellSinceMs, since + 1_500_000);
    });

    it('is never well from a moment that has not come', () => {
      assert.equal(dark(3_000_000).wellSinceMs, NOW_MS);
    });

    it('begins anew after as much darkness as it is long', () => {
      const late = { ...well, wellSinceMs: NOW_MS - 5_400_000 };
      const at = (unheardMs: number) => look({ ...known, step: late }, { unheardMs }).record.step;
      assert.equal(at(SOAK_MS).wellSinceMs, NOW_MS);
      assert.equal(at(SOAK_MS - 1).wellSinceMs, NOW_MS - 5_400_000 + SOAK_MS - 1);
    });

    it('begins anew where nobody knows how much', () => {
      assert.equal(dark(0, 1_000_000).wellSinceMs, NOW_MS, 'META was lost');
      assert.equal(dark(0, 1_000_000).unheardMs, undefined);
    });

    it('of no length needs no light', () => {
      const input = { unheardMs: 5, policy: policy({ soakMs: 0 }) };
      const nodes = [...NODES];
      assert.equal(look(known, { ...input, nodes }).record.step.kind, 'done');
    });
  });

  it('does not begin in a view that is too old', () => {
    const { wellSinceMs: _none, ...step } = record().step;
    const { record: after } = look({ step }, { isViewFresh: false });
    assert.equal(after.step.wellSinceMs, undefined);
  });

  it('is looked at again in no step with bookmarks and heartbeats', () => {
    const step = { ...record().step, progressedAtMs: NOW_MS - 86_400_000 };
    const { untilMs } = look({ step }, { isViewFresh: false });
    assert.notEqual((Math.min(...untilMs) - NOW_MS) % 30_000, 0);
  });
});

describe('a soak of a step after the canary', () => {
  const SINCE_MS = NOW_MS - 1_800_000;
  const well = (count: number, options: StageNodeOptions = {}): StageNode[] =>
    Array.from({ length: count }, (_, index) =>
      stageNode(`m${String(index)}`, { is: 'well', ...options }),
    );
  const group: OpenStep = { ...record().step, kind: 'group', index: 1, wellSinceMs: SINCE_MS };
  const lookAt = (
    nodes: readonly StageNode[],
    input: Partial<StagesInput> = {},
    step: Partial<OpenStep> = {},
  ) => look({ step: { ...group, ...step }, opened: [''] }, { nodes, ...input });
  const restarted = (restarts: number) => ({ pod: { trouble: { restarts } } });

  it('goes on though pods of two percent of its nodes restart within an hour', () => {
    const of = (count: number) => [...well(200 - count), ...well(count, restarted(1))];
    assert.equal(lookAt(of(4)).record.step.wellSinceMs, SINCE_MS);
    assert.equal(lookAt(of(5)).record.step.wellSinceMs, NOW_MS);
    const long = { wellSinceMs: NOW_MS - 2 * SOAK_MS };
    const policyOf = policy({ soakMs: 72 * SOAK_MS });
    assert.equal(
      lookAt(of(8), { policy: policyOf }, long).record.step.wellSinceMs,
      long.wellSinceMs,
    );
  });

  it('counts restarts since it began, also when runs see them one by one', () => {
    let { record: now } = lookAt(well(200));
    for (const [at, restarts] of [1, 2, 3, 4, 5].entries()) {
      const nodes = [...well(199), ...well(1, restarted(restarts))];
      now = look(now, { nodes, nowMs: NOW_MS + at }).record;
    }
    assert.equal(now.step.wellSinceMs, NOW_MS + 4);
  });

  it('goes on though one node of many is not Ready, and the next step opens without it', () => {
    const nodes = [...well(199), stageNode('down', { is: 'well', isReady: false })];
    assert.equal(lookAt(nodes).record.step.wellSinceMs, SINCE_MS);
    const over = { wellSinceMs: NOW_MS - SOAK_MS };
    assert.equal(lookAt(nodes, {}, over).record.step.kind, 'done');
    const few = [...well(9), stageNode('down', { is: 'well', isReady: false })];
    assert.deepEqual(lookAt(few, {}, over).gate, { kind: 'settling', unwellNodes: 1 });
    assert.equal(lookAt(few, {}, over).record.step.wellSinceMs, over.wellSinceMs, 'but waits');
  });

  it('neither begins nor ends while a pod comes up', () => {
    const pod = { createdAtMs: NOW_MS - 60_000 };
    const nodes = [...well(199), stageNode('up', { is: 'unwell', pod })];
    const over = { wellSinceMs: NOW_MS - SOAK_MS };
    assert.deepEqual(lookAt(nodes, {}, over).gate, { kind: 'settling', unwellNodes: 1 });
    const { wellSinceMs: _none, ...unknown } = group;
    assert.equal(
      look({ step: unknown, opened: [''] }, { nodes }).record.step.wellSinceMs,
      undefined,
    );
  });

  it('goes on under another watcher, and begins anew in another history', () => {
    const nodes = well(10);
    assert.equal(lookAt(nodes, { seenView: '1/2000' }).record.step.wellSinceMs, SINCE_MS);
    assert.equal(lookAt(nodes, { seenView: '2/1000' }).record.step.wellSinceMs, NOW_MS);
    const canary = look({ turns: knownSince(NOW_MS - 1000) }, { seenView: '1/2000' });
    assert.equal(canary.record.step.wellSinceMs, NOW_MS, 'strict for the canary');
  });
});

describe('a soak that was begun anew three times', () => {
  const NODE = stageNode('n1', { is: 'well', pod: { trouble: { restarts: 1 } } });
  const HOUR_MS = 3_600_000;
  const again = (soaksLost: number, input: Partial<StagesInput> = {}, at: Partial<OpenStep> = {}) =>
    look(
      { step: { ...record().step, soaksLost, ...at } },
      { nodes: [NODE, stageNode('n2')], ...input },
    );

  it('is told once, by an Event', () => {
    const told = again(2);
    assert.equal(told.record.step.soaksLost, 3);
    assert.deepEqual(
      told.events.map(({ type, reason, message }) => [type, reason, message]),
      [
        [
          'Warning',
          'RolloutSoakLost',
          'Rollout of revision bbbb gets no further: the soak of its canary was begun anew 3 times',
        ],
      ],
    );
    assert.deepEqual(again(0).events, []);
    assert.equal(again(0).record.step.soaksLost, 1);
    assert.deepEqual(again(3).events, []);
  });

  it('is a lack of progress, as far as it is not over', () => {
    const policyOf = policy({ soakMs: SOAK_MS, progressDeadlineMs: 2 * HOUR_MS });
    const late = { progressedAtMs: NOW_MS - 2 * HOUR_MS };
    const quiet = { policy: policyOf, nodes: [...NODES, stageNode('n2')] };
    const breach = again(3, quiet, late).record.breach;
    assert.equal(breach?.cause, 'ProgressDeadlineExceeded');
    assert.match(breach.message, /the soak was begun anew 3 times/);
    assert.equal(again(2, quiet, late).record.breach, undefined);
    const over = { ...late, wellSinceMs: NOW_MS - SOAK_MS };
    const held = { ...quiet, policy: policy({ ...policyOf, approval: 'after-canary' }) };
    assert.deepEqual(again(3, held, over).gate, { kind: 'approval', stepIndex: 1 });
    const soon = { progressedAtMs: NOW_MS - HOUR_MS };
    assert.ok(again(3, quiet, soon).untilMs.includes(NOW_MS + HOUR_MS));
  });
});

describe('an excused failure', () => {
  const oom = (finishedAtMs: number) => ({
    createdAtMs: NOW_MS - 7_000_000,
    trouble: {
      restarts: 1,
      lastExit: { reason: 'OOMKilled', exitCode: 137, finishedAtMs },
      container: 'main',
    },
  });
  const at = (finishedAtMs: number) => {
    const of = { startedAtMs: NOW_MS - 7_200_000, restarts: 1 };
    const step = { ...record().step, wellSinceMs: NOW_MS - SOAK_MS };
    const nodes = [
      stageNode('n1', { is: 'well', pod: oom(finishedAtMs) }),
      stageNode('n2', { pod: oom(finishedAtMs) }),
      stageNode('n3'),
    ];
    return look({ ...of, step }, { nodes, policy: policy({ soakMs: SOAK_MS }) });
  };

  it('keeps the soak from passing for an hour, and says so', () => {
    const { record: after, gate, untilMs } = at(NOW_MS - 600_000);
    const sharedUntilMs = NOW_MS + 3_000_000;
    assert.equal(after.breach, undefined);
    assert.deepEqual(gate, { kind: 'settling', unwellNodes: 1, sharedUntilMs });
    assert.ok(untilMs.includes(sharedUntilMs));
    assert.equal(at(NOW_MS - SOAK_MS).record.step.kind, 'group');
  });
});
