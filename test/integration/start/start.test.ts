/**
 * `npm start` without a kubeconfig, as a process: local clusters, examples, the deployed handlers, one JSON document.
 *
 * The expected counters are written by hand from the examples and from the parts that twelve machines play
 * (varied-machines.ts): one control plane, five workers, two storage, two GPU, one cordoned, one never Ready.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { StartReport } from '../../../src/cli/start/start.ts';
import { MAIN, assertHaltedOnCanary, start } from './starts.ts';

/** Of a start that is refused: seconds, where one that runs on would never end. */
const REFUSAL_DEADLINE_MS = 60_000;

/** DESIRED, CURRENT, READY, UP-TO-DATE, AVAILABLE of each example on twelve machines. */
const EXPECTED: Readonly<Record<string, number>> = {
  'log-collector': 9,
  'node-metrics': 8,
  'storage-daemon': 2,
  'gpu-telemetry': 2,
};

function countersOf(report: StartReport, cluster: string): Record<string, readonly number[]> {
  const found = report.clusters.find((one) => one.cluster === cluster);
  assert.ok(found, `no cluster ${cluster} in the document`);
  return Object.fromEntries(
    found.daemonSets.map((one) => [
      one.name,
      [one.desired, one.current, one.ready, one.upToDate, one.available, one.misscheduled],
    ]),
  );
}

function allAt(expected: Readonly<Record<string, number>>): Record<string, readonly number[]> {
  return Object.fromEntries(
    Object.entries(expected).map(([name, count]) => [name, [count, count, count, count, count, 0]]),
  );
}

describe('npm start on a laptop', () => {
  let directory = '';
  /** What the start before it said. */
  let first: StartReport | undefined;
  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'rollcall-start-'));
  });
  after(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  it('ends with a word when its cluster cannot be reached: nothing of it runs on', async () => {
    const kubeconfig = path.join(directory, 'unreachable.json');
    const cluster = { server: 'https://127.0.0.1:1' };
    const named = { cluster: 'c', user: 'u' };
    await writeFile(
      kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'x',
        clusters: [{ name: 'c', cluster }],
        users: [{ name: 'u', user: { token: 'of-nobody' } }],
        contexts: [{ name: 'x', context: named }],
      }),
    );
    const argv = [MAIN, '--kubeconfig', kubeconfig];
    const ended = promisify(execFile)(process.execPath, argv, { timeout: REFUSAL_DEADLINE_MS });
    await assert.rejects(ended, { code: 1, killed: false, stderr: /^error: .*127\.0\.0\.1:1/m });
  });

  it('settles two local clusters to the counters that the rules demand', async () => {
    const report = await start('--data', path.join(directory, 'data'));
    first = report;
    assert.equal(report.result, 'settled');
    assert.deepEqual(
      report.clusters.map(({ cluster, mode, isViewComplete }) => ({
        cluster,
        mode,
        isViewComplete,
      })),
      ['local-1', 'local-2'].map((cluster) => ({
        cluster,
        mode: 'takeover',
        isViewComplete: true,
      })),
    );
    for (const cluster of ['local-1', 'local-2']) {
      assert.deepEqual(countersOf(report, cluster), allAt(EXPECTED));
    }
  });

  it('goes on from its data directory: same clusters, same DaemonSets, same pods counted', async () => {
    const data = path.join(directory, 'data');
    const second = await start('--data', data);
    const identity = (report: StartReport | undefined): unknown =>
      report?.clusters.map(({ clusterUid, daemonSets }) => ({
        clusterUid,
        uids: daemonSets.map(({ uid }) => uid).sort(),
      }));
    assert.deepEqual(identity(second), identity(first));
    for (const cluster of ['local-1', 'local-2']) {
      assert.deepEqual(countersOf(second, cluster), allAt(EXPECTED));
    }
    const { mode } = await stat(path.join(data, 'kubeconfig'));
    assert.equal(mode & 0o777, 0o600, 'the kubeconfig is its owner’s alone');
  });

  it('brings cold nodes to Ready through their CNI DaemonSet, then the rest follows', async () => {
    const report = await start('--cold', '--clusters', '1');
    assert.equal(report.result, 'settled');
    assert.deepEqual(countersOf(report, 'local-1'), allAt({ ...EXPECTED, 'pod-network': 12 }));
  });

  it('plays a bad rollout, and ends once it is halted on its canary, with the cause', async () => {
    // The others: start.nightly.test.ts.
    assertHaltedOnCanary(
      await start('--clusters', '1', '--nodes', '6', '--inject', 'crash-loop'),
      /Restarts/,
    );
  });
});
