/** On a cluster that nobody else changes, what happens after an edit is what `rollcall plan` said (issue 45). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlannedNode } from '../../src/core/what-if/tell-plan.ts';
import { drawEdit, makeAndFollow, planOf } from '../support/simulation/planned-edits.ts';
import type { Done } from '../support/simulation/planned-edits.ts';

const SEEDS = Array.from({ length: 100 }, (_, index) => index + 1);

/** `n1 restarted`, of nodes at which something is done. */
function wordsOf(changes: ReadonlyMap<string, { readonly change: string }>): readonly string[] {
  return [...changes].map(([node, { change }]) => `${node} ${change}`).sort();
}

/** Nodes that were to follow others, and did not. */
function outOfOrder(
  planned: readonly PlannedNode[],
  done: ReadonlyMap<string, Done>,
): readonly string[] {
  const rolled = planned.filter(({ change, step }) => change === 'restarted' && step !== undefined);
  return rolled.flatMap((later) =>
    rolled
      .filter((earlier) => (earlier.atMs ?? 0) < (later.atMs ?? 0))
      .filter(({ node }) => (done.get(node)?.atMs ?? 0) > (done.get(later.node)?.atMs ?? 0))
      .map(({ node }) => `${node} after ${later.node}`),
  );
}

describe('what happens after an edit is what was planned', () => {
  for (const seed of SEEDS) {
    it(`the edit of seed ${String(seed)}.`, async () => {
      const drawn = await drawEdit(seed);
      const replay = `npm test -- test/simulation/plans.test.ts --test-name-pattern='seed ${String(seed)}\\.'`;
      const said = `${drawn.words}\nreplay: ${replay}`;
      const plan = await planOf(drawn);
      assert.equal(plan.kind, 'planned', said);
      assert.ok(plan.kind === 'planned');
      assert.equal(plan.played.end, 'rest', said);
      const done = await makeAndFollow(drawn);
      const touched = plan.nodes.filter(
        ({ change }) => change !== 'held' && change !== 'unchanged',
      );
      assert.deepEqual(
        wordsOf(done),
        wordsOf(new Map(touched.map((one) => [one.node, one]))),
        said,
      );
      if (plan.hands.rollcall !== 'none') assert.deepEqual(outOfOrder(plan.nodes, done), [], said);
    });
  }
});
