/**
 * The whole systematic set, or the part of it whose names begin so: `run.ts [crash[/fresh[/kill[/37]]]]`.
 *
 * Prints each failure with its cause, then one line per sweep with counts. Exit code 1 if a trial
 * failed or if there was none.
 */
import process from 'node:process';
import { inspect } from 'node:util';
import { TrialError, playOne } from '../../support/systematic/sweep.ts';
import type { Trial } from '../../support/systematic/sweep.ts';
import { SWEEPS, trialsNamed } from '../../support/systematic/sweeps.ts';

const [prefix = '', strideText = '1'] = process.argv.slice(2);
const stride = Number(strideText);
const startedMs = performance.now();
const failures: TrialError[] = [];
let played = 0;

async function play(trial: Trial): Promise<void> {
  try {
    await playOne(trial);
  } catch (error) {
    if (!(error instanceof TrialError)) throw error;
    failures.push(error);
    process.stdout.write(`${inspect(error)}\n`);
  }
}

for (const sweep of SWEEPS) {
  if (prefix !== '' && prefix.split('/')[0] !== sweep.name) continue;
  const trials = await trialsNamed(prefix === '' ? sweep.name : prefix);
  const failedBefore = failures.length;
  const fromMs = performance.now();
  const chosen = trials.filter((_, index) => index % stride === 0);
  for (const trial of chosen) await play(trial);
  played += chosen.length;
  const seconds = ((performance.now() - fromMs) / 1000).toFixed(1);
  const failed = failures.length - failedBefore;
  process.stdout.write(`${sweep.name}: ${chosen.length} trials, ${failed} failed, ${seconds} s\n`);
}
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
process.stdout.write(`${played} trials, ${failures.length} failed, ${seconds} s\n`);
for (const { message } of failures) process.stdout.write(`FAILED ${message}\n`);
if (played === 0 || failures.length > 0) process.exitCode = 1;
