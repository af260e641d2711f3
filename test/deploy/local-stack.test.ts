/**
 * The whole life of a deployment, on a machine with npm and python3 and without Docker: emulator, `osls deploy`,
 * a cluster, a DaemonSet and its rollout, a dead letter and a look after it, an upgrade, a fleet of two clusters, removal.
 *
 * The functions run inside the emulator, from the zips that osls uploaded; the watcher and the command line are the
 * bundles. The steps are one story and share their state; they run in order. What is slow is the dead letter: five
 * deliveries, a minute apart, as configured for AWS; the upgrade and a fleet happen meanwhile.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DescribeTableCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type { RollcallCommand } from '../../scripts/deploy/rollcall-command.ts';
import { startLocalDeployment } from '../../scripts/deploy/local-deployment.ts';
import type { LocalDeployment } from '../../scripts/deploy/local-deployment.ts';
import { waitFor } from '../../scripts/deploy/wait-for.ts';
import { ComponentExitedError } from '../../scripts/lib/component.ts';
import { findFreePorts } from '../../scripts/lib/ports.ts';
import { createDocumentClient } from '../../src/adapters/aws/document-client.ts';
import { openStack } from '../../src/cli/reach/open-stack.ts';
import { EXIT } from '../../src/cli/process/exit-codes.ts';
import { clusterUid, uid } from '../../src/core/model/identifiers.ts';
import { startPaceMeter } from '../support/machine-pace.ts';
import { ensureBinaries } from '../conformance/control-plane/build.ts';
import { bindKubectl } from '../conformance/kubectl/kubectl.ts';
import { skipWithoutTools, TOOLS } from '../support/require-tool.ts';
import { installPacked } from '../support/tarball.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { makeCheckout, type Checkout } from './checkout.ts';
import { NAMESPACE, openClusterClient } from './cluster-client.ts';
import type { ClusterClient, SeenPod } from './cluster-client.ts';
import { deployBoundMs, SUITE_TIMEOUT_MS } from './deploy-time.ts';
import { FLEET, FLEET_NODES, FleetRelease } from './fleet-release.ts';
import { poisonState } from './poison.ts';

const STEP_MS = 180_000;
const STARTS_MAX = 3;
/** Five deliveries with a visibility of a minute each, and time to get through the queues and a busy machine. */
const DEAD_LETTER_MS = 600_000;
const POOL = 'test.rollcall.dev/pool';
const POISONED = 'poisoned';
const WANTED = 'wanted';

describe(
  'a deployment from nothing and back (issue 7)',
  { skip: skipWithoutTools([TOOLS.python]), timeout: SUITE_TIMEOUT_MS },
  () => {
    let checkout: Checkout;
    let running: LocalDeployment;
    let client: ClusterClient;
    let rollcall: RollcallCommand;
    let pool: readonly string[];
    /** Where the poisoned DaemonSet is, and where it should be, too. */
    let poisonedNodes: readonly string[];
    let mend: () => Promise<void>;
    let fleet: FleetRelease | undefined;
    const startedAtMs = performance.now();
    const pace = startPaceMeter();
    const note = (text: string): void => {
      const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1).padStart(6);
      process.stderr.write(`${seconds} s  ${text}\n`);
    };

    before(async () => {
      checkout = await makeCheckout();
      running = await start();
      client = openClusterClient(running.managed.cluster);
      rollcall = running.rollcall;
      note(`up: ${JSON.stringify(running.durationsMs)}`);
    });

    after(async () => {
      // `before` may have failed half-way; what it started it has stopped then.
      (client as ClusterClient | undefined)?.close();
      fleet?.close();
      await (running as LocalDeployment | undefined)?.stop();
      await (checkout as Checkout | undefined)?.remove();
      note('everything is stopped');
    });

    async function start(attempt = 1): Promise<LocalDeployment> {
      const [port = 0] = await findFreePorts(1);
      try {
        return await startLocalDeployment({
          endpoint: new URL(`http://127.0.0.1:${String(port)}`),
          nodeCount: 12,
          checkout: checkout.directory,
          environment: process.env,
          log: new MemoryLog(),
          say: note,
          onFailure: (error) => {
            note(`the local cluster failed: ${String(error)}`);
          },
        });
      } catch (error) {
        // A port that was free when it was looked for may be gone when the emulator is that far.
        if (!(error instanceof ComponentExitedError) || attempt === STARTS_MAX) throw error;
        note(`tried again: ${String(error)}`);
        return start(attempt + 1);
      }
    }

    async function timersWait(): Promise<boolean> {
      const { sqs, outputs } = running.stack;
      const request = { QueueUrl: outputs.DelayQueueUrl, AttributeNames: ['All' as const] };
      const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand(request));
      const { ApproximateNumberOfMessages: due, ApproximateNumberOfMessagesDelayed: later } =
        Attributes;
      return Number(due ?? 0) + Number(later ?? 0) > 0;
    }

    /** Waits for pods; the error of a wait that fails says what there was instead. */
    async function awaitPods(
      daemonSet: string,
      isRight: (pods: readonly SeenPod[]) => boolean,
    ): Promise<readonly SeenPod[]> {
      let last: readonly SeenPod[] = [];
      const options = { what: `the pods of ${daemonSet}`, deadlineMs: STEP_MS };
      try {
        return await waitFor(options, async () => {
          last = await client.pods(daemonSet);
          return isRight(last) ? last : undefined;
        });
      } catch (error) {
        const log = tailOf(running.emulator.logPath);
        const text = `${JSON.stringify(last)}\n${log}`;
        throw new Error(`${String(error)}\n${text}`, { cause: error });
      }
    }

    /** Every pod of both DaemonSets. */
    const placed = async (): Promise<readonly SeenPod[]> => [
      ...(await client.pods(WANTED)),
      ...(await client.pods(POISONED)),
    ];

    const isOnEach =
      (nodes: readonly string[], image: string) =>
      (pods: readonly SeenPod[]): boolean =>
        pods.length === nodes.length &&
        nodes.every((node) =>
          pods.some((pod) => pod.node === node && pod.isReady && pod.image === image),
        );

    /** Until each of its clusters runs this image on each of its nodes. */
    async function awaitFleet(fleet: FleetRelease, image: string): Promise<void> {
      const what = `the pods of ${FLEET} at ${image}`;
      await waitFor({ what, deadlineMs: STEP_MS }, async () => {
        const clusters = await fleet.pods();
        const isThere = clusters.every(
          (pods) =>
            pods.length === FLEET_NODES && pods.every((pod) => pod.isReady && pod.image === image),
        );
        return isThere || undefined;
      });
    }

    let hasFailed = false;
    /** A step of the story; after one that failed the others are skipped. */
    const step = (title: string, run: () => Promise<void>): void => {
      it(title, async (context) => {
        if (hasFailed) {
          context.skip('an earlier step failed');
          return;
        }
        hasFailed = true;
        await run();
        hasFailed = false;
      });
    };

    step(
      'places a DaemonSet on every eligible node, by functions inside the emulator',
      async () => {
        const nodes = await client.readyNodes();
        assert.ok(nodes.length >= 6, `ready nodes: ${nodes.join()}`);
        pool = nodes.slice(0, 4).toSorted();
        for (const node of pool) await client.label(node, { [POOL]: 'a' });
        await client.create({
          name: WANTED,
          nodeSelector: { [POOL]: 'a' },
          image: 'example/one:1',
        });
        const pods = await awaitPods(WANTED, isOnEach(pool, 'example/one:1'));
        assert.deepEqual(
          pods.map(({ node }) => node),
          pool,
        );
        const list = await rollcall(['cluster', 'list']);
        assert.match(JSON.stringify(list), new RegExp(running.managed.clusterUid));
        note('the pods are there');
      },
    );

    step('poisons one key: its state is of an unknown format, and reconcile throws', async () => {
      const nodes = await client.readyNodes();
      const [spare = ''] = nodes.filter((node) => !pool.includes(node));
      await client.label(spare, { [POOL]: 'b' });
      const daemonSet = { name: POISONED, nodeSelector: { [POOL]: 'b' }, image: 'example/two:1' };
      const id = await client.create(daemonSet);
      await awaitPods(POISONED, isOnEach([spare], 'example/two:1'));
      const database = createDocumentClient();
      const ref = { clusterUid: clusterUid(running.managed.clusterUid), uid: uid(id) };
      const restore = await poisonState(database, running.stack.outputs.ViewTableName, ref);
      mend = async () => {
        await restore();
        database.destroy();
      };
      // Wanted on two nodes from now on, which nobody can bring about.
      const [other = '', ...rest] = pool;
      await client.label(other, { [POOL]: 'b' });
      await awaitPods(WANTED, isOnEach(rest, 'example/one:1'));
      pool = rest;
      poisonedNodes = [spare, other];
      assert.equal((await client.pods(POISONED)).length, 1);
      note('one key is poisoned; another one lost a node meanwhile, and was reconciled');
    });

    step('rolls an update out to the end, while the other key is poisoned (L4)', async () => {
      const before = await client.pods(WANTED);
      await client.setImage(WANTED, 'example/one:2');
      const pods = await awaitPods(WANTED, isOnEach(pool, 'example/one:2'));
      const old = new Set(before.map((pod) => pod.uid));
      assert.ok(pods.every((pod) => !old.has(pod.uid)));
      note('the update is rolled out');
    });

    step('upgrades the stack under running pods and restarts none of them, by UID', async () => {
      const before = await client.pods(WANTED);
      const version = await checkout.becomeNextRelease();
      await running.deployment.package();
      await running.deployment.deploy();
      const upgraded = await openStack({ stage: 'local', environment: process.env });
      assert.equal(upgraded.outputs.Release, version);
      upgraded.close();
      // The new release acts: a node joins, and its pod is made.
      const [other = ''] = (await client.readyNodes()).filter(
        (node) => ![...pool, ...poisonedNodes].includes(node),
      );
      await client.label(other, { [POOL]: 'a' });
      pool = [...pool, other].toSorted();
      const pods = await awaitPods(WANTED, isOnEach(pool, 'example/one:2'));
      const kept = pods.filter(({ node }) => node !== other);
      assert.deepEqual(kept, before);
      assert.ok(pods.every(({ restarts }) => restarts === 0));
      note(`upgraded to ${version}: no pod was restarted`);
    });

    step('begins with a fleet by its schedule, and creates it in two clusters', async () => {
      fleet = await FleetRelease.open(running);
      const applied = await fleet.apply('example/fleet:1');
      assert.match(JSON.stringify(applied), /"placedClusters":2/);
      assert.match(JSON.stringify(applied), /"result":"accepted".*"result":"accepted"/);
      // Nobody else has called it so far.
      await waitFor({ what: 'the schedule makes a step', deadlineMs: STEP_MS }, async () => {
        const { record } = (await fleet?.status()) ?? {};
        return record === undefined ? undefined : true;
      });
      note('the schedule made a step of the fleet');
      assert.equal((await fleet.finish())['phase'], 'Done');
      await awaitFleet(fleet, 'example/fleet:1');
      note('the fleet is created in two clusters');
    });

    step('rolls a release of the fleet out, and tells each decision on the bus', async () => {
      assert.ok(fleet);
      await fleet.told();
      await fleet.apply('example/fleet:2');
      const { phase } = await fleet.finish();
      assert.equal(phase, 'Done');
      await awaitFleet(fleet, 'example/fleet:2');
      const told = (await fleet.told()).map(({ detail }) => detail);
      assert.ok(told.length > 0, 'the bus handed nothing on');
      const decisions = told
        .toSorted((left, right) => left.data.recordVersion - right.data.recordVersion)
        .map(({ data }) => data.decision);
      assert.equal(decisions[0], 'rollout-started');
      assert.equal(decisions.at(-1), 'completed');
      const kinds = new Set(decisions);
      assert.ok(kinds.has('stage-opened') && !kinds.has('cluster-failed'), [...kinds].join());
      const [first] = told;
      assert.equal(first?.specversion, '1.0');
      assert.equal(first.source, '/rollcall/stacks/rollcall-local/fleets');
      assert.equal(first.subject, `default/${FLEET}`);
      note(`the fleet has its release; ${String(told.length)} events were told`);
    });

    step('stops what acts in clusters, the schedule of the fleet too, and goes on', async () => {
      assert.ok(fleet);
      const states = (document: Readonly<Record<string, unknown>>): string =>
        JSON.stringify([document['mappings'], document['schedules']]);
      assert.match(
        states(await rollcall(['stack', 'stop', '--why', 'a test', '--yes'])),
        /reconcile.*Disabled.*fleet.*Disabled/,
      );
      const stopped = await rollcall(['stack', 'check'], { exitCode: EXIT.failed });
      assert.deepEqual(stopped['stoppedSchedules'], ['rollcall-local-fleet']);
      assert.doesNotMatch(states(await rollcall(['stack', 'resume'])), /Disabled/);
      await fleet.leave();
      note('stopped, and resumed');
    });

    step('gives the poisoned key up, says so, and looks at it when asked', async () => {
      const log = path.join(running.directory, 'ministack.log');
      const line = await waitFor(
        { what: 'a dead letter', deadlineMs: DEAD_LETTER_MS, periodMs: 5000 },
        async () => {
          const lines = (await readFile(log, 'utf8')).split('\n');
          return lines.find((each) => /dead letter/.test(each) && each.includes(POISONED));
        },
      );
      note('the hint is a dead letter');
      assert.match(line, /lost-hint/);
      assert.equal((await client.pods(POISONED)).length, 1, 'nobody could act on the key');
      assert.ok(await timersWait(), 'its key has a timer');
      await mend();
      await rollcall(['thaw', '--daemon-set', `${NAMESPACE}/${POISONED}`, '--wake']);
      await awaitPods(POISONED, isOnEach(poisonedNodes, 'example/two:1'));
      note('looked at: the key is as it should be');
    });

    step(
      'is listed by the tarball of the product, as rollcall and as kubectl rollcall',
      async () => {
        const installed = await installPacked('build-npm.ts', '.');
        try {
          const list = ['--stage', 'local', '--json', 'cluster', 'list'];
          const direct = await installed.run('rollcall', ...list);
          assert.equal(direct.exitCode, 0, direct.output);
          assert.match(direct.output, new RegExp(running.managed.clusterUid));
          if (skipWithoutTools([TOOLS.go]) !== false) return;
          const plugin = bindKubectl({
            program: (await ensureBinaries()).kubectl,
            kubeconfigPath: running.managed.kubeconfigPath,
            cacheDirectory: path.join(installed.directory, 'kubectl-cache'),
          });
          const bin = path.join(installed.directory, 'node_modules/.bin');
          const env = {
            PATH: [bin, path.dirname(process.execPath), process.env['PATH']].join(path.delimiter),
          };
          const told = await plugin.succeed(['rollcall', ...list], { env });
          assert.match(told, new RegExp(running.managed.clusterUid));
        } finally {
          installed.remove();
        }
        note('listed by what npm installs');
      },
    );

    step('removes the cluster: it is handed back, its pods stay', async () => {
      const before = await placed();
      const { kubeconfigPath } = running.managed;
      const remove = ['cluster', 'remove', running.managed.cluster.id];
      // In takeover somebody must look after its DaemonSets from now on: refused without a word on that.
      await rollcall(remove, { exitCode: EXIT.refused });
      const removal = await rollcall([...remove, '--release', '--kubeconfig', kubeconfigPath]);
      assert.equal(removal['kind'], 'ClusterRemoval');
      const { clusters } = await rollcall(['cluster', 'list']);
      assert.deepEqual(clusters, []);
      assert.deepEqual(await placed(), before);
      note('the cluster is removed; its pods are there');
    });

    step(
      'removes the stack: the view goes, the registry stays, and no pod is touched',
      async () => {
        const before = await placed();
        await running.managed.watcher.stop();
        await running.deployment.remove();
        const database = new DynamoDBClient({});
        try {
          const { TableNames = [] } = await database.send(new ListTablesCommand({}));
          assert.deepEqual(
            TableNames.filter((name) => name.startsWith('rollcall-')),
            ['rollcall-local-registry'],
          );
          const table = await database.send(
            new DescribeTableCommand({ TableName: 'rollcall-local-registry' }),
          );
          assert.equal(table.Table?.DeletionProtectionEnabled, true);
        } finally {
          database.destroy();
        }
        assert.deepEqual(await placed(), before);
        note('the stack is removed; the registry table is retained');
      },
    );

    step('took less than ten minutes of a quiet machine', () => {
      const tookMs = performance.now() - startedAtMs;
      const slowdown = pace.stop();
      const boundMs = deployBoundMs(slowdown);
      note(`the machine was ${slowdown.toFixed(1)} times slower than a quiet one`);
      const text = `${String(Math.round(tookMs))} ms, at most ${String(boundMs)}`;
      assert.ok(tookMs < boundMs, text);
      return Promise.resolve();
    });
  },
);

const TAIL_CHARACTERS = 6000;

function tailOf(file: string | undefined): string {
  return file === undefined ? '' : readFileSync(file, 'utf8').slice(-TAIL_CHARACTERS);
}
