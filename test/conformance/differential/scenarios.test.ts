/**
 * Rollcall and the built-in controller agree: seeded scenarios on two real control planes side by side, and
 * every scenario that once showed a disagreement.
 *
 * A failure prints both sides and the command that replays it: `npm run test:differential -- --seed …`.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { judgeRun } from '../../differential/excused.ts';
import { generateScenario } from '../../differential/generate.ts';
import { readKeptScenarios } from '../../differential/kept-scenarios.ts';
import { measureLateness } from '../../differential/lateness.ts';
import { openPair, type Pair } from '../../differential/pair.ts';
import type { PlayResult } from '../../differential/play.ts';
import { playDisagreementsAgain } from '../../differential/play-again.ts';
import { AT_ONCE_MAX, playAll } from '../../differential/play-all.ts';
import {
  causesOf,
  describeDisagreement,
  summaryTable,
  sumKinds,
} from '../../differential/report.ts';
import type { Scenario } from '../../differential/scenario.ts';
import { countKinds, STEP_KINDS } from '../../differential/step-kinds.ts';

const SEED = Number(process.env['ROLLCALL_SEED'] ?? '20261121');
/** A representative: the night plays 200 fresh ones. */
const SCENARIOS_COUNT = 10;
const STEPS_COUNT = 20;
const DRAWN_OFTEN = 5;

const skip = skipWithoutTools([TOOLS.go]);
const title = `Rollcall beside the built-in controller (seed ${SEED})`;

describe(title, { skip, timeout: 1_790_000 }, () => {
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
    assertEachKindApplied(scenarios, results);
    assert.deepEqual(measureLateness(results).faults, []);
    await assertAgreement(
      { results, context, placePrefix: 'fa' },
      ({ scenario }) =>
        `--seed ${SEED} --steps ${STEPS_COUNT} --from ${String(scenarios.indexOf(scenario))} --scenarios 1`,
    );
  });

  it('agrees in every scenario that once showed a disagreement', async (context) => {
    const scenarios: readonly Scenario[] = readKeptScenarios();
    assert.ok(scenarios.length > 0);
    const results = await playAll(pair, { scenarios, atOnceMax: AT_ONCE_MAX, placePrefix: 'k' });
    await assertAgreement(
      { results, context, placePrefix: 'ka' },
      () => '--file test/regression/differential/<name>.json',
    );
  });

  /** What was drawn more than now and then has really happened: it was not always left out, or refused. */
  function assertEachKindApplied(
    scenarios: readonly Scenario[],
    results: readonly PlayResult[],
  ): void {
    const drawn = countKinds(scenarios.flatMap(({ steps }) => steps));
    const applied = sumKinds(results);
    const missing = STEP_KINDS.filter((kind) => drawn[kind] >= DRAWN_OFTEN && applied[kind] === 0);
    assert.deepEqual(missing, []);
  }

  /** What disagrees must do so again, with room for chance as excused.ts grants it; chance is told by seed. */
  async function assertAgreement(
    played: {
      readonly results: readonly PlayResult[];
      readonly context: TestContext;
      readonly placePrefix: string;
    },
    replayOf: (result: PlayResult) => string,
  ): Promise<void> {
    const confirmed = await playDisagreementsAgain(pair, played.results, played.placePrefix);
    const { disagreements, excused } = judgeRun(confirmed);
    for (const result of excused) {
      const causes = causesOf(result).join(', ');
      played.context.diagnostic(`by chance: ${result.scenario.title}: ${causes}`);
    }
    const texts = disagreements.map((result) =>
      describeDisagreement(result, `npm run test:differential -- ${replayOf(result)}`),
    );
    assert.equal(texts.join('\n'), '');
  }
});
