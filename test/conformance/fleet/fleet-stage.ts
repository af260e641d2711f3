/**
 * Three real control planes and one FleetDaemonSet: two with the built-in loop on (copilot), one where it is off (takeover).
 *
 * One engine looks after all of them, with the rights that are shipped. What a person has at hand is here: `rollcall` as a process of its
 * own against the engine's tables, and a file. The schedule of the function `fleet` is fired as often as somebody waits, and the fleet is due each time; what happened to
 * pods is told by each cluster's own witness. Nothing is judged here (three-clusters.test.ts).
 */
import assert from 'node:assert/strict';
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
export const CLUSTERS = {
  'eu-1': { mode: 'copilot', ring: 'first' },
  'eu-2': { mode: 'copilot', ring: 'second' },
  'us-1': { mode: 'takeover', ring: 'second' },
} as const;

export type ClusterName = keyof typeof CLUSTERS;

/** Its DaemonSet. */
const NAME = 'agent';
/** In each cluster. */
export const NODES_COUNT = 6;
/** Of the first cluster, that try a release before all others. */
export const FIRST_NODES = 2;

const KEY = `default/${NAME}`;
const DEADLINE_MS = 240_000;
const POLL_MS = 500;

/** What `rollcall` left with. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class FleetStage {
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

export interface FleetStatusDocument {
  readonly phase: string;
  readonly summary: string;
  readonly record?: {
    readonly breach?: { readonly cause: string; readonly message: string };
    readonly gate: { readonly kind: string; readonly cluster?: string; readonly message?: string };
    readonly refused: readonly object[];
  };
}

/** In the order of the stages. */
export function namesOfClusters(): readonly ClusterName[] {
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
