/** A rollout that halts for pods that never started asks their Events for the cause: once, of a few, before it is recorded. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import { advanceStages } from '../../../../src/core/stages/advance-stages.ts';
import type { StagesInput } from '../../../../src/core/stages/stages-input.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { record, stagesInput } from '../../../support/stage-records.ts';
import { stageNode, type StageNodeOptions } from '../../../support/stage-nodes.ts';

const LATE: StageNodeOptions = {
  is: 'unwell',
  pod: { phase: 'Pending', createdAtMs: NOW_MS - 600_000 },
};
const PULLING: StageNodeOptions = {
  is: 'unwell',
  pod: { ...LATE.pod, trouble: { waiting: 'ImagePullBackOff' } },
};

function look(options: readonly StageNodeOptions[], input: Partial<StagesInput> = {}) {
  const nodes = options.map((each, index) => stageNode(`n${String(index + 1)}`, each));
  const canary = nodes.map(({ node }) => node.name);
  const awaited = nodes.flatMap(({ updated }) => {
    if (updated?.isReady !== false) return [];
    const { uid, readyChangedAtMs: changedAtMs = 0, createdAtMs: sinceMs } = updated;
    return [{ uid, sinceMs, changedAtMs }];
  });
  const { record: known = record({ canary }), ...rest } = input;
  return advanceStages(stagesInput({ record: { ...known, awaited }, nodes, ...rest }));
}

const asked = (options: readonly StageNodeOptions[], input: Partial<StagesInput> = {}) =>
  look(options, input).asksEventsOf.map(({ targetNode }) => targetNode);

describe('Events are asked for', () => {
  it('the pods that halt a rollout and never started, three at most', () => {
    assert.deepEqual(asked([LATE, {}]), ['n1']);
    assert.deepEqual(asked([LATE, LATE, LATE, LATE, { is: 'well' }]), ['n1', 'n2', 'n3']);
  });

  it('no pod that says why', () => {
    assert.deepEqual(asked([PULLING, {}]), []);
  });

  it('no pod that has time left, or of a rollout that stands', () => {
    assert.deepEqual(
      asked([{ is: 'unwell', pod: { phase: 'Pending', createdAtMs: NOW_MS - 1000 } }, {}]),
      [],
    );
    const breach = {
      cause: 'StartFailure',
      atMs: 1,
      message: '',
      nodes: [nodeName('n1')],
    } as const;
    assert.deepEqual(asked([LATE], { record: record({ breach }) }), []);
  });

  it('nobody again, and what they told is in the breach', () => {
    const causes = [{ kind: 'known', words: 'FailedMount: a volume' }] as const;
    const { record: after, asksEventsOf, events } = look([LATE, {}], { causes });
    assert.deepEqual(asksEventsOf, []);
    assert.match(after.breach?.message ?? '', /\(Pending\): n1; FailedMount: a volume/);
    assert.match(events[0]?.message ?? '', /FailedMount: a volume/);
  });
});
