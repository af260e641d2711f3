/**
 * What a soak counts from, and what begins it anew: time in which a pod was ready all along, and nothing else (S16).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, uid } from '../../../../src/core/model/identifiers.ts';
import type { PodTurns, RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import { advanceStages } from '../../../../src/core/stages/advance-stages.ts';
import type { StagesInput } from '../../../../src/core/stages/stages-input.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { policy } from '../../../support/staged-world.ts';
import { stageNode } from '../../../support/stage-nodes.ts';
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
