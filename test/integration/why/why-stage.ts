/**
 * Local clusters with nodes of all kinds in takeover under the embedded engine, one DaemonSet for each reason, and
 * `rollcall why` as a person runs it.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Message } from '@aws-sdk/client-sqs';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { parseWatcherMessage } from '../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import type { Transport } from '../../../src/adapters/kubernetes/transport/transport.ts';
import { startEngine } from '../../../src/engine/engine.ts';
import type { ClusterId } from '../../../src/core/model/identifiers.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { LOCAL_PROBE_WAIT_MS, startLocalFleet } from '../../../src/engine/local-fleet.ts';
import type { LocalFleet } from '../../../src/engine/local-fleet.ts';
import { openTransport } from '../../../src/engine/reach-cluster.ts';
import type { ReasonCode } from '../../../src/core/status/reasons.ts';
import { POLICY_ANNOTATION } from '../../../src/core/policy/rollout-policy.ts';
import { pollUntil } from '../../conformance/control-plane/poll.ts';
import { runOnEngine } from '../../support/engine-commands.ts';
import type { CommandRun } from '../../support/engine-commands.ts';
import { MemoryMetrics } from '../../support/memory-metrics.ts';

/** A watcher that was kept from its queue tries again after 30 s at most, and what was lost meanwhile needs a snapshot. */
const DEADLINE_MS = 120_000;
/** Between two commands, each of which asks the tables some ten times. */
const PAUSE_MAX_MS = 500;
/** Of large DaemonSets: some may be reported one by one. */
const ROUNDS_MAX = 4;
/** Where DaemonSets are. */
export const SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const PODS = '/api/v1/namespaces/default/pods';

export interface SetOf {
  /** Of its pods. */
  readonly spec?: JsonObject;
  readonly container?: JsonObject;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly strategy?: JsonObject;
  /** Of the DaemonSet itself. */
  readonly policy?: string;
  /** Its template has no labels, and its selector asks for none. */
  readonly isUnlabelled?: true;
}

/** What `why` is to tell of a DaemonSet. */
export interface Expected {
  readonly code: ReasonCode;
  /** Default: worker-1. */
  readonly node?: string;
  readonly cause: RegExp;
  /** An empty one: nothing is to be done. */
  readonly remedy: RegExp;
  readonly laterByMs?: number;
}

/** The stage, as one of its clusters sees it. */
export class WhyStage {
  readonly id: ClusterId;
  readonly admin: Transport;
  readonly engine: Engine;
  readonly fleet: LocalFleet;

  private constructor(engine: Engine, fleet: LocalFleet, index: number) {
    const cluster = fleet.clusters[index];
    assert.ok(cluster !== undefined);
    this.engine = engine;
    this.fleet = fleet;
    this.id = cluster.id;
    this.admin = openTransport(cluster, cluster.probe);
  }

  /** Starts everything; on a stage of several clusters one speaks for each. */
  static async open(of: {
    readonly clusters: number;
    readonly nodes: number;
  }): Promise<WhyStage[]> {
    const log = new MemoryLog();
    const fleet = await startLocalFleet({
      clusterCount: of.clusters,
      nodesPerCluster: of.nodes,
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
    return fleet.clusters.map((_, index) => new WhyStage(engine, fleet, index));
  }

  async close(): Promise<void> {
    this.admin.retire();
    await this.engine.stop();
    await this.fleet.stop();
  }

  /** Makes a DaemonSet, on worker-1 alone unless its spec says otherwise. */
  async create(name: string, { spec = {}, container = {}, ...more }: SetOf): Promise<void> {
    const { annotations = {}, strategy, policy, isUnlabelled } = more;
    const labels = isUnlabelled === true ? {} : { app: name };
    const selector =
      isUnlabelled === true
        ? { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] }
        : { matchLabels: labels };
    await this.send('POST', SETS, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: {
        name,
        namespace: 'default',
        ...(policy === undefined ? {} : { annotations: { [POLICY_ANNOTATION]: policy } }),
      },
      spec: {
        selector,
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

  /** Edits the pod template of a DaemonSet. */
  async editPods(name: string, spec: JsonObject): Promise<void> {
    await this.send('PATCH', `${SETS}/${name}`, { spec: { template: { spec } } });
  }

  /** Gives a DaemonSet another image. */
  async setImage(name: string, image: string): Promise<void> {
    await this.editPods(name, { containers: [{ name: 'main', image }] });
  }

  /** Gives a DaemonSet a policy, or takes it away. */
  async setPolicy(name: string, policy: string | null): Promise<void> {
    const annotations = { [POLICY_ANNOTATION]: policy };
    await this.send('PATCH', `${SETS}/${name}`, { metadata: { annotations } });
  }

  /**
   * Loses the end of a report that waits for `ingest` in several messages, as a queue does whose messages grew too old. It is made
   * by DaemonSets at once that are too large for one message: random text does not shrink. The watcher sends nothing more.
   */
  async loseEndOfReport(): Promise<void> {
    const QueueUrl = this.engine.aws.queueUrls['EventsQueue'];
    const sqs = new SQSClient();
    let round = 0;
    const findParts = async (): Promise<readonly Message[] | undefined> => {
      const asked = { QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 2 };
      const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(asked));
      const open = Messages.findIndex(({ Body = '' }) => isWithoutEnd(Body));
      if (open === -1 && round < ROUNDS_MAX) await this.#createLarge((round += 1));
      return open === -1 ? undefined : Messages.slice(open + 1);
    };
    const what = { description: 'a report of several messages', deadlineMs: DEADLINE_MS };
    await pollUntil(what, findParts);
    this.silence();
    // A turn receives ten at most.
    let after = await pollUntil(what, findParts);
    while (after.length > 0) {
      for (const { ReceiptHandle } of after) {
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      }
      after = await pollUntil(what, findParts);
    }
    sqs.destroy();
  }

  /** Keeps the watcher from the queue. */
  silence(): void {
    const { AWS_ACCESS_KEY_ID: key = '' } = this.engine.watcherEnvironment(this.id);
    this.engine.aws.authorizer.grant(key, { arn: 'watcher', rights: [] });
  }

  /** Lets the watcher send again. */
  unsilence(): void {
    const { AWS_ACCESS_KEY_ID: key = '' } = this.engine.watcherEnvironment(this.id);
    this.engine.aws.authorizer.grant(key, { arn: 'watcher', rights: 'administrator' });
  }

  async #createLarge(round: number): Promise<void> {
    const names = ['a', 'b', 'c', 'd'].map((name) => `large-${name}-${String(round)}`);
    const spec = { nodeSelector: { nowhere: 'yes' } };
    await sideBySide(names, names.length, (name) =>
      this.create(name, { spec, annotations: { noise: randomBytes(70_000).toString('hex') } }),
    );
  }

  /** Labels or annotates a node. */
  async editNode(name: string, metadata: JsonObject): Promise<void> {
    await this.send('PATCH', `/api/v1/nodes/${name}`, { metadata });
  }

  /** Takes a DaemonSet's pods away at once. */
  async dropPods(name: string): Promise<void> {
    for (const pod of await this.podsOf(name)) {
      await this.send('DELETE', `${PODS}/${pod}?gracePeriodSeconds=0`, {});
    }
  }

  /** Makes pods of a DaemonSet on a node as a controller would that went wrong: a gate keeps them from being bound. */
  async crowd(name: string, node: string, count: number): Promise<void> {
    const { metadata } = (await this.read(`${SETS}/${name}`)) as KubernetesObject;
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid: metadata.uid ?? '' };
    const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] };
    const required = { nodeSelectorTerms: [term] };
    const affinity = {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required },
    };
    const pods = Array.from({ length: count }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `${name}-${node}-${String(index)}`,
        namespace: 'default',
        labels: { app: name },
        ownerReferences: [{ ...owner, controller: true }],
      },
      spec: {
        affinity,
        schedulingGates: [{ name: 'example.com/gate' }],
        containers: [{ name: 'main', image: 'example/main:1' }],
      },
    }));
    await sideBySide(pods, 8, (pod) => this.send('POST', PODS, pod));
  }

  /** What the API server has there. */
  async read(path: string): Promise<unknown> {
    const answer = await this.admin.send({ method: 'GET', path });
    assert.ok(answer.kind === 'answered' && answer.status === 200, JSON.stringify(answer));
    return answer.body;
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
  podsOf(name: string): Promise<readonly string[]> {
    return this.namesOf(PODS, name);
  }

  /** Names of what is under this path and of a DaemonSet, by its label. */
  async namesOf(path: string, name: string): Promise<readonly string[]> {
    const { items } = (await this.read(`${path}?labelSelector=app%3D${name}`)) as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    };
    return items.map(({ metadata }) => metadata.name);
  }

  /** Runs a command line, `laterByMs` later than now. */
  run(argv: readonly string[], laterByMs = 0): Promise<CommandRun> {
    const environment = { USER: 'ann' };
    return runOnEngine(argv, { engine: this.engine, environment, laterByMs });
  }

  /** The command line that asks of one node of a DaemonSet. */
  ask(name: string, node = 'worker-1'): readonly string[] {
    return ['why', `default/${name}`, '--cluster', this.id, '--node', node];
  }

  /** Asks until the code is told, which its line gives the cause of, and the line below the remedy. */
  async expect(name: string, { code, node, cause, remedy, laterByMs }: Expected): Promise<void> {
    const isTold = new RegExp(`\\(${code}: `);
    const run = await this.until(this.ask(name, node), isTold, laterByMs);
    const lines = run.stdout.split('\n');
    const index = lines.findIndex((line) => isTold.test(line));
    assert.match(lines[index] ?? '', cause);
    const next = lines[index + 1] ?? '';
    assert.match(next.startsWith('    do: ') ? next.slice(8) : '', remedy);
  }

  /** Asks until the answer has this text. */
  until(argv: readonly string[], text: RegExp, laterByMs = 0): Promise<CommandRun> {
    let last = '';
    const description = String(text);
    const options = { description, deadlineMs: DEADLINE_MS, pauseMaxMs: PAUSE_MAX_MS };
    const asked = pollUntil(options, async () => {
      const run = await this.run(argv, laterByMs);
      last = `${run.stdout}${run.stderr}`;
      return text.test(run.stdout) ? run : undefined;
    });
    return asked.catch((error: unknown) => assert.fail(`${String(error)}\n${last}`));
  }
}

/** True of a part of a report that another one follows. */
function isWithoutEnd(body: string): boolean {
  const parsed = parseWatcherMessage(body);
  if (parsed.kind !== 'message') return false;
  const { body: report } = parsed.message;
  return report.kind === 'changes' && report.cut === undefined;
}
