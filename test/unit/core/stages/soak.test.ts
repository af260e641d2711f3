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

  it('is not lost in a view that is too old for a moment, and ends in none', () => {
    const known = { turns: knownSince(NOW_MS - 1000) };
    const old = look(known, { isViewFresh: false, policy: policy({ soakMs: 60_000 }) });
    assert.deepEqual(old.gate, { kind: 'view' });
    assert.equal(old.record.step.wellSinceMs, record().step.wellSinceMs);
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
