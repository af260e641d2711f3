/**
 * Row 90, with the deployed handlers: a cluster that was built anew under its old name and address, in takeover. Nothing
 * is written to it, and nothing that its watcher says is taken, until somebody resets it; then it works.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SQSClient } from '@aws-sdk/client-sqs';
import { HttpsClusterConnector } from '../../../src/adapters/kubernetes/api/cluster-connector.ts';
import { createHandBackAccess } from '../../../src/adapters/kubernetes/operator/hand-back-access.ts';
import type { Transport } from '../../../src/adapters/kubernetes/transport/transport.ts';
import { createEventQueue } from '../../../src/adapters/sqs/event-queue.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { enterTakeover } from '../../../src/app/takeover/takeover-probe.ts';
import type { Finding } from '../../../src/app/checks/finding.ts';
import { clusterId, uid } from '../../../src/core/model/identifiers.ts';
import { jsonItems, jsonMember, type Json } from '@rollcall/base/json.ts';
import { applyManifests } from '../../../src/engine/apply-manifests.ts';
import { startClusterWatcher, type ClusterWatcher } from '../../../src/engine/cluster-watcher.ts';
import type { EngineCluster } from '../../../src/engine/engine-options.ts';
import { startEngine, type Engine } from '../../../src/engine/engine.ts';
import { startClusterThread } from '@rollcall/local-cluster/cluster/cluster-thread.ts';
import type { LocalCluster } from '@rollcall/local-cluster/cluster/local-cluster.ts';
import { variedMachines } from '@rollcall/local-cluster/machines/machines.ts';
import {
  LOCAL_PROBE_WAIT_MS,
  RBAC_MANIFESTS,
  engineClusterOf,
} from '../../../src/engine/local-fleet.ts';
import { packageFile } from '../../../src/engine/package-files.ts';
import { openTransport } from '../../../src/engine/reach-cluster.ts';
import { pollUntil } from '../../conformance/control-plane/poll.ts';
import { openEngineStack, runOnEngine } from '../../support/engine-commands.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from '../../support/memory-metrics.ts';

const ID = clusterId('prod');
const DEADLINE_MS = 120_000;
const KEY = { namespace: 'node-agents', name: 'log-collector' };
const EXAMPLE = packageFile('examples/log-collector.yaml');

/** A local cluster under the name of the test, with its manifests. */
interface Built {
  readonly local: LocalCluster;
  readonly cluster: EngineCluster;
  readonly admin: Transport;
}

describe('a cluster that was rebuilt under its old name (row 90)', () => {
  const log = new MemoryLog();
  const metrics = new MemoryMetrics();
  const stops: (() => Promise<void> | void)[] = [];
  let engine: Engine;
  let first: Built;
  let second: Built;
  let watcher: ClusterWatcher;

  const build = async (): Promise<Built> => {
    const machines = variedMachines({ count: 3, network: 'preinstalled' });
    const local = await startClusterThread({
      settings: { name: ID, port: 0, machines },
      log,
      onFailure: (error) => {
        throw error;
      },
    });
    const cluster = engineClusterOf(local, 'takeover');
    const admin = openTransport(cluster, cluster.probe);
    stops.push(
      () => local.stop(),
      () => {
        admin.retire();
      },
    );
    await applyManifests(admin, [...RBAC_MANIFESTS, EXAMPLE]);
    return { local, cluster, admin };
  };
  const items = async ({ admin }: Built, path: string): Promise<readonly unknown[]> => {
    const answer = await admin.send({ method: 'GET', path });
    assert.ok(answer.kind === 'answered' && answer.status === 200, JSON.stringify(answer));
    return jsonItems(jsonMember(answer.body, 'items'));
  };
  const daemonPods = async (built: Built): Promise<number> => {
    const pods = await items(built, '/api/v1/pods?labelSelector=pod-template-generation');
    return pods.length;
  };
  const uidOf = async ({ admin }: Built): Promise<string> => {
    const answer = await admin.send({ method: 'GET', path: '/api/v1/namespaces/kube-system' });
    assert.ok(answer.kind === 'answered');
    return jsonMember(jsonMember(answer.body, 'metadata'), 'uid') as string;
  };
  const poll = <T>(description: string, look: () => Promise<T | undefined>): Promise<T> =>
    pollUntil({ deadlineMs: DEADLINE_MS, description, pauseMaxMs: 500 }, look);
  const doctor = async (): Promise<readonly Finding[]> => {
    const run = await runOnEngine(['cluster', 'doctor', ID, '--json'], { engine });
    const { clusters } = JSON.parse(run.stdout) as {
      readonly clusters: readonly { readonly findings: readonly Finding[] }[];
    };
    return clusters.flatMap(({ findings }) => findings);
  };

  /** A pod goes while the cluster is frozen: there is work to do once it is not. */
  const losePod = async (): Promise<void> => {
    const stored = await engine.registry.readCluster(ID);
    assert.ok(stored !== undefined);
    const { clusterUid, configVersion } = stored;
    await engine.registry.writeCluster({ ...stored, isFrozen: true }, configVersion);
    const known = async (): Promise<readonly string[]> => {
      const name = await engine.view.readName(clusterUid, KEY);
      const slice = await engine.view.readSlice({
        clusterUid,
        set: `pods/${name?.uid ?? uid('')}`,
        index: 0,
      });
      return (slice?.objects ?? []).map(({ object }) => object.name);
    };
    const [pod] = await items(first, `/api/v1/namespaces/${KEY.namespace}/pods`);
    const podName = jsonMember(jsonMember(pod as Json, 'metadata'), 'name') as string;
    const isKnown = async (): Promise<boolean> => (await known()).includes(podName);
    await poll('the pod in the view', async () => ((await isKnown()) ? true : undefined));
    const path = `/api/v1/namespaces/${KEY.namespace}/pods/${podName}?gracePeriodSeconds=0`;
    await first.admin.send({ method: 'DELETE', path });
    await poll('the view without it', async () => ((await isKnown()) ? undefined : true));
  };

  before(async () => {
    first = await build();
    engine = await startEngine({
      clusters: [first.cluster],
      log,
      metrics,
      probeWaitMs: LOCAL_PROBE_WAIT_MS,
    });
    stops.unshift(() => engine.stop());
    await poll('pods in the first cluster', async () =>
      (await daemonPods(first)) > 0 ? true : undefined,
    );
    await losePod();
    // The rebuilt one answers at the registered address, and knows the registered credential.
    second = await build();
    const stored = await engine.registry.readCluster(ID);
    assert.ok(stored !== undefined);
    const { server, caPem, functions: authentication } = second.cluster;
    const moved = {
      ...stored,
      isFrozen: false,
      server,
      ...(caPem === undefined ? {} : { caPem }),
      authentication,
    };
    assert.equal(await engine.registry.writeCluster(moved, stored.configVersion), 'written');
    await first.local.stop();
    watcher = watch();
    stops.unshift(() => watcher.stop());
    await watcher.started;
  });
  after(async () => {
    for (const stop of stops) await stop();
  });

  const watch = (): ClusterWatcher => {
    const environment = engine.watcherEnvironment(ID);
    const client = new SQSClient({
      region: environment['AWS_REGION'] ?? '',
      endpoint: environment['ROLLCALL_SQS_ENDPOINT'] ?? '',
      credentials: {
        accessKeyId: environment['AWS_ACCESS_KEY_ID'] ?? '',
        secretAccessKey: environment['AWS_SECRET_ACCESS_KEY'] ?? '',
      },
    });
    const { watcher: authentication } = second.cluster;
    assert.ok(authentication.kind === 'bearer');
    const { token } = authentication;
    return startClusterWatcher({
      cluster: second.cluster,
      credential: { kind: 'bearer', token: () => Promise.resolve(token) },
      queue: createEventQueue({
        client,
        queueUrl: environment['ROLLCALL_EVENTS_QUEUE_URL'] ?? '',
      }),
      clock: createSystemClock(),
      random: createSystemRandom(),
      log,
      metrics,
      lease: { start: 'take' },
      onStopped: () => {
        client.destroy();
      },
    });
  };

  it('refuses what its watcher says, and writes nothing to it', async () => {
    await poll('a refusal', async () =>
      metrics.sum('IngestRefusals', 'wrong-cluster-uid') > 0 ? true : undefined,
    );
    // Every key of the registered cluster is looked at, as resync does: the connector refuses.
    await engine.aws.fireSchedule('resync');
    const clusterUid = engine.clusterUids.get(ID);
    const key = { cluster: ID, ...KEY };
    assert.ok(clusterUid !== undefined);
    const stack = openEngineStack(engine);
    const hint = { schema: 1, key, clusterUid, reason: 'manual' } as const;
    await stack.hints.sendHints([hint], 'rebuilt/', 'usual');
    stack.close();
    await poll('the connector to refuse', async () =>
      metrics.sum('ReconcileRefusals', 'wrong-cluster') > 0 ? true : undefined,
    );
    assert.equal(await daemonPods(second), 0);
    const revisions = await items(second, '/apis/apps/v1/controllerrevisions');
    assert.deepEqual(revisions, []);
    for (const daemonSet of await items(second, '/apis/apps/v1/daemonsets')) {
      const status = jsonMember(daemonSet as never, 'status');
      assert.equal(jsonMember(status, 'observedGeneration') ?? 0, 0);
    }
  });

  it('is found by the doctor, with the UID that it has now', async () => {
    const found = await uidOf(second);
    const findings = await doctor();
    const codes = findings.filter(({ level }) => level === 'failed').map(({ code }) => code);
    assert.ok(codes.includes('cluster-rebuilt'), codes.join());
    const refused = findings.find(({ code }) => code === 'refused-wrong-cluster-uid');
    assert.ok(refused?.seen.includes(found), JSON.stringify(refused));
    assert.match(
      findings.find(({ code }) => code === 'cluster-rebuilt')?.next ?? '',
      /rollcall cluster reset prod/,
    );
  });

  it('works after its reset: a view of its own, then takeover with its probe', async () => {
    const reset = await runOnEngine(['cluster', 'reset', ID, '--yes'], { engine });
    assert.equal(reset.exitCode, 0, reset.stdout + reset.stderr);
    const stored = await engine.registry.readCluster(ID);
    assert.deepEqual([stored?.mode, stored?.clusterUid], ['observe', await uidOf(second)]);
    assert.ok(stored !== undefined);
    await watcher.stop();
    watcher = watch();
    await poll('a whole view', async () =>
      (await engine.view.readMeta(stored.clusterUid))?.isComplete === true ? true : undefined,
    );
    assert.equal(await daemonPods(second), 0, 'observe');
    const { registry, view } = engine;
    const entered = await enterTakeover(ID, {
      registry,
      view,
      connector: new HttpsClusterConnector({
        clock: createSystemClock(),
        egress: { loopback: 'allowed' },
      }),
      access: createHandBackAccess({ transport: second.admin }),
      clock: createSystemClock(),
      random: createSystemRandom(),
      waitMs: LOCAL_PROBE_WAIT_MS,
      pollMs: 100,
    });
    assert.equal(entered.kind, 'entered', JSON.stringify(entered));
    await poll('pods in the rebuilt cluster', async () =>
      (await daemonPods(second)) > 0 ? true : undefined,
    );
    const failed = (await doctor()).filter(({ level }) => level === 'failed');
    assert.deepEqual(failed, [], JSON.stringify(failed, undefined, 1));
  });
});
