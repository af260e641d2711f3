/**
 * A local cluster of six nodes of all kinds in takeover under the embedded engine, with one DaemonSet for each reason, and
 * `rollcall why` as a person runs it.
 */
import assert from 'node:assert/strict';
import type { JsonObject } from '@rollcall/base/json.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import type { Transport } from '../../../src/adapters/kubernetes/transport/transport.ts';
import { startEngine } from '../../../src/engine/engine.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { LOCAL_PROBE_WAIT_MS, startLocalFleet } from '../../../src/engine/local-fleet.ts';
import type { LocalFleet } from '../../../src/engine/local-fleet.ts';
import { openTransport } from '../../../src/engine/reach-cluster.ts';
import { pollUntil } from '../../conformance/control-plane/poll.ts';
import { runOnEngine } from '../../support/engine-commands.ts';
import type { CommandRun } from '../../support/engine-commands.ts';
import { MemoryMetrics } from '../../support/memory-metrics.ts';

const DEADLINE_MS = 60_000;
const SETS = '/apis/apps/v1/namespaces/default/daemonsets';

export interface SetOf {
  /** Of its pods. */
  readonly spec?: JsonObject;
  readonly container?: JsonObject;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly strategy?: JsonObject;
}

export class WhyStage {
  readonly id: string;
  readonly admin: Transport;
  readonly #engine: Engine;
  readonly #fleet: LocalFleet;

  private constructor(engine: Engine, fleet: LocalFleet) {
    const [cluster] = fleet.clusters;
    assert.ok(cluster !== undefined);
    this.#engine = engine;
    this.#fleet = fleet;
    this.id = cluster.id;
    this.admin = openTransport(cluster, cluster.probe);
  }

  /** Starts everything. */
  static async open(): Promise<WhyStage> {
    const log = new MemoryLog();
    const fleet = await startLocalFleet({
      clusterCount: 1,
      nodesPerCluster: 6,
      port: 0,
      isCold: false,
      mode: 'takeover',
      manifests: [],
      log,
      logLevel: 'info',
      onFailure: (error) => {
        throw error;
      },
    });
    const engine = await startEngine({
      clusters: fleet.clusters,
      log,
      metrics: new MemoryMetrics(),
      probeWaitMs: LOCAL_PROBE_WAIT_MS,
    });
    return new WhyStage(engine, fleet);
  }

  /** Stops everything. */
  async close(): Promise<void> {
    this.admin.retire();
    await this.#engine.stop();
    await this.#fleet.stop();
  }

  /** Makes a DaemonSet, on worker-1 alone unless its spec says otherwise. */
  async create(name: string, { spec = {}, container = {}, ...more }: SetOf): Promise<void> {
    const labels = { app: name };
    const { annotations = {}, strategy } = more;
    await this.send('POST', SETS, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name, namespace: 'default' },
      spec: {
        selector: { matchLabels: labels },
        ...(strategy === undefined ? {} : { updateStrategy: strategy }),
        template: {
          metadata: { labels, annotations },
          spec: {
            nodeSelector: { 'kubernetes.io/hostname': 'worker-1' },
            containers: [{ name: 'main', image: 'example/main:1', ...container }],
            ...spec,
          },
        },
      },
    });
  }

  /** Gives a DaemonSet another image. */
  async setImage(name: string, image: string): Promise<void> {
    const spec = { template: { spec: { containers: [{ name: 'main', image }] } } };
    await this.send('PATCH', `${SETS}/${name}`, { spec });
  }

  /** Asks the API server as its administrator. */
  async send(method: 'POST' | 'PATCH' | 'DELETE', path: string, body: JsonObject): Promise<void> {
    const contentType =
      method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    const text = JSON.stringify(body);
    const answer = await this.admin.send({ method, path, body: text, contentType });
    assert.ok(answer.kind === 'answered' && answer.status < 300, JSON.stringify(answer));
  }

  /** Names of a DaemonSet's pods. */
  async podsOf(name: string): Promise<readonly string[]> {
    const path = `/api/v1/namespaces/default/pods?labelSelector=app%3D${name}`;
    const answer = await this.admin.send({ method: 'GET', path });
    assert.ok(answer.kind === 'answered', JSON.stringify(answer));
    // A list of pods has them.
    const { items } = answer.body as unknown as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    };
    return items.map(({ metadata }) => metadata.name);
  }

  /** Runs a command line, `laterByMs` later than now. */
  run(argv: readonly string[], laterByMs = 0): Promise<CommandRun> {
    const environment = { USER: 'ann' };
    return runOnEngine(argv, { engine: this.#engine, environment, laterByMs });
  }

  /** Asks until the answer has this text. */
  until(argv: readonly string[], text: RegExp, laterByMs = 0): Promise<CommandRun> {
    let last = '';
    const asked = pollUntil({ description: String(text), deadlineMs: DEADLINE_MS }, async () => {
      const run = await this.run(argv, laterByMs);
      last = `${run.stdout}${run.stderr}`;
      return text.test(run.stdout) ? run : undefined;
    });
    return asked.catch((error: unknown) => assert.fail(`${String(error)}\n${last}`));
  }
}
