/**
 * `npm start -- --fleet` as a process, for its tests: local clusters, the deployed handlers, one JSON document.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { FleetReport } from '../../../src/cli/start/fleet-play.ts';
import type { StartReport } from '../../../src/cli/start/start.ts';

const MAIN = new URL('../../../src/cli/main.ts', import.meta.url).pathname;
/** The canary's, and two of the stage after it. */
const CLUSTERS = '3';
const CANARY = 'local-1';
const CANARY_NODES = 3;
/** Real time: several times what a quiet machine needs. */
const SETTLE_S = 540;
const DEADLINE_MS = 600_000;

export interface Played {
  readonly report: StartReport;
  readonly fleet: FleetReport;
}

/** Plays it. Rejects where it leaves with another code than 0. */
export async function playFleet(...options: readonly string[]): Promise<Played> {
  const settling = ['--exit-when-settled', '--settle-timeout', String(SETTLE_S), '--json'];
  const argv = [MAIN, '--fleet', '--clusters', CLUSTERS, ...settling, ...options];
  const { stdout } = await promisify(execFile)(process.execPath, argv, { timeout: DEADLINE_MS });
  const report = JSON.parse(stdout) as StartReport;
  const { fleet } = report;
  assert.ok(fleet !== undefined, 'the document tells nothing of the fleet');
  return { report, fleet };
}

/** Fails unless it was halted in its first ring for that cause, and nothing else was touched. */
export function assertHaltedInFirstRing({ report, fleet }: Played, cause: RegExp): void {
  assert.equal(report.result, 'settled');
  assert.equal(fleet.isAsPlanned, true);
  assert.equal(fleet.record?.stage, 0);
  assert.match(fleet.record.breach?.message ?? '', cause);
  assert.deepEqual(fleet.record.breach?.clusters, [CANARY]);
  assert.deepEqual(Object.keys(fleet.touchedNodes), [CANARY], 'no other cluster had it');
  const touched = fleet.touchedNodes[CANARY] ?? 0;
  assert.ok(touched <= CANARY_NODES, `${String(touched)} nodes ran it`);
  for (const { cluster, daemonSets } of report.clusters) {
    if (cluster === CANARY) continue;
    const [agent] = daemonSets.filter(({ name }) => name === fleet.name);
    assert.equal(agent?.generation, 1, `${cluster} was given something else`);
  }
}

/** Fails unless the canary's cluster was given what was good before, which all of its nodes that live run. */
export function assertWentBack({ report, fleet }: Played): void {
  assert.equal(fleet.ending, 'rolled-back');
  const back = fleet.clusters.find(
    ({ cluster, place }) => cluster === CANARY && place === 'canary',
  );
  assert.equal(back?.phase, 'returned');
  const canary = report.clusters.find(({ cluster }) => cluster === CANARY);
  const agent = canary?.daemonSets.find(({ name }) => name === fleet.name);
  // Created, given the release, given back what was good.
  assert.equal(agent?.generation, 3);
}
