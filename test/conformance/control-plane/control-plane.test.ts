/**
 * The test control plane itself: nodes come up as asked, the DaemonSet loop is off until it is
 * switched on, actors can be told apart, processes can be disturbed, and none is left behind.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { createApiClient, type ApiClient } from './api.ts';
import { countAuditRecords, countBy, readAuditRecords } from './audit.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { userNameOf } from './identities.ts';
import { createNodes, roleOf, setNodeReady, variedNodes } from './nodes.ts';
import { observerNowMs, startObserver, type Observer } from './observer.ts';
import type { DaemonSetRecord } from './observed-records.ts';
import { openTestCluster, skipWithoutControl } from './test-cluster.ts';

const SAMPLE_NAMESPACE_PATH = '/api/v1/namespaces/default';
const SAMPLE_APPS_PATH = '/apis/apps/v1/namespaces/default';
const POD_SPEC = {
  containers: [{ name: 'agent', image: 'registry.example/agent:1' }],
  terminationGracePeriodSeconds: 30,
};

const DEADLINE = { deadlineMs: 120_000 };
const NOT_READY_TAINT = 'node.kubernetes.io/not-ready';
const DAEMON_SET_LOOP = 'system:serviceaccount:kube-system:daemon-set-controller';
const nodes = variedNodes();
/** Daemon pods tolerate a cordon by default, but neither these nodes' own taints nor not-ready. */
const INELIGIBLE_ROLES = ['control-plane', 'gpu', 'not-ready'];
const eligibleCount = nodes.filter((it) => !INELIGIBLE_ROLES.includes(roleOf(it))).length;

describe('test control plane', { skip: skipWithoutTools([TOOLS.go]), timeout: 1_800_000 }, () => {
  let controlPlane: ControlPlane;
  let admin: ApiClient;
  let observer: Observer;

  const daemonSetNamed = (name: string): DaemonSetRecord | undefined =>
    [...observer.daemonSets.values()].find((it) => it.name === name);

  before(async () => {
    controlPlane = await startControlPlane({ name: 'rollcall-self-test' });
    admin = createApiClient(controlPlane.connectionOf('admin'));
    observer = await startObserver(controlPlane.connectionOf('observer'));
    await createNodes(admin, nodes);
  });

  after(async () => {
    admin.close();
    const pids = Object.values(controlPlane.pids());
    await observer.stop().finally(controlPlane.stop);
    for (const pid of pids) assert.ok(pid === undefined || !isAlive(pid), `${String(pid)} is left`);
    assert.equal(existsSync(controlPlane.directory), false);
  });

  it('makes nodes Ready, except those whose label says never', async () => {
    await observer.waitUntil(
      ({ nodes: seen }) =>
        seen.size === nodes.length &&
        [...seen.values()].every((node) => {
          const shouldBeReady = node.labels['rollcall.test/never-ready'] !== 'true';
          const isTainted = node.taintKeys.includes(NOT_READY_TAINT);
          return node.isReady === shouldBeReady && isTainted === !shouldBeReady;
        }),
      { ...DEADLINE, description: 'nodes as asked' },
    );
    const cordoned = [...observer.nodes.values()].filter((node) => node.isCordoned);
    assert.equal(cordoned.length, 2);
  });

  it('lets a node become NotReady and Ready again', async () => {
    const name = 'node-0020';
    await setNodeReady(admin, name, false);
    await observer.waitUntil((seen) => seen.nodes.get(name)?.isReady === false, DEADLINE);
    await setNodeReady(admin, name, true);
    await observer.waitUntil((seen) => {
      const node = seen.nodes.get(name);
      return node?.isReady === true && !node.taintKeys.includes(NOT_READY_TAINT);
    }, DEADLINE);
  });

  it('leaves DaemonSets alone while the built-in loop is off, and runs all other loops', async () => {
    await admin.post(`${SAMPLE_APPS_PATH}/daemonsets`, sampleDaemonSet('agent'));
    // The Deployment was created later and is served: a running DaemonSet loop would have acted.
    await admin.post(`${SAMPLE_APPS_PATH}/deployments`, sampleDeployment('witness'));
    await observer.waitUntil(
      ({ pods }) => [...pods.values()].some((it) => it.labels['app'] === 'witness' && it.isReady),
      { ...DEADLINE, description: 'pod of the Deployment' },
    );
    // Each kind has a stream of its own.
    await observer.waitUntil(() => daemonSetNamed('agent') !== undefined, DEADLINE);
    assert.equal(daemonSetNamed('agent')?.observedGeneration, 0);
    assert.equal([...observer.pods.values()].filter((it) => it.daemonSetUid).length, 0);
    assert.equal(await countAuditRecords(controlPlane.auditLogPath, { user: DAEMON_SET_LOOP }), 0);
  });

  it('notices two pods of one DaemonSet on one node', async () => {
    const owner = daemonSetNamed('agent');
    assert.ok(owner);
    for (const name of ['double-a', 'double-b']) {
      const pod = daemonPod('node-0012', name, owner);
      await admin.post(`${SAMPLE_NAMESPACE_PATH}/pods`, pod);
    }
    await observer.waitUntil(({ violations }) => violations.length === 1, DEADLINE);
    assert.deepEqual(observer.violations[0]?.podNames, ['double-a', 'double-b']);
    assert.equal(observer.violations[0].node, 'node-0012');
  });

  it('runs the built-in DaemonSet loop once it is switched on', async () => {
    const apiServerPid = controlPlane.pids().apiServer;
    await controlPlane.setDaemonSetController('on');
    assert.equal(controlPlane.pids().apiServer, apiServerPid, 'the API server was not restarted');
    await observer.waitUntil(
      () => {
        const agent = daemonSetNamed('agent');
        return agent?.observedGeneration === 1 && agent.status['numberReady'] === eligibleCount;
      },
      { ...DEADLINE, description: 'DaemonSet ready everywhere' },
    );
    const agent = daemonSetNamed('agent');
    assert.ok(agent);
    await observer.waitUntil(
      () => {
        const byNode = observer.podsByNode(agent.uid);
        const isSingle = [...byNode.values()].every((pods) => pods.length === 1);
        return byNode.size === eligibleCount && isSingle;
      },
      { ...DEADLINE, description: 'one pod on each eligible node' },
    );
    assert.equal(observer.violations.length, 1, 'only the pair made by hand');
    await observer.waitUntilQuiet({ quietMs: 300, ...DEADLINE });
    assert.ok(observer.quietSinceMs() <= observerNowMs() - 250);
  });

  it('tells the actors apart in the audit log', async () => {
    const watcher = createApiClient(controlPlane.connectionOf('watcher'));
    const refused = await watcher.request({ method: 'GET', path: '/api/v1/nodes' });
    watcher.close();
    assert.equal(refused.status, 403, 'no rights before the manifests are applied');
    const records = await readAuditRecords(controlPlane.auditLogPath);
    const creates = countBy(
      records.filter((it) => it.verb === 'create' && it.code === 201 && it.subresource === ''),
      (it) => `${it.user} ${it.resource}`,
    );
    assert.equal(creates.get(`${userNameOf('admin')} nodes`), nodes.length);
    assert.ok((creates.get(`${DAEMON_SET_LOOP} pods`) ?? 0) >= eligibleCount - 2);
    const ofWatcher = records.filter((it) => it.user === userNameOf('watcher'));
    assert.deepEqual(
      ofWatcher.map((it) => [it.verb, it.resource, it.code]),
      [['list', 'nodes', 403]],
    );
  });

  it('survives a killed API server, and the observer goes on where it was', async () => {
    const countBefore = observer.counts();
    controlPlane.pause('scheduler');
    await controlPlane.kill('apiServer');
    assert.equal(controlPlane.pids().apiServer, undefined);
    await controlPlane.restart('apiServer');
    controlPlane.resume('scheduler');
    await admin.post(`${SAMPLE_APPS_PATH}/daemonsets`, sampleDaemonSet('late'));
    await observer.waitUntil(
      () => daemonSetNamed('late')?.status['numberReady'] === eligibleCount,
      DEADLINE,
    );
    assert.ok(observer.counts().resumes > countBefore.resumes);
    assert.equal(observer.violations.length, 1);
  });

  it('measures its programs', () => {
    for (const name of ['etcd', 'apiServer', 'controllerManager', 'scheduler', 'kwok'] as const) {
      assert.ok(controlPlane.cpuSeconds(name) > 0, `CPU time of ${name}`);
      assert.ok(controlPlane.rssBytes(name) > 2 ** 20, `memory of ${name}`);
    }
  });

  it('runs beside a second one', async () => {
    const second = await startControlPlane({ name: 'rollcall-self-test-second', auditLog: false });
    try {
      assert.notEqual(second.server, controlPlane.server);
      const client = createApiClient(second.connectionOf('admin'));
      assert.equal((await client.list('/api/v1/nodes')).items.length, 0);
      client.close();
    } finally {
      await second.stop();
    }
  });

  it('opens an existing cluster by its kubeconfig', async () => {
    const kubeconfig = controlPlane.writeKubeconfig('admin');
    const cluster = await openTestCluster({}, { ROLLCALL_TEST_KUBECONFIG: kubeconfig });
    assert.equal(typeof skipWithoutControl(cluster), 'string');
    const functions = cluster.access.writeKubeconfig('functions');
    const output = execFileSync(
      controlPlane.kubectlPath,
      ['auth', 'whoami', '--output=jsonpath={.status.userInfo.username}'],
      // Without a home kubectl keeps its cache in the working directory.
      { env: { KUBECONFIG: functions, HOME: dirname(functions) }, encoding: 'utf8' },
    );
    assert.equal(output, userNameOf('functions'));
    await cluster.close();
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error && error.code === 'ESRCH');
    return false;
  }
}

/** A DaemonSet for every node that has no taint of its own. */
function sampleDaemonSet(name: string): object {
  return { metadata: { name }, spec: workload(name) };
}

function sampleDeployment(name: string): object {
  return { metadata: { name }, spec: { ...workload(name), replicas: 1 } };
}

function daemonPod(node: string, name: string, owner: DaemonSetRecord): object {
  const { name: ownerName, uid } = owner;
  const kind = { apiVersion: 'apps/v1', kind: 'DaemonSet' };
  const ownerReferences = [{ ...kind, name: ownerName, uid, controller: true }];
  const metadata = { name, ownerReferences, labels: { app: ownerName } };
  return { metadata, spec: { ...POD_SPEC, nodeName: node } };
}

function workload(name: string): object {
  const labels = { app: name };
  return { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: POD_SPEC } };
}
