// Every passage of a recorded run as the place of a fault: a sample here that moves with the commit, all with `run.ts`.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { passageFault } from '../../support/systematic/passage-faults.ts';
import { playReference, referenceOf } from '../../support/systematic/references.ts';
import { playSample } from '../../support/systematic/sample.ts';
import { sceneNamed } from '../../support/systematic/scenes.ts';
import { TrialError, playOne } from '../../support/systematic/sweep.ts';
import { trialsNamed } from '../../support/systematic/sweeps.ts';
import { DeadPlanError, playTrial } from '../../support/systematic/trial.ts';

test('faults rows 1, 5: killed before or after a sampled call, a run leaves a safe prefix and the same end', async (context) => {
  await playSample('crash', 8, context);
});

test('faults rows 21, 23, 30: frozen at a sampled call and thawed late, a run changes nothing that stands', async (context) => {
  await playSample('freeze', 8, context);
});

test('faults row 29: a sampled call that lasts past the deadline is the last that changes the cluster', async (context) => {
  await playSample('deadline', 6, context);
});

test('faults rows 32, 33: a sampled call of a table or queue that is refused, or applied and not answered, costs a repetition', async (context) => {
  await playSample('table', 7, context);
});

test('M1, row 16: a plan that matches no passage, or another one than planned, fails its trial', async () => {
  const scene = sceneNamed('fresh');
  const late = passageFault({ order: 'kill', index: 100_000, text: 'nothing' });
  await assert.rejects(playTrial(scene, late), DeadPlanError);
  const wrong = passageFault({ order: 'kill', index: 10, text: 'another call' });
  await assert.rejects(playTrial(scene, wrong), /planned another call, came /);
});

test('M2: a scene gives the same trace twice, and so does each fault in it', async () => {
  const scene = sceneNamed('roll');
  const [one, two] = [await playReference(scene), await playReference(scene)];
  assert.equal(one.hash, two.hash);
  assert.deepEqual(one.passages, two.passages);
  const { index, text } = one.passages[200] ?? assert.fail('no such passage');
  const fault = passageFault({ order: 'kill', index, text });
  const hashes = [await playTrial(scene, fault), await playTrial(scene, fault)].map(
    ({ hash }) => hash,
  );
  assert.equal(hashes[0], hashes[1]);
  assert.notEqual(hashes[0], (await referenceOf(scene)).hash);
});

test('M3: a failed trial names scene, fault, number, call and the command that plays it alone', async () => {
  const name = 'crash/fresh/kill/37';
  const [trial] = await trialsNamed(name);
  assert.ok(trial !== undefined);
  const broken = { ...trial, play: () => Promise.reject(new Error('broken')) };
  await assert.rejects(playOne(broken), (error: unknown) => {
    assert.ok(error instanceof TrialError);
    assert.match(error.message, /^crash\/fresh\/kill\/37 \(\w+#\d+ (before|after) \w+\.\w+/);
    assert.ok(
      error.message.endsWith(`node scripts/launch.mjs test/simulation/systematic/run.ts ${name}`),
    );
    return true;
  });
});
