// All interleavings of two actors on two and three nodes: with one preemption here, all with `run.ts small`.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ScheduleError, explore, playSchedule } from '../../support/systematic/explore.ts';
import { SMALL_SCENES, smallSceneNamed } from '../../support/systematic/small-scenes.ts';

for (const scene of SMALL_SCENES.filter(({ actors }) => actors.length === 2)) {
  const who = scene.actors.map(({ letter }) => letter).join(' and ');
  test(`S1, faults rows 19, 20: ${scene.name}: ${who} in every interleaving with one preemption keep all promises`, async (context) => {
    const { schedules, states, ends, depth, isWhole } = await explore(scene, { preemptionsMax: 1 });
    context.diagnostic(`${schedules} schedules, ${states} states, ${ends} ends, depth ${depth}`);
    assert.ok(isWhole && schedules > 20 && depth > 30, `${schedules} schedules to depth ${depth}`);
  });
}

test('M2: a schedule gives the same end twice, and another one than its opposite', async () => {
  const scene = smallSceneNamed('fresh');
  const [one, two] = [await playSchedule(scene, 'AAABBB'), await playSchedule(scene, 'AAABBB')];
  assert.equal(one.world.traceHash(), two.world.traceHash());
  const other = await playSchedule(scene, 'BBBBBBBBBBBBBBBBBB');
  assert.notEqual(one.world.traceHash(), other.world.traceHash());
});

test('M3, row 16: a schedule with a turn that cannot be taken fails; a failure names its replay', async () => {
  const scene = smallSceneNamed('fresh');
  await assert.rejects(playSchedule(scene, 'AZ'), /Z has no next call/);
  const { message } = new ScheduleError(scene, 'AAB', new Error('broken'));
  assert.match(
    message,
    /node scripts\/launch\.mjs test\/simulation\/systematic\/run\.ts small\/fresh\/AAB$/,
  );
});
