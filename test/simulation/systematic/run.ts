/**
 * The whole systematic set, or the part of it whose names begin so.
 *
 *   run.ts                              everything, to its end
 *   run.ts crash/fresh/kill/37          one trial (crash, freeze, deadline, table, answers, stale, hidden, lag)
 *   run.ts small                        all interleavings of every small scene
 *   run.ts small/fresh/AAABBA           one schedule
 *   run.ts "" --stride 9 --offset 4     every ninth trial, from the fourth
 *   run.ts small --preemptions 2        every interleaving with at most two preemptions
 *
 * Prints each failure with its cause, then one line per sweep with counts. Exit code 1 if a trial
 * failed or if there was none.
 */
import process from 'node:process';
import { inspect, parseArgs } from 'node:util';
import { explore, playSchedule } from '../../support/systematic/explore.ts';
import { SMALL_SCENES, smallSceneNamed } from '../../support/systematic/small-scenes.ts';
import { playOne, thin } from '../../support/systematic/sweep.ts';
import { SWEEPS, trialsNamed } from '../../support/systematic/sweeps.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    stride: { type: 'string', default: '1' },
    offset: { type: 'string', default: '0' },
    preemptions: { type: 'string', default: 'Infinity' },
    schedules: { type: 'string', default: '20000' },
  },
});
const [prefix = ''] = positionals;
const [family = '', second, third] = prefix.split('/');
const failures: Error[] = [];
let played = 0;

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function attempt<Answer>(play: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await play();
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error));
    failures.push(failure);
    print(inspect(failure));
    return undefined;
  }
}

function secondsSince(fromMs: number): string {
  return `${((performance.now() - fromMs) / 1000).toFixed(1)} s`;
}

async function playSweep(name: string): Promise<void> {
  const failedBefore = failures.length;
  const fromMs = performance.now();
  const all = await trialsNamed(prefix === '' ? name : prefix);
  const trials = thin(all, Number(values.stride), Number(values.offset));
  for (const trial of trials) await attempt(() => playOne(trial));
  played += trials.length;
  const failed = failures.length - failedBefore;
  print(`${name}: ${trials.length} trials, ${failed} failed, ${secondsSince(fromMs)}`);
}

async function exploreSmall(): Promise<void> {
  const options = {
    preemptionsMax: Number(values.preemptions),
    schedulesMax: Number(values.schedules),
  };
  for (const scene of SMALL_SCENES) {
    if (second !== undefined && scene.name !== second) continue;
    const fromMs = performance.now();
    played += 1;
    const found = await attempt(() => explore(scene, options));
    if (found === undefined) continue;
    const { schedules, states, ends, depth, isWhole } = found;
    const extent = isWhole ? 'all' : 'not all';
    const counts = `${schedules} schedules, ${states} states, ${ends} ends, depth ${depth}`;
    print(
      `small/${scene.name}: ${extent} interleavings with at most ${values.preemptions} preemptions`,
    );
    print(`  ${counts}, ${secondsSince(fromMs)}`);
  }
}

const startedMs = performance.now();
if (family === 'small' && second !== undefined && third !== undefined) {
  played = 1;
  await attempt(() => playSchedule(smallSceneNamed(second), third));
} else {
  for (const { name } of SWEEPS) if (family === '' || family === name) await playSweep(name);
  if (family === '' || family === 'small') await exploreSmall();
}
print(`${played} trials, ${failures.length} failed, ${secondsSince(startedMs)}`);
for (const { message } of failures) print(`FAILED ${message}`);
if (played === 0 || failures.length > 0) process.exitCode = 1;
