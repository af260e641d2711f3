/**
 * Reasons that last for as long as something else holds runs, reports or the cluster itself: each is brought about for real on local
 * clusters under the engine, by its own controls where AWS or a network would do it, and `rollcall why` tells cause and remedy.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { createDocumentClient } from '../../../src/adapters/aws/document-client.ts';
import { STATE } from '../../../src/adapters/dynamodb/records.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import { INSTALLATION_ANNOTATION } from '../../../src/core/may-act/installation.ts';
import type { EngineCluster } from '../../../src/engine/engine-options.ts';
import { openEngineStack } from '../../support/engine-commands.ts';
import { SETS, WhyStage } from './why-stage.ts';

/** A look that is due, or a turn of `resync`, counts as missed by then, and the watcher not yet as silent. */
const MISSED_MS = 600_000;
const SILENT_MS = 1_200_000;
/** More pods than one run deletes. */
const CROWD = 252;
const LASTING = { 'simulate.rollcall.dev/main': 'ignore-sigterm' };
/** Nothing listens there. */
const CLOSED = 'https://127.0.0.1:65534';
const SENTINEL = '/apis/apps/v1/namespaces/rollcall-system/daemonsets/rollcall-takeover-probe';
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/rollcall-watcher';
const RUNNING = ['shrink', 'crowd', 'lost', 'surging', 'idle'];

describe('rollcall why, of what holds a cluster', () => {
  let stages: WhyStage[];
  let first: WhyStage;
  let second: WhyStage;

  before(async () => {
    stages = await WhyStage.open({ clusters: 2, nodes: 3 });
    const [one, two] = stages;
    assert.ok(one !== undefined && two !== undefined);
    [first, second] = [one, two];
    await first.editNode('worker-1', { labels: { shrink: 'yes' } });
    await first.create('grow', { spec: { nodeSelector: { grow: 'yes' } } });
    await first.create('shrink', { spec: { nodeSelector: { shrink: 'yes' } } });
    for (const name of ['crowd', 'lost', 'idle']) await first.create(name, {});
    await first.create('surging', {
      spec: { terminationGracePeriodSeconds: 600 },
      annotations: LASTING,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
    const strategy = { type: 'OnDelete' };
    for (const name of ['by-itself', 'asked']) await second.create(name, { strategy });
    await second.create('followed', { policy: '{}', strategy });
    for (const name of RUNNING) await first.until(first.ask(name), /\(Running: /);
    for (const name of ['by-itself', 'asked', 'followed'])
      await second.until(second.ask(name), /\(Running: /);
  });
  after(() => first.close());

  /** Stores another registration, as `rollcall cluster set` does once it may. */
  const register = async (
    { engine, id }: WhyStage,
    change: Partial<ClusterRegistration>,
  ): Promise<void> => {
    const stored = await engine.registry.readCluster(id);
    assert.ok(stored !== undefined);
    await engine.registry.writeCluster({ ...stored, ...change }, stored.configVersion);
  };

  describe('while no run comes', () => {
    before(async () => {
      await first.engine.aws.disableMappings('reconcile');
      await first.editNode('worker-1', { labels: { grow: 'yes', shrink: null } });
      await first.dropPods('idle');
    });

    it('Creating: what the next run makes', () =>
      first.expect('grow', {
        code: 'Creating',
        cause: /pod grow-\w+ is being created/,
        remedy: /^$/,
      }));

    it('Deleting: what the next run takes away', () =>
      first.expect('shrink', {
        code: 'Deleting',
        cause: /lacks the label shrink=yes .*; deleting shrink-\w+/,
        remedy: /^$/,
      }));

    it('WaitingForBurst: what follows after as many pods as one run deletes', async () => {
      await first.crowd('crowd', 'control-plane-1', CROWD);
      await first.crowd('crowd', 'worker-1', 1);
      await first.expect('crowd', {
        code: 'WaitingForBurst',
        cause: /has pods to be replaced \(duplicate\); deletes follow the present batch/,
        remedy: /^$/,
      });
    });

    it('functions-behind: a look that is overdue', () =>
      first.expect('idle', {
        code: 'functions-behind',
        cause: /which waits: (no function has come|a look has been due)/,
        remedy: /rollcall stack check/,
        laterByMs: MISSED_MS,
      }));

    it('cluster-silent: a watcher that is not heard', () =>
      first.expect('idle', {
        code: 'cluster-silent',
        cause: /nothing was heard of the watcher of local-1 since 2/,
        remedy: /rollcall cluster doctor/,
        laterByMs: SILENT_MS,
      }));

    // The local AWS has no Lambda whose mappings the command could turn: its note is written, and the mapping is off.
    it('stopped: by whom, and why', async () => {
      const stack = openEngineStack(first.engine);
      const note = { by: 'ann', why: 'INC-2', atMs: Date.now(), functions: ['reconcile'] };
      await stack.freezes.writeStop(note);
      await first.expect('idle', {
        code: 'stopped',
        cause: /which waits: stopped since 2\S+ by ann \(INC-2\)/,
        remedy: /rollcall stack resume/,
      });
      await stack.freezes.writeStop(undefined);
      stack.close();
    });
  });

  describe('after its state was lost, as with a table that was restored', () => {
    before(async () => {
      for (const name of ['lost', 'surging']) await loseState(first, name);
      await first.dropPods('lost');
      const [pod = ''] = await first.podsOf('surging');
      await first.send('DELETE', `/api/v1/namespaces/default/pods/${pod}`, {});
      first.engine.aws.enableMappings('reconcile');
    });

    it('WaitingForCluster: a pod that a forgotten request may still make', () =>
      first.expect('lost', {
        code: 'WaitingForCluster',
        cause: /waits: earlier requests may have been forgotten/,
        remedy: /rollcall cluster doctor/,
      }));

    it('WaitingForRequest: a pod that takes long to go, and whose successor was perhaps asked for', () =>
      first.expect('surging', {
        code: 'WaitingForRequest',
        cause: /pod surging-\w+ is still there, and earlier requests may have been forgotten/,
        remedy: /^$/,
      }));
  });

  describe('where the built-in controller has a part', () => {
    before(async () => {
      for (const name of ['by-itself', 'asked']) {
        await second.setImage(name, 'example/main:2');
        await second.until(second.ask(name), /\(Outdated: /);
      }
      await register(second, { mode: 'copilot' });
      for (const name of ['by-itself', 'asked']) {
        await second.send('PATCH', `${SETS}/${name}`, {
          spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } } },
        });
      }
      await second.setPolicy('asked', '{}');
      await second.dropPods('followed');
    });

    it('not-opted-in: a DaemonSet without a policy', () =>
      second.expect('by-itself', {
        code: 'not-opted-in',
        cause: /does not opt in/,
        remedy: /annotation rollcall.dev\/rollout and the strategy OnDelete/,
      }));

    it('rolling-update: one with a policy that the built-in controller rolls', () =>
      second.expect('asked', {
        code: 'rolling-update',
        cause: /its strategy is RollingUpdate/,
        remedy: /set its update strategy to OnDelete/,
      }));

    it('LeftToBuiltIn: a pod that the built-in controller is to make', () =>
      second.expect('followed', {
        code: 'LeftToBuiltIn',
        cause: /the built-in controller is to make its pod/,
        remedy: /look at kube-controller-manager/,
      }));

    it('observe-mode: a pod that nobody makes here', async () => {
      await register(second, { mode: 'observe' });
      await second.expect('followed', {
        code: 'observe-mode',
        cause: /only observed; nothing is changed/,
        remedy: /^$/,
      });
    });
  });

  describe('where the cluster cannot be worked on', () => {
    it('no-access: a cluster whose credential was taken away', async () => {
      await register(second, { mode: 'takeover', authentication: { kind: 'none' } });
      await second.dropPods('by-itself');
      await second.expect('by-itself', {
        code: 'no-access',
        cause: /lets Rollcall in with no credential that it has/,
        remedy: /rollcall cluster doctor/,
      });
    });

    it('no-access: a credential that the API server rejects, which is no silence', async () => {
      await register(second, {
        mode: 'takeover',
        authentication: { kind: 'bearer', token: 'revoked' },
      });
      await second.dropPods('asked');
      await second.expect('asked', {
        code: 'no-access',
        cause: /lets Rollcall in with no credential that it has/,
        remedy: /rollcall cluster doctor/,
      });
    });

    it('cluster-unavailable: an API server that does not answer', async () => {
      const { functions: authentication } = clusterOf(second);
      await register(second, { authentication, server: CLOSED });
      await second.dropPods('asked');
      await second.expect('asked', {
        code: 'cluster-unavailable',
        cause: /The API server of the cluster does not answer/,
        remedy: /rollcall cluster doctor/,
      });
    });

    it('sentinel-missing: a takeover whose sentinel somebody deleted', async () => {
      await second.send('DELETE', SENTINEL, {});
      await second.expect('asked', {
        code: 'sentinel-missing',
        cause: /sentinel of this takeover is gone/,
        remedy: /rollcall cluster doctor/,
      });
    });

    it('cut-open: a report of which the end is missing', async () => {
      const { aws } = first.engine;
      await aws.disableMappings('reconcile');
      await first.dropPods('idle');
      await first.until(first.ask('idle'), /\(Creating: /);
      await aws.disableMappings('ingest');
      await first.loseEndOfReport();
      aws.enableMappings('ingest');
      await first.expect('idle', {
        code: 'cut-open',
        cause: /in the middle of a report/,
        remedy: /^$/,
      });
    });

    it('conflicting-controller: somebody who syncs the sentinel', async () => {
      first.unsilence();
      first.engine.aws.enableMappings('reconcile');
      await first.send('PATCH', `${SENTINEL}/status`, { status: { observedGeneration: 1 } });
      await first.until(['cluster', 'show', first.id], /conflict-noted: /);
      await first.dropPods('idle');
      await first.expect('idle', {
        code: 'conflicting-controller',
        cause: /Another controller is at work in this cluster: status.observedGeneration/,
        remedy: /rollcall cluster doctor/,
      });
    });

    it('watcher-stands-by: another installation that holds the Lease', async () => {
      await first.send('PATCH', LEASE, {
        metadata: { annotations: { [INSTALLATION_ANNOTATION]: 'another' } },
        spec: {
          holderIdentity: 'another-1',
          renewTime: `${new Date().toISOString().slice(0, -1)}000Z`,
        },
      });
      await first.expect('idle', {
        code: 'watcher-stands-by',
        cause: /the watcher of local-1 stands by since/,
        remedy: /rollcall cluster doctor/,
      });
    });
  });
});

function clusterOf({ fleet, id }: WhyStage): EngineCluster {
  const cluster = fleet.clusters.find((each) => each.id === id);
  assert.ok(cluster !== undefined);
  return cluster;
}

/** Takes the item away in which runs of a DaemonSet leave what they know. */
async function loseState({ engine, id }: WhyStage, name: string): Promise<void> {
  const cluster = engine.clusterUids.get(id);
  assert.ok(cluster !== undefined);
  const named = await engine.view.readName(cluster, { namespace: 'default', name });
  assert.ok(typeof named?.uid === 'string');
  const ref = { clusterUid: cluster, uid: named.uid };
  const client = createDocumentClient();
  const TableName = engine.aws.tableNames['ViewTable'];
  await client.send(new DeleteCommand({ TableName, Key: STATE.keyOf(ref) }));
  client.destroy();
}
