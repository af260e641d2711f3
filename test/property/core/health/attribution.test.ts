/**
 * False alarms and misses of the trial, over some hundred seeded fleets of each kind, agree with the table of rollouts facts 4.
 *
 * `npm run bench -- attribution` plays 10,000 of each. A harmless release may halt as often as the table has, a bad one may
 * be missed as often, and chance is granted 3.3 standard deviations: once in two thousand tables of other seeds.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  LARGE,
  SMALL,
  THRESHOLDS,
  haltsMax,
  haltsMin,
  isHarmful,
  measureColumn,
} from '../../../support/attribution/columns.ts';
import { POPULATIONS, playHarmless, upperBound } from '../../../support/attribution/harmless.ts';
import type { Column } from '../../../support/attribution/columns.ts';

const FLEETS = 150;
const FIRST_SEED = 1;

function judge(column: Column): void {
  const measured = measureColumn(column, FLEETS, FIRST_SEED);
  for (const [at, { halted }] of measured.entries()) {
    const percent = column.facts[at]?.haltPercent;
    if (percent === undefined) continue;
    const threshold = `E >= ${String(THRESHOLDS[at])}`;
    const said = `${threshold}: ${String(halted)} of ${String(FLEETS)} halted, seeds from ${String(FIRST_SEED)} on; the facts have ${String(percent)} %`;
    if (isHarmful(column)) assert.ok(halted >= haltsMin(FLEETS, percent), said);
    else assert.ok(halted <= haltsMax(FLEETS, percent), said);
  }
}

describe('164 nodes', () => {
  for (const column of LARGE) {
    it(`${column.name}: ${isHarmful(column) ? 'is found' : 'raises no alarm'} as often as in the facts`, () => {
      judge(column);
    });
  }
});

describe('50 nodes', () => {
  for (const column of SMALL) {
    it(`${column.name}: ${isHarmful(column) ? 'is found' : 'raises no alarm'} as often as in the facts`, () => {
      judge(column);
    });
  }
});

describe('harmless releases on fixed populations', () => {
  const plays = 75;
  for (const population of POPULATIONS.filter(({ nodes }) => nodes <= 1000)) {
    const { nodes, flakyPercent, canary } = population;
    it(`${String(nodes)} nodes, ${String(flakyPercent)} % flaky, canary ${String(canary)}: are halted once in fifty times at most`, () => {
      const halted = Array.from({ length: plays }, (_, play) =>
        playHarmless(population, FIRST_SEED + play),
      ).filter((cause) => cause !== undefined);
      assert.ok(halted.length <= haltsMax(plays, 2), `${String(halted.length)}: ${halted.join()}`);
    });
  }

  it('are judged by the bound of Clopper and Pearson: 29 of 2,000 are few enough, and 30 are not', () => {
    assert.ok(upperBound(29, 2000) <= 0.02 && upperBound(30, 2000) > 0.02);
    assert.ok(Math.abs(upperBound(0, 2000) - (1 - 0.05 ** (1 / 2000))) < 1e-9);
  });
});
