/** What planning looks up once per run: intents by node, and whether a lost state restricts it (protocol 6). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IntentJudgement } from '../../../../src/core/model/plan.ts';
import { findTargets } from '../../../../src/core/manage-pods/targets.ts';
import { preparePlanning, type Planning } from '../../../../src/core/manage-pods/planning.ts';
import {
  NOW_MS,
  LIFE_MS,
  answerOf,
  context,
  createIntent,
  failedPod,
  namedPod,
  node,
  pod,
  state,
  view,
} from '../../../support/core-fixtures.ts';
import type { ViewOptions } from '../../../support/core-fixtures.ts';

const NOTHING: IntentJudgement = { unseen: [], unresolved: [], settled: [] };
const N1 = node('n1').name;

function prepare(options: ViewOptions, intents: Partial<IntentJudgement> = {}): Planning {
  const seen = view(options);
  const targets = findTargets(seen, undefined);
  return preparePlanning(seen, context(), { intents: { ...NOTHING, ...intents }, targets });
}

describe('a young state restricts what may be deleted (protocol 6)', () => {
  const nodes = [node('n1'), node('n2')];
  const untilOf = (options: ViewOptions, ageMs: number): number | undefined => {
    const young = context({ state: state({ createdAtMs: NOW_MS - ageMs }) });
    const seen = view({ nodes, ...options });
    const targets = findTargets(seen, undefined);
    return preparePlanning(seen, young, { intents: NOTHING, targets }).restrictedUntilMs;
  };
  const rows: readonly [string, ViewOptions][] = [
    ['a pod of one of its nodes', { pods: [pod('n2')] }],
    ['a terminal pod that a finalizer holds', { pods: [failedPod('n1', { isTerminating: true })] }],
    ['a pod of a node that is gone', { pods: [pod('gone')] }],
    ['a pod without any node', { pods: [pod('n1', { boundNode: null, targetNode: null })] }],
  ];
  for (const [title, options] of rows) {
    it(`beside ${title}`, () => assert.equal(untilOf(options, 5000), NOW_MS - 5000 + LIFE_MS));
  }

  it('not beside no pod at all: there is nothing that it can have forgotten', () => {
    assert.equal(untilOf({}, 5000), undefined);
    assert.equal(untilOf({ nodes: [] }, 5000), undefined);
  });

  it('until the run of a forgotten request is over and twice its time-out passed, not longer (protocol 6)', () => {
    const options = { pods: [pod('n1')] };
    assert.equal(untilOf(options, LIFE_MS - 1), NOW_MS + 1);
    assert.equal(untilOf(options, LIFE_MS), undefined);
  });
});

describe('creates by node', () => {
  const first = createIntent('n1', { name: 'agent-a' });
  const second = createIntent('n1', { name: 'agent-b' });

  it('stand in the order of their names, however the state holds them', () => {
    const lists = [
      [first, second],
      [second, first],
    ];
    for (const intents of lists) {
      const { unresolvedCreates } = prepare({}, { unresolved: intents });
      assert.deepEqual(unresolvedCreates.get(N1), [first, second]);
      const { expiredCreates } = prepare({}, { settled: intents });
      assert.deepEqual(expiredCreates.get(N1), [first, second]);
      const { unseenCreates } = prepare({}, { unseen: intents });
      assert.equal(unseenCreates.get(N1), second);
    }
  });

  it('count as resolved by time only if no answer resolved them (protocol 5)', () => {
    const answered = { ...second, answer: answerOf('agent-b') };
    const { expiredCreates } = prepare({}, { settled: [answered, first] });
    assert.deepEqual(expiredCreates.get(N1), [first]);
  });
});

describe('released pods', () => {
  const labels = { app: 'quarantine' };

  it('may hold the name of the node that they were meant for, else of the one that they run on', () => {
    const aimed = namedPod('n1', 'aimed', { labels, boundNode: null });
    const bound = namedPod('n1', 'bound', { labels, targetNode: null });
    const nowhere = namedPod('n1', 'nowhere', { labels, boundNode: null, targetNode: null });
    const { releasedByNode } = prepare({ pods: [aimed, bound, nowhere] });
    assert.deepEqual([...releasedByNode], [[N1, [bound, aimed]]]);
  });
});
