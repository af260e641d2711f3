/**
 * Healthy clusters and a noisy one on real parts: the engine with its deployed handlers, the queue and table servers,
 * local API servers with their watchers, in this process. For the benchmark and its small form in the suite.
 *
 * The latency of a change is from the answer to a node's creation until an independent watch has seen the last of
 * its pods created. Everything is bounded, and stopped by `close`.
 */
import { SQSClient } from '@aws-sdk/client-sqs';
import { createHintQueue } from '../../../src/adapters/sqs/hint-queue.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { clusterId, type ClusterId } from '../../../src/core/model/identifiers.ts';
import { HINT_SCHEMA, type Hint } from '../../../src/core/model/hint.ts';
import { startEngine, type Engine } from '../../../src/engine/engine.ts';
import { startLocalCluster } from '@rollcall/local-cluster/cluster/start-local-cluster.ts';
import { createApiClient, type ApiClient } from '../../conformance/control-plane/api.ts';
import { createNodes, fakeNode } from '../../conformance/control-plane/nodes.ts';
import { observerNowMs, startObserver } from '../../conformance/control-plane/observer.ts';
import type { Observer } from '../../conformance/control-plane/observer.ts';
import { createActivityLog } from '../../conformance/scenarios/activity-log.ts';
import { daemonSetPath, testDaemonSet } from '../../conformance/scenarios/daemon-set.ts';
import { applyFiles } from '../../conformance/scenarios/manifests.ts';
import { repositoryPath } from '../../conformance/scenarios/repository.ts';
import { startRelay, type Relay } from './relay.ts';

export interface IsolationOptions {
  readonly healthy: number;
  /** DaemonSets of each healthy cluster. */
  readonly healthyKeys: number;
  /** DaemonSets of the noisy one: more than `reconcile` has room for is a crowd. */
  readonly noisyKeys: number;
  readonly deadlineMs: number;
}

/** What the noisy cluster does while the others are measured. */
export type Noise = 'none' | 'flood' | 'hang' | 'garbage';

interface Member {
  readonly id: ClusterId;
  readonly admin: ApiClient;
  readonly observer: Observer;
  readonly keys: number;
}

/** The stage. */
export class IsolationStage {
  readonly relay: Relay;
  readonly engine: Engine;
  readonly #healthy: readonly Member[];
  readonly #noisy: Member;
  readonly #options: IsolationOptions;
  readonly #stops: (() => Promise<void>)[];
  #nodes = 0;

  private constructor(parts: {
    readonly options: IsolationOptions;
    readonly members: readonly Member[];
    readonly noisy: Member;
    readonly relay: Relay;
    readonly engine: Engine;
    readonly stops: (() => Promise<void>)[];
  }) {
    this.relay = parts.relay;
    this.engine = parts.engine;
    this.#healthy = parts.members;
    this.#noisy = parts.noisy;
    this.#options = parts.options;
    this.#stops = parts.stops;
  }

  /** Starts everything and waits until the first node of each cluster has its pods. */
  static async open(options: IsolationOptions): Promise<IsolationStage> {
    const stops: (() => Promise<void>)[] = [];
    try {
      return await bringUp(options, stops);
    } catch (error) {
      for (const stop of stops.toReversed()) await stop();
      throw error;
    }
    async function bringUp(
      wanted: IsolationOptions,
      owed: (() => Promise<void>)[],
    ): Promise<IsolationStage> {
      const names = Array.from(
        { length: wanted.healthy },
        (_, index) => `healthy-${String(index)}`,
      );
      const opened = [];
      for (const name of [...names, 'noisy']) {
        const keys = name === 'noisy' ? wanted.noisyKeys : wanted.healthyKeys;
        opened.push(await openCluster({ name, keys }, owed));
      }
      const last = opened.at(-1);
      if (last === undefined) throw new Error('there is no cluster');
      const relay = await startRelay(last.local);
      owed.push(() => relay.close());
      const activity = createActivityLog();
      const engine = await startEngine({
        clusters: opened.map(({ member, local }) => ({
          id: member.id,
          mode: 'takeover',
          server: member === last.member ? relay.server : local.server,
          caPem: member === last.member ? relay.caPem : local.caPem,
          watcher: { kind: 'bearer', token: local.tokens.watcher },
          functions: { kind: 'bearer', token: local.tokens.functions },
          probe: { kind: 'bearer', token: local.tokens.admin },
        })),
        log: activity.log,
        metrics: activity.metrics,
        probeWaitMs: 500,
      });
      owed.push(() => engine.stop());
      const members = opened.slice(0, -1).map(({ member }) => member);
      const stage = new IsolationStage({
        options: wanted,
        members,
        noisy: last.member,
        relay,
        engine,
        stops: owed,
      });
      await Promise.all(opened.map(({ member }) => stage.#latencyOf(member)));
      await stage.#settle();
      return stage;
    }
  }

  /** Latencies of changes in the healthy clusters, side by side, beside this noise. */
  measure(noise: Noise, changes: number): Promise<readonly number[]> {
    return this.during(noise, async () => {
      const measured = await Promise.all(
        this.#healthy.map(async (member) => {
          const latencies: number[] = [];
          for (let change = 0; change < changes; change += 1) {
            latencies.push(await this.#latencyOf(member));
          }
          return latencies;
        }),
      );
      return measured.flat();
    });
  }

  /** Does something beside this noise, and waits afterwards until all is quiet again. */
  async during<T>(noise: Noise, work: () => Promise<T>): Promise<T> {
    const stop = await this.#begin(noise);
    try {
      return await work();
    } finally {
      await stop();
    }
  }

  /** Waits until no cluster has anything left to do: what one measurement left must not meet the next. */
  async #settle(): Promise<void> {
    const { deadlineMs } = this.#options;
    for (const { observer } of [...this.#healthy, this.#noisy]) {
      await observer.waitUntilQuiet({ quietMs: 1_500, deadlineMs, isRelevant: () => true });
    }
  }

  async close(): Promise<void> {
    for (const stop of this.#stops.splice(0).toReversed()) await stop();
  }

  async #latencyOf(member: Member): Promise<number> {
    this.#nodes += 1;
    const name = `node-${String(this.#nodes)}`;
    await createNodes(member.admin, [fakeNode({ name, registersReady: true })]);
    const startedMs = observerNowMs();
    await member.observer.waitUntil((it) => countOn(it, name) >= member.keys, {
      deadlineMs: this.#options.deadlineMs,
      description: `${String(member.keys)} pods on ${name} of ${member.id}`,
    });
    return observerNowMs() - startedMs;
  }

  /** Begins to make noise; answers how to end it. */
  async #begin(noise: Noise): Promise<() => Promise<void>> {
    if (noise === 'none') return () => Promise.resolve();
    this.relay.mode = noise === 'hang' ? 'hangs' : noise === 'garbage' ? 'garbage' : 'serves';
    // Every key of it has something to do, and its watcher tells.
    this.#nodes += 1;
    const node = fakeNode({ name: `noise-${String(this.#nodes)}`, registersReady: true });
    await createNodes(this.#noisy.admin, [node]);
    let isOver = false;
    const making = (async (): Promise<void> => {
      const client = new SQSClient({
        region: this.engine.aws.region,
        endpoint: this.engine.aws.sqsEndpoint,
        credentials: this.engine.aws.operator,
      });
      try {
        while (!isOver) await this.#hintAll(client, noise);
      } finally {
        client.destroy();
      }
    })();
    return async () => {
      isOver = true;
      await making;
      this.relay.mode = 'serves';
      await this.#settle();
    };
  }

  /** Flood: thousands of keys at once. Otherwise each of its keys by itself, as single events do. */
  async #hintAll(client: SQSClient, noise: Noise): Promise<void> {
    const { aws, clusterUids } = this.engine;
    const clock = createSystemClock();
    const queue = createHintQueue({
      client,
      clock,
      reconcileQueueUrl: aws.queueUrls['ReconcileQueue'] ?? '',
      delayQueueUrl: aws.queueUrls['DelayQueue'] ?? '',
    });
    const isFlood = noise === 'flood';
    const names = Array.from({ length: isFlood ? 2_000 : this.#noisy.keys }, (_, index) =>
      isFlood ? `flood-${String(index)}` : nameOf(index),
    );
    const clusterUid = clusterUids.get(this.#noisy.id);
    if (clusterUid === undefined) throw new Error('the noisy cluster is not registered');
    const hints = names.map((name): Hint => ({
      schema: HINT_SCHEMA,
      key: { cluster: this.#noisy.id, namespace: 'default', name },
      clusterUid,
      reason: 'manual',
    }));
    const prefix = `noise/${createSystemRandom().uniqueId()}`;
    if (isFlood) await queue.sendHints(hints, prefix);
    else for (const hint of hints) await queue.sendHints([hint], prefix);
    await clock.sleep(isFlood ? 1_000 : 200);
  }
}

function countOn(observer: Observer, node: string): number {
  let count = 0;
  for (const pod of observer.pods.values()) if (pod.node === node) count += 1;
  return count;
}

function nameOf(index: number): string {
  return `agent-${String(index)}`;
}

async function openCluster(
  wanted: { readonly name: string; readonly keys: number },
  owed: (() => Promise<void>)[],
): Promise<{
  readonly member: Member;
  readonly local: Awaited<ReturnType<typeof startLocalCluster>>;
}> {
  const { name, keys } = wanted;
  const local = await startLocalCluster({
    name,
    port: 0,
    machines: [],
    clock: createSystemClock(),
    random: createSystemRandom(),
    log: createActivityLog().log,
  });
  owed.push(() => local.stop());
  const connectionOf = (token: string): Parameters<typeof createApiClient>[0] => ({
    server: local.server,
    caPem: local.caPem,
    token,
  });
  const admin = createApiClient(connectionOf(local.tokens.admin));
  owed.push(() => Promise.resolve(admin.close()));
  await applyFiles(admin, [
    repositoryPath('infra/watcher/rbac.yaml'),
    repositoryPath('infra/functions/rbac.yaml'),
  ]);
  for (let index = 0; index < keys; index += 1) {
    await admin.post(daemonSetPath({}), testDaemonSet({ name: nameOf(index) }));
  }
  const observer = await startObserver(connectionOf(local.tokens.observer));
  owed.push(() => observer.stop());
  return { member: { id: clusterId(name), admin, observer, keys }, local };
}
