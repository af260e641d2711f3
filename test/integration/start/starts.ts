/**
 * `npm start` as a process, for its tests: local clusters, the deployed handlers, one JSON document.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { StartReport } from '../../../src/cli/start/start.ts';

export const MAIN = new URL('../../../src/cli/main.ts', import.meta.url).pathname;
const DEADLINE_MS = 300_000;
/** Real time: ten times what a quiet machine needs, and some. */
const SETTLE_S = 240;

/** Runs it until it has settled. Rejects where it leaves with another code than 0. */
export async function start(...options: readonly string[]): Promise<StartReport> {
  const settling = ['--exit-when-settled', '--settle-timeout', String(SETTLE_S)];
  const argv = [MAIN, ...settling, '--json', ...options];
  const { stdout } = await promisify(execFile)(process.execPath, argv, { timeout: DEADLINE_MS });
  return JSON.parse(stdout) as StartReport;
}

/** Fails unless an injected failure was halted for that cause, and no node beyond the canary has it. */
export function assertHaltedOnCanary({ result, clusters }: StartReport, cause: RegExp): void {
  assert.equal(result, 'settled');
  const found = clusters[0]?.daemonSets.find(({ name }) => name === 'log-collector');
  assert.equal(found?.rollout?.phase, 'Halted');
  assert.match(found.rollout.summary, cause);
  assert.ok(found.upToDate <= 2, `${String(found.upToDate)} beyond the canary`);
}
