// Each alarm fires when its metric says so, in its stated time, and none on a day as it should be (14 A.8).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';
import { firstRing, type Datapoint } from '../../support/template/alarm-clock.ts';
import { promisedMinutes } from '../../support/template/alarm-rules.ts';
import {
  MeasuredFunctions,
  SITUATIONS,
  deployedAlarms,
} from '../../support/template/alarm-situations.ts';
import type { Situation } from '../../support/template/alarm-situations.ts';
import { quietDay } from '../../support/template/quiet-day.ts';

const ALARMS = deployedAlarms();
const PLAYED_MINUTES = 120;

function play(situation: Situation): readonly Datapoint[] {
  const functions = new MeasuredFunctions();
  return Array.from({ length: PLAYED_MINUTES }, (_, minute) =>
    functions.play(situation, minute),
  ).flat();
}

describe('alarms', () => {
  it('each has a situation that rings it, and each situation an alarm', () => {
    assert.ok(ALARMS.size >= 27, `${ALARMS.size} alarms`);
    assert.deepEqual(Object.keys(SITUATIONS).sort(), [...ALARMS.keys()].sort());
  });

  for (const [name, situations] of Object.entries(SITUATIONS)) {
    it(`rings in its stated time, whichever it is about: ${name}`, () => {
      const alarm = ALARMS.get(name);
      const withinMinutes = promisedMinutes(name);
      assert.ok(alarm !== undefined && withinMinutes !== undefined);
      for (const situation of situations) {
        const ring = firstRing(alarm, play(situation), PLAYED_MINUTES);
        const what = `${JSON.stringify(situation)}: ${ring}, promised ${withinMinutes}`;
        assert.ok(ring !== undefined && ring <= withinMinutes, what);
      }
    });
  }

  it('count what the code counts, under that name', () => {
    for (const situation of Object.values(SITUATIONS).flat()) {
      if ('measure' in situation) continue;
      const source = readFileSync(path.join(repositoryRoot, situation.code), 'utf8');
      const call = new RegExp(`metrics\\.(?:count|record)\\('${situation.metric}'`);
      assert.match(source, call, `${situation.code} writes no ${situation.metric}`);
    }
  });

  it('ring for nobody on a day with a deployment, a restored cluster and slow minutes', () => {
    const { minutes, data } = quietDay();
    for (const [name, alarm] of ALARMS) {
      assert.equal(firstRing(alarm, data, minutes), undefined, name);
    }
  });
});
