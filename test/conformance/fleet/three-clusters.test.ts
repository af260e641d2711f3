/** One fleet over three real control planes, two in copilot and one in takeover: a rollout, a halt, a rollback (issue 18). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fleetNames, fleetRights } from '../../../src/cli/fleet/fleet-manifests.ts';
import { writeSecondTerminal } from '../../../src/cli/start/second-terminal.ts';
import { clusterId } from '../../../src/core/model/identifiers.ts';
import { startEngine, type Engine } from '../../../src/engine/engine.ts';
import type { EngineCluster } from '../../../src/engine/engine-options.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { openEngineStack, runOnEngine } from '../../support/engine-commands.ts';
import type { KubernetesObject } from '../control-plane/api.ts';
import { plainNodes } from '../control-plane/nodes.ts';
import { closedWindow } from '../scenarios/closed-window.ts';
import { listInAdmission } from '../scenarios/list-admission.ts';
import { collectionPath, createIfMissing } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { openBareStage, stageCluster, type BareStage } from '../scenarios/stage.ts';

/** The clusters, in the order of the stages. */
const CLUSTERS = {
  'eu-1': { mode: 'copilot', ring: 'first' },
  'eu-2': { mode: 'copilot', ring: 'second' },
  'us-1': { mode: 'takeover', ring: 'second' },
} as const;

type ClusterName = keyof typeof CLUSTERS;

/** Its DaemonSet. */
const NAME = 'agent';
/** In each cluster. */
const NODES_COUNT = 6;
/** Of the first cluster, that try a release before all others. */
const FIRST_NODES = 2;

const KEY = `default/${NAME}`;
const DEADLINE_MS = 240_000;
const POLL_MS = 500;

/** What `rollcall` left with. */
interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

class FleetStage {
  readonly #clusters: ReadonlyMap<ClusterName, BareStage>;
  readonly #directory: string;
  #engine: Engine | undefined;
  #environmentFile = '';

  private constructor(clusters: ReadonlyMap<ClusterName, BareStage>, directory: string) {
    this.#clusters = clusters;
    this.#directory = directory;
  }

  /** Three clusters without the DaemonSet, and Rollcall at work; the caller owes `close()`. */
  static async open(): Promise<FleetStage> {
    const directory = await mkdtemp(join(tmpdir(), 'fleet-'));
    const clusters = new Map<ClusterName, BareStage>();
    const stage = new FleetStage(clusters, directory);
    try {
      const opened = await Promise.allSettled(
        namesOfClusters().map(async (name) => clusters.set(name, await openCluster(name))),
      );
      for (const one of opened) if (one.status === 'rejected') throw one.reason;
      await stage.#begin();
    } catch (error) {
      await stage.close();
      throw error;
    }
    return stage;
  }

  async #begin(): Promise<void> {
    const engineClusters = [...this.#clusters].map(([name, { cluster }]): EngineCluster => ({
      ...stageCluster(cluster),
      id: clusterId(name),
      mode: CLUSTERS[name].mode,
    }));
    const { activity } = this.cluster('eu-1');
    this.#engine = await startEngine({
      clusters: engineClusters,
      log: activity.log,
      metrics: activity.metrics,
      probeWaitMs: 3000,
    });
    const directory = this.#directory;
    this.#environmentFile = await writeSecondTerminal({ directory, aws: this.#engine.aws });
    for (const name of namesOfClusters()) {
      const { code, stderr } = await this.rollcall(
        ...['cluster', 'set', name, '--label', `ring=${CLUSTERS[name].ring}`],
      );
      assert.equal(code, 0, stderr);
    }
  }

  async close(): Promise<void> {
    await this.#engine?.stop();
    for (const cluster of this.#clusters.values()) await cluster.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  cluster(name: ClusterName): BareStage {
    const found = this.#clusters.get(name);
    assert.ok(found !== undefined);
    return found;
  }

  /** `rollcall …`, as at a second terminal. */
  rollcall(...argv: readonly string[]): Promise<Ended> {
    const program = repositoryPath('src/cli/rollcall.ts');
    const script = '. "$1" && shift && exec "$@"';
    const all = ['-c', script, 'sh', this.#environmentFile, process.execPath, program, ...argv];
    return new Promise((resolve) => {
      execFile('/bin/sh', all, { timeout: DEADLINE_MS }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });
  }

  /** `rollcall fleet apply` of an image, with what a breach leads to, and how much each step waits for. */
  async apply(
    image: string,
    onHalt: 'halt' | 'rollback' = 'halt',
    pace: keyof typeof PACES = 'quick',
  ): Promise<void> {
    const file = join(this.#directory, 'fleet.json');
    await writeFile(file, JSON.stringify(fleetOf(image, { onHalt, ...PACES[pace] })));
    const { code, stdout, stderr } = await this.rollcall('fleet', 'apply', '-f', file);
    assert.equal(code, 0, `${stdout}\n${stderr}`);
  }

  /** Fires the schedule until the status command says so. */
  async until(phase: string): Promise<FleetStatusDocument> {
    const endsAtMs = Date.now() + DEADLINE_MS;
    for (;;) {
      await this.#turn();
      const status = await this.status();
      if (status.phase === phase) return status;
      const told = JSON.stringify(status);
      assert.ok(Date.now() < endsAtMs, `${phase} is not reached: ${told}\n${this.#lastLines()}`);
      await sleep(POLL_MS);
    }
  }

  /** A turn of the schedule to which the fleet is due: how long a fleet waits between its steps, the simulation tests. */
  async #turn(): Promise<void> {
    assert.ok(this.#engine !== undefined);
    const stack = openEngineStack(this.#engine);
    try {
      const record = await stack.rollouts.readRecord({ namespace: 'default', name: NAME });
      if (record !== undefined)
        await stack.rollouts.writeRecord({ ...record, dueAtMs: Date.now() });
    } finally {
      stack.close();
    }
    await this.#engine.aws.fireSchedule('fleet');
  }

  #lastLines(): string {
    return this.cluster('eu-1').activity.tail(30);
  }

  /** What `rollcall fleet status --json` says now; in this process, since it is asked often. */
  async status(): Promise<FleetStatusDocument> {
    const engine = this.#engine;
    assert.ok(engine !== undefined);
    const argv = ['fleet', 'status', KEY, '--json'];
    const { exitCode, stdout, stderr } = await runOnEngine(argv, { engine });
    assert.equal(exitCode, 0, stderr);
    return JSON.parse(stdout) as FleetStatusDocument;
  }

  /** How many nodes of a cluster run a pod of that image now. */
  nodesAt(name: ClusterName, image: string): number {
    const { observer } = this.cluster(name);
    const pods = [...observer.pods.values()].filter((pod) => pod.labels['version'] === image);
    return new Set(pods.filter(({ isDeleting }) => !isDeleting).map(({ node }) => node)).size;
  }

  /** Nodes that ever got a pod of that image. */
  everAt(name: ClusterName, image: string): number {
    const { observer } = this.cluster(name);
    const nodes = observer.events.flatMap(({ record }) =>
      record.kind === 'Pod' && record.labels['version'] === image ? [record.node] : [],
    );
    return new Set(nodes.filter((node) => node !== undefined)).size;
  }

  /** Takes from the functions the rights that `rollcall fleet rights` gave them there; `grant` gives them again. */
  async takeRights(name: ClusterName): Promise<void> {
    for (const one of fleetRights(fleetNames([KEY]))) {
      const manifest = one as unknown as KubernetesObject; // a manifest
      const { status, body } = await this.cluster(name).admin.request({
        method: 'DELETE',
        path: `${collectionPath(manifest)}/${manifest.metadata.name}`,
      });
      assert.ok(status < 300, JSON.stringify(body));
    }
  }

  /** As `rollcall fleet rights NAME | kubectl apply -f -`. */
  async grantRights(name: ClusterName): Promise<void> {
    await grant(this.cluster(name).admin);
  }

  /** The DaemonSet as the API server has it, but for its status. */
  async templateIn(name: ClusterName): Promise<string> {
    const path = `/apis/apps/v1/namespaces/default/daemonsets/${NAME}`;
    const { status, body } = await this.cluster(name).admin.request({ method: 'GET', path });
    assert.equal(status, 200);
    const { metadata, spec } = body as DaemonSetObject; // as the API server answers
    return JSON.stringify([metadata.uid, metadata.generation, metadata.annotations, spec]);
  }

  /** Until every node of every cluster runs that image. */
  async untilAt(image: string): Promise<void> {
    for (const name of namesOfClusters()) {
      await this.cluster(name).observer.waitUntil(() => this.nodesAt(name, image) === NODES_COUNT, {
        deadlineMs: DEADLINE_MS,
        description: `${name} at ${image}`,
      });
    }
  }
}

interface FleetStatusDocument {
  readonly phase: string;
  readonly summary: string;
  readonly record?: {
    readonly breach?: { readonly cause: string; readonly message: string };
    readonly gate: { readonly kind: string; readonly cluster?: string; readonly message?: string };
    readonly refused: readonly object[];
  };
}

/** In the order of the stages. */
function namesOfClusters(): readonly ClusterName[] {
  return Object.keys(CLUSTERS) as readonly ClusterName[];
}

async function openCluster(name: ClusterName): Promise<BareStage> {
  const { mode } = CLUSTERS[name];
  const bare = await openBareStage({
    name: `fleet-${name}`,
    backend: 'real',
    nodes: plainNodes(NODES_COUNT),
    rights: mode,
  });
  const { admin, cluster } = bare;
  if (mode === 'copilot') {
    await cluster.controlPlane?.setDaemonSetController('on');
  } else {
    await listInAdmission(admin, [NAME]);
  }
  await grant(admin);
  return bare;
}

async function grant(admin: BareStage['admin']): Promise<void> {
  for (const manifest of fleetRights(fleetNames([KEY]))) {
    await createIfMissing(admin, manifest as unknown as KubernetesObject); // a manifest
  }
}

const CANARY = { canary: { nodes: 1 }, maxUnavailable: 3 };
/** What steps wait for: moments; or an hour, people, and a window that is closed. */
const PACES = {
  quick: { soak: '2s', rollout: { ...CANARY, soak: '2s' } },
  guarded: {
    ...{ soak: '1h', approval: 'before', window: closedWindow() },
    rollout: { ...CANARY, soak: '1h', approval: 'each-step', window: closedWindow() },
  },
} as const;

/** The FleetDaemonSet; its pods say in a label which image they are. */
function fleetOf(image: string, strategy: object): object {
  const labels = { app: NAME };
  return {
    apiVersion: 'rollcall.dev/v1alpha1',
    kind: 'FleetDaemonSet',
    metadata: { namespace: 'default', name: NAME },
    spec: {
      template: {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        spec: {
          updateStrategy: { type: 'OnDelete' },
          selector: { matchLabels: labels },
          template: {
            metadata: { labels: { ...labels, version: image } },
            spec: { containers: [{ name: 'agent', image: `registry.example/${image}:1` }] },
          },
        },
      },
      placement: { all: true },
      strategy: {
        stages: [
          {
            name: 'first',
            clusterSelector: { matchLabels: { ring: 'first' } },
            nodes: FIRST_NODES,
          },
          { name: 'second', clusterSelector: { matchLabels: { ring: 'second' } } },
        ],
        maxConcurrency: '100%',
        ...strategy,
      },
    },
  };
}

const skip =
  (process.env['ROLLCALL_TEST_KUBECONFIG'] ?? '') === ''
    ? skipWithoutTools([TOOLS.go])
    : 'needs control planes of its own';

describe('a fleet of three real clusters', { timeout: 1_500_000, skip }, () => {
  let stage: FleetStage;

  before(async () => {
    stage = await FleetStage.open();
  });
  after(async () => {
    await (stage as FleetStage | undefined)?.close();
  });

  it('gets a DaemonSet that no cluster had, ring by ring', async () => {
    await stage.apply('one');
    await stage.until('Done');
    await stage.untilAt('one');
  });

  it('gets a release: some nodes of the first cluster, the others, then the second ring', async () => {
    await stage.apply('two');
    await stage.until('Done');
    await stage.untilAt('two');
  });

  it('holds a stage one of whose clusters would refuse it, changes nothing there, and goes on once it takes it', async () => {
    const others = ['eu-2', 'us-1'] as const;
    const templates = (): Promise<readonly string[]> =>
      Promise.all(others.map((name) => stage.templateIn(name)));
    const before = await templates();
    await stage.apply('asked');
    await stage.takeRights('eu-2');
    const held = (await stage.until('Waiting')).record;
    assert.equal(held?.gate.kind, 'refused');
    assert.equal(held.gate.cluster, 'eu-2');
    assert.match(held.gate.message ?? '', /forbidden|cannot patch/);
    assert.deepEqual(await templates(), before, 'a dry run changes nothing');
    for (const name of others) assert.equal(stage.everAt(name, 'asked'), 0, name);
    const shown = await stage.rollcall('fleet', 'status', 'default/agent');
    assert.match(shown.stdout, /eu-2 .*rollcall fleet rights eu-2/s);
    await stage.grantRights('eu-2');
    const done = (await stage.until('Done')).record;
    assert.equal(done?.breach, undefined);
    assert.deepEqual(done?.refused, []);
    await stage.untilAt('asked');
  });

  it('halts a bad release on the nodes of the first ring, names the cause, and touches nobody else', async () => {
    await stage.apply('crashes');
    const breach = (await stage.until('Halted')).record?.breach;
    assert.equal(breach?.cause, 'ClustersFailed');
    assert.match(breach.message, /eu-1: Halted\/Restarts/);
    assert.ok(stage.everAt('eu-1', 'crashes') <= FIRST_NODES);
    for (const name of ['eu-2', 'us-1'] as const) {
      assert.equal(stage.everAt(name, 'crashes'), 0, name);
      assert.equal(stage.nodesAt(name, 'asked'), NODES_COUNT, name);
    }
    const shown = await stage.rollcall('fleet', 'status', 'default/agent');
    assert.match(shown.stdout, /ClustersFailed/);
  });

  it('goes back to what was proven when it is undone', async () => {
    const undone = await stage.rollcall('fleet', 'undo', 'default/agent');
    assert.equal(undone.code, 0, undone.stderr);
    await stage.until('Returned');
    await stage.untilAt('asked');
  });

  it('goes back by itself where the strategy says so, and holds the same release when it comes again', async () => {
    await stage.apply('cannot-pull', 'rollback');
    await stage.until('Returned');
    await stage.untilAt('asked');
    await stage.apply('asked', 'rollback');
    await stage.until('Done');
    await stage.apply('cannot-pull', 'rollback');
    const breach = (await stage.until('Returned')).record?.breach;
    assert.equal(breach?.cause, 'KnownBad');
    for (const name of namesOfClusters()) assert.equal(stage.nodesAt(name, 'asked'), NODES_COUNT);
  });

  it('stops at a freeze, whoever approves meanwhile, and goes on after the thaw', async () => {
    const frozen = await stage.rollcall(
      ...['freeze', '--daemon-set', 'default/agent', '--why', 'an incident'],
    );
    assert.equal(frozen.code, 0, frozen.stderr);
    await stage.apply('found-bad');
    await stage.until('Frozen');
    for (const name of namesOfClusters()) assert.equal(stage.everAt(name, 'found-bad'), 0);
    const thawed = await stage.rollcall('thaw', '--daemon-set', 'default/agent');
    assert.equal(thawed.code, 0, thawed.stderr);
    await stage.until('Done');
    await stage.untilAt('found-bad');
  });

  it('goes back at once from a release found bad afterwards, whatever steps would wait for: by an apply of the former content', async () => {
    await stage.apply('asked', 'halt', 'guarded');
    await stage.until('Done');
    await stage.untilAt('asked');
  });

  it('goes back from a release found bad afterwards by fleet undo, holds that release, and the apply that follows changes no pod', async () => {
    await stage.apply('found-late');
    await stage.until('Done');
    await stage.untilAt('found-late');
    const undone = await stage.rollcall('fleet', 'undo', 'default/agent');
    assert.equal(undone.code, 0, undone.stderr);
    await stage.until('Returned');
    await stage.untilAt('asked');
    // A GitOps tool applies what it has.
    await stage.apply('found-late');
    await stage.until('Returned');
    await stage.apply('asked', 'halt', 'guarded');
    await stage.until('Done');
    await stage.apply('found-late');
    assert.equal((await stage.until('Halted')).record?.breach?.cause, 'KnownBad');
    for (const name of namesOfClusters()) assert.equal(stage.nodesAt(name, 'asked'), NODES_COUNT);
  });
});
