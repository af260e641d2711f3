/**
 * Rollcall and the built-in controller agree: seeded scenarios on two real control planes side by side, and
 * every scenario that once showed a disagreement.
 *
 * A failure prints both sides and the command that replays it: `npm run test:differential -- --seed …`.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { generateScenario } from '../../differential/generate.ts';
import { readKeptScenarios } from '../../differential/kept-scenarios.ts';
import { openPair } from '../../differential/pair.ts';
import type { Pair } from '../../differential/pair.ts';
import type { PlayResult } from '../../differential/play.ts';
import { AT_ONCE_MAX, isDisagreement, playAll } from '../../differential/play-all.ts';
import { describeDisagreement, summaryTable } from '../../differential/report.ts';
import type { Scenario } from '../../differential/scenario.ts';

const SEED = Number(process.env['ROLLCALL_SEED'] ?? '20261121');
const SCENARIOS_COUNT = 20;
const STEPS_COUNT = 20;

const skip = skipWithoutTools([TOOLS.go]);
const title = `Rollcall beside the built-in controller (seed ${SEED})`;

describe(title, { skip, timeout: 1_500_000 }, () => {
  let pair: Pair;

  before(async () => {
    pair = await openPair();
  });
  after(() => pair.close());

  it(`agrees after every step of ${SCENARIOS_COUNT} scenarios of ${STEPS_COUNT} steps`, async (context) => {
    const scenarios = Array.from({ length: SCENARIOS_COUNT }, (_, index) =>
      generateScenario({ seed: SEED, index, stepsCount: STEPS_COUNT }),
    );
    const startedAtMs = performance.now();
    const results = await playAll(pair, { scenarios, atOnceMax: AT_ONCE_MAX, placePrefix: 'f' });
    context.diagnostic(summaryTable(results, performance.now() - startedAtMs));
    assert.equal(results.length, SCENARIOS_COUNT);
    assertAgreement(
      results,
      (index) => `--seed ${SEED} --steps ${STEPS_COUNT} --from ${index} --scenarios 1`,
    );
  });

  it('agrees in every scenario that once showed a disagreement', async () => {
    const scenarios: readonly Scenario[] = readKeptScenarios();
    assert.ok(scenarios.length > 0);
    const results = await playAll(pair, { scenarios, atOnceMax: AT_ONCE_MAX, placePrefix: 'k' });
    assertAgreement(results, () => '--file test/regression/differential/<name>.json');
  });
});

function assertAgreement(
  results: readonly PlayResult[],
  replayOf: (index: number) => string,
): void {
  const disagreements = results
    .map((result, index) => ({ result, replay: `npm run test:differential -- ${replayOf(index)}` }))
    .filter(({ result }) => isDisagreement(result))
    .map(({ result, replay }) => describeDisagreement(result, replay));
  assert.equal(disagreements.join('\n'), '');
}
