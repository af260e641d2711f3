// Answers that are lost, views that are old, events that nobody sees: a sample of each sweep here that moves with the commit, all with `run.ts`.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { CALL_SERIES, callFault } from '../../support/systematic/call-series.ts';
import { playSample } from '../../support/systematic/sample.ts';
import { sceneNamed } from '../../support/systematic/scenes.ts';
import { playOne } from '../../support/systematic/sweep.ts';
import { trialsNamed } from '../../support/systematic/sweeps.ts';
import { DeadPlanError, playTrial } from '../../support/systematic/trial.ts';

test('faults rows 9, 10, 11, 33: a sampled request or send that is lost, refused, or applied unheard changes no end and no count', async (context) => {
  await playSample('answers', 13, context);
});

test('faults rows 2, 3, 91: runs upon a view older than a sampled own write defer, and repeat nothing', async (context) => {
  await playSample('stale', 6, context);
});

test('faults row 4: a sampled change that is hidden until it is taken back moves no pod', async (context) => {
  await playSample('hidden', 15, context);
});

test('rows 38, 85: a DaemonSet made again over its orphans, all of it seen at once, makes no second pod', async () => {
  for (const trial of await trialsNamed('hidden/set-orphaning/relisted')) await playOne(trial);
});

test('S1, L1, faults row 22: whatever type lags behind the others, sampled, the end is the same', async (context) => {
  await playSample('lag', 9, context);
});

test('M1, row 16: a fault planned for a call that never comes, or that is another, fails its trial', async () => {
  const [series] = CALL_SERIES;
  assert.ok(series !== undefined);
  const plan = { series, order: 'lost', index: 100_000, text: 'nothing' } as const;
  await assert.rejects(playTrial(sceneNamed('failed'), callFault(plan)), DeadPlanError);
  const wrong = callFault({ ...plan, index: 1, text: 'another call' });
  await assert.rejects(playTrial(sceneNamed('failed'), wrong), /planned another call/);
});
