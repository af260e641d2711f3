/**
 * Two replicas of the bundled watcher, as overlay highly-available runs them, on a real API server and with no more than
 * the shipped RBAC: both are ready, one watches, and a rolling update costs one epoch and seconds (row 72).
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { startReaper } from '../../../scripts/lib/reaper.ts';
import { bundleWatcher } from '../../../scripts/build/watcher-bundle.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { startSqsServer, type SqsServer } from '@rollcall/local-aws/sqs/server/server.ts';
import { parseExposition, sampleOf } from '../../support/exposition.ts';
import { TOOLS, skipWithoutTools } from '../../support/require-tool.ts';
import { createApiClient, type ApiClient } from '../control-plane/api.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { applyFiles } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/rollcall-watcher';
const START_MS_MAX = 120_000;
/** The Lease itself lasts for 40 s: less than that is no waiting for its end. Three seconds on a quiet machine. */
const HAND_OVER_MS_MAX = 35_000;

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseTransitions: number;
}

interface Replica {
  readonly child: ChildProcess;
  readonly reading: (name: string, labels?: Readonly<Record<string, string>>) => Promise<number>;
  readonly untilReady: () => Promise<void>;
  readonly untilState: (state: 'running' | 'standby', withinMs: number) => Promise<void>;
}

const skip = skipWithoutTools([TOOLS.go]);

describe('two replicas of the watcher on a real API server', { skip }, () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-replicas-'));
  const bundle = path.join(directory, 'watcher.mjs');
  const reaper = startReaper();
  let controlPlane: ControlPlane;
  let admin: ApiClient;
  let sqs: SqsServer;
  let environment: NodeJS.ProcessEnv;
  let first: Replica;
  let second: Replica;

  const start = async (name: string): Promise<Replica> => {
    const addressFile = path.join(directory, `${name}.log`);
    const child = spawn(process.execPath, [bundle], {
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (child.pid !== undefined) reaper.add(child.pid);
    child.stderr.on('data', (chunk: Buffer) => {
      writeFileSync(addressFile, chunk, { flag: 'a' });
    });
    const port = await pollUntil(
      { deadlineMs: START_MS_MAX, description: `${name} serves` },
      () => {
        return /"message":"serves probes and metrics".*?"port":(\d+)/.exec(
          readFileSync(addressFile, 'utf8'),
        )?.[1];
      },
    );
    return observeReplica(child, `http://127.0.0.1:${port}`);
  };
  const lease = async (): Promise<LeaseSpec> => (await admin.get(LEASE))['spec'] as LeaseSpec;
  const transitions = async (): Promise<number> => (await lease()).leaseTransitions;

  before(async () => {
    await bundleWatcher(repositoryPath(''), bundle);
    controlPlane = await startControlPlane({ loops: 'off', auditLog: false });
    admin = createApiClient(controlPlane.connectionOf('admin'));
    await applyFiles(admin, [repositoryPath('infra/watcher/rbac.yaml')]);
    sqs = await startSqsServer({ clock: createSystemClock(), newId: randomUUID });
    const keys = { AWS_ACCESS_KEY_ID: 'WATCHER', AWS_SECRET_ACCESS_KEY: 'local' };
    const credentials = { accessKeyId: 'WATCHER', secretAccessKey: 'local' };
    const client = new SQSClient({ region: sqs.region, endpoint: sqs.endpoint, credentials });
    const { QueueUrl = '' } = await client.send(
      new CreateQueueCommand({ QueueName: 'events.fifo', Attributes: { FifoQueue: 'true' } }),
    );
    client.destroy();
    writeFileSync(path.join(directory, 'ca.crt'), controlPlane.caPem);
    writeFileSync(path.join(directory, 'token'), controlPlane.tokens.watcher);
    environment = {
      ...keys,
      AWS_REGION: sqs.region,
      ROLLCALL_CLUSTER: 'replicas',
      ROLLCALL_EVENTS_QUEUE_URL: QueueUrl,
      ROLLCALL_SQS_ENDPOINT: sqs.endpoint,
      ROLLCALL_API_SERVER: controlPlane.server,
      ROLLCALL_CA_FILE: path.join(directory, 'ca.crt'),
      ROLLCALL_TOKEN_FILE: path.join(directory, 'token'),
      ROLLCALL_PROBE_ADDRESS: '127.0.0.1:0',
      ROLLCALL_LEASE_START: 'stand-by',
    };
  });

  after(async () => {
    // It kills the replicas that still run.
    await reaper.close();
    await sqs.stop();
    admin.close();
    await controlPlane.stop();
    rmSync(directory, { recursive: true });
  });

  it('the first watches and is ready: the shipped rights are enough', async () => {
    first = await start('first');
    await first.untilState('running', START_MS_MAX);
    await first.untilReady();
    for (const kind of ['Node', 'Pod', 'DaemonSet', 'ControllerRevision'])
      assert.equal(await first.reading('rollcall_watcher_lists_total', { kind }), 1);
    assert.equal(await transitions(), 1);
  });

  it('the second is ready, too, stands by and takes nothing', async () => {
    second = await start('second');
    await second.untilState('standby', START_MS_MAX);
    await second.untilReady();
    assert.equal(await second.reading('rollcall_watcher_lists_total', { kind: 'Pod' }), 0);
    assert.equal(await transitions(), 1);
    assert.equal(await first.reading('rollcall_watcher_state', { state: 'running' }), 1);
  });

  it('a replica that is stopped gives the Lease back, and the other one watches soon (row 72)', async () => {
    const former = (await lease()).holderIdentity;
    const exited = once(first.child, 'exit');
    first.child.kill('SIGTERM');
    const [code] = (await exited) as [number | null];
    assert.equal(code, 0);
    assert.notEqual((await lease()).holderIdentity, former, 'given back before it left');
    await second.untilState('running', HAND_OVER_MS_MAX);
    await second.untilReady();
    assert.equal(await transitions(), 2);
  });

  it('its successor stands by again: a rolling update has cost one epoch', async () => {
    const epoch = await second.reading('rollcall_watcher_epoch');
    const third = await start('third');
    await third.untilState('standby', START_MS_MAX);
    await third.untilReady();
    assert.equal(await transitions(), 2);
    assert.equal(await second.reading('rollcall_watcher_epoch'), epoch);
    const outcome = 'start';
    const announced = await second.reading('rollcall_watcher_announcements_total', { outcome });
    assert.equal(announced, 1);
  });
});

function observeReplica(child: ChildProcess, base: string): Replica {
  const reading: Replica['reading'] = async (name, labels = {}) => {
    const families = parseExposition(await (await fetch(`${base}/metrics`)).text());
    return sampleOf(families, name, labels) ?? Number.NaN;
  };
  return {
    child,
    reading,
    untilReady: async () => {
      await pollUntil(
        { deadlineMs: START_MS_MAX, description: 'the replica is ready' },
        async () => {
          const answer = await fetch(`${base}/readyz`);
          if (answer.status === 200) return true;
          throw new Error(await answer.text());
        },
      );
    },
    untilState: async (state, withinMs) => {
      await pollUntil({ deadlineMs: withinMs, description: `the replica is ${state}` }, async () =>
        (await reading('rollcall_watcher_state', { state })) === 1 ? true : undefined,
      );
    },
  };
}
