/**
 * `npm start -- --release` as a process, on a local cluster (it has no built-in loop to switch on): it
 * is refused while Rollcall runs, and afterwards leaves the cluster as it found it, but for Rollcall.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import type { ReleaseReport } from '../../../src/cli/start/start-program.ts';
import { startEngine, type Engine } from '../../../src/engine/engine.ts';
import { fakeNode } from '../control-plane/nodes.ts';
import { daemonSetPath, testDaemonSet } from '../scenarios/daemon-set.ts';
import { daemonSetUid, expectPodsOn, livePodsByNode } from '../scenarios/expectations.ts';
import { openBareStage, stageCluster, type BareStage } from '../scenarios/stage.ts';

const MAIN = new URL('../../../src/cli/main.ts', import.meta.url).pathname;
const SYSTEM = 'rollcall-system';
const SENTINEL = daemonSetPath({ namespace: SYSTEM, name: 'rollcall-takeover-probe' });
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${SYSTEM}/leases/rollcall-watcher`;
const DEADLINE_MS = 300_000;

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command; a local API server lives in this process, so it must not be waited for idly. */
function release(stage: BareStage, ...options: readonly string[]): Promise<Outcome> {
  const argv = [MAIN, '--kubeconfig', stage.cluster.access.kubeconfigPath, '--release', ...options];
  return new Promise((resolve) => {
    execFile(process.execPath, argv, { timeout: DEADLINE_MS }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? -1);
      resolve({ code, stdout, stderr });
    });
  });
}

describe('npm start -- --release', { timeout: 4 * DEADLINE_MS }, () => {
  const nodes = ['plain-1', 'plain-2', 'plain-3'];
  let stage: BareStage;
  let engine: Engine | undefined;
  let uid = '';

  const podUids = (): readonly string[] =>
    [...livePodsByNode(stage.observer, uid).values()]
      .flat()
      .map((pod) => pod.uid)
      .sort();

  before(async () => {
    stage = await openBareStage({
      name: 'release',
      backend: 'local',
      nodes: nodes.map((name) => fakeNode({ name })),
    });
    engine = await startEngine({
      clusters: [stageCluster(stage.cluster)],
      log: stage.activity.log,
      metrics: stage.activity.metrics,
      probeWaitMs: 500,
    });
    await stage.admin.post(daemonSetPath({}), testDaemonSet({ name: 'agent' }));
    uid = await daemonSetUid(stage, { namespace: 'default', name: 'agent' });
    await expectPodsOn(stage, uid, nodes);
  });

  after(async () => {
    await engine?.stop();
    await (stage as BareStage | undefined)?.close();
  });

  it('is refused with 3 while another Rollcall process runs, and names its Lease', async () => {
    const { code, stdout, stderr } = await release(stage, '--json');
    assert.equal(code, 3, stderr);
    assert.equal(stdout, '');
    const { spec } = await stage.admin.get(LEASE);
    const { holderIdentity } = spec as { readonly holderIdentity: string };
    assert.ok(stderr.includes(holderIdentity), stderr);
    assert.match(stderr, /Stop that process first/);
    assert.equal((await stage.admin.get(SENTINEL)).metadata.namespace, SYSTEM);
  });

  it('hands back once that process is gone: no pod is touched, the sentinel goes', async () => {
    await engine?.stop();
    engine = undefined;
    const before = podUids();
    const notice = { type: 'RollcallPaused', status: 'True', reason: 'BuiltInControllerSeen' };
    const foreign = { type: 'Foreign', status: 'True' };
    await stage.admin.request({
      method: 'PATCH',
      path: `${daemonSetPath({ name: 'agent' })}/status`,
      contentType: 'application/merge-patch+json',
      body: { status: { conditions: [foreign, notice] } },
    });
    // The watcher's Deployment was deleted with its Lease: nothing to wait for but requests.
    await stage.admin.delete(LEASE);
    const { code, stdout, stderr } = await release(stage, '--json');
    assert.equal(code, 0, stderr);
    const report = JSON.parse(stdout) as ReleaseReport;
    assert.equal(report.kind, 'ReleaseReport');
    assert.equal(report.result, 'handed-back');
    assert.ok(report.waitedMs >= 19_000, 'twice the time-out of a request');
    assert.deepEqual(podUids(), before);
    assert.equal(report.clearedNotices, 1);
    const { status } = await stage.admin.get(daemonSetPath({ name: 'agent' }));
    const { conditions } = status as { readonly conditions: readonly { readonly type: string }[] };
    assert.deepEqual(
      conditions.map(({ type }) => type),
      ['Foreign'],
    );
    await assert.rejects(stage.admin.get(SENTINEL), /404|not found/i);
  });

  it('can be repeated, and says what to do next', async () => {
    const { code, stdout } = await release(stage);
    assert.equal(code, 0);
    assert.match(stdout, /switch the built-in controller on/);
  });
});
