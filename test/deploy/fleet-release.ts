/**
 * One FleetDaemonSet over two clusters of a deployed stack, as an operator and a listener on the event bus see it (issue 18).
 *
 * The function `fleet` runs inside the emulator. Its schedule calls it, and for the sake of time it is called more often besides,
 * asynchronously and with the event that the schedule sends: two turns at a time do nothing twice. What it tells is taken from a queue
 * behind a rule of the default bus. Nothing is judged here (local-stack.test.ts).
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { JsonObject } from '@rollcall/base/json.ts';
import { REGION } from '../../scripts/deploy/aws-environment.ts';
import type { LocalDeployment } from '../../scripts/deploy/local-deployment.ts';
import type { ManagedCluster } from '../../scripts/deploy/managed-cluster.ts';
import { sendToEvents } from '../../src/adapters/eventbridge/signed-request.ts';
import { openClusterClient, type ClusterClient, type SeenPod } from './cluster-client.ts';

/** Its DaemonSet. */
export const FLEET = 'fleet-agent';
/** Nodes of each cluster that get it. */
export const FLEET_NODES = 3;
const KEY = `default/${FLEET}`;
const POOL = 'test.rollcall.dev/fleet';
const NODE_COUNT = 6;
const TURN_MS = 2000;
const WATCH_SECONDS = '300';
const QUEUE = 'what-fleets-tell';
const SCHEDULED = { source: 'aws.events', 'detail-type': 'Scheduled Event', detail: {} };

export interface ToldEvent {
  readonly 'detail-type': string;
  readonly source: string;
  readonly detail: {
    readonly specversion: string;
    readonly source: string;
    readonly type: string;
    readonly subject: string;
    readonly data: { readonly decision: string; readonly recordVersion: number };
  };
}

export class FleetRelease {
  readonly #running: LocalDeployment;
  readonly #second: ManagedCluster;
  readonly #clients: ReadonlyMap<string, ClusterClient>;
  readonly #lambda = new LambdaClient({});
  readonly #sqs = new SQSClient({});
  #queueUrl = '';

  private constructor(running: LocalDeployment, second: ManagedCluster) {
    this.#running = running;
    this.#second = second;
    this.#clients = new Map(
      [running.managed, second].map(({ cluster }) => [cluster.id, openClusterClient(cluster)]),
    );
  }

  /** Starts the second cluster, gives both the rights of the fleet, and listens. */
  static async open(running: LocalDeployment): Promise<FleetRelease> {
    const release = new FleetRelease(running, await running.addCluster(NODE_COUNT));
    const file = await release.#write('example/fleet:1');
    for (const [id, client] of release.#clients) {
      const { manifests } = await running.rollcall(['fleet', 'rights', id, '-f', file]);
      for (const manifest of manifests as readonly JsonObject[]) {
        await client.createManifest(manifest);
      }
      const nodes = (await client.readyNodes()).slice(0, FLEET_NODES);
      for (const node of nodes) await client.label(node, { [POOL]: 'a' });
    }
    await release.#listen();
    return release;
  }

  /** `rollcall fleet apply`: what it says. */
  async apply(image: string): Promise<Readonly<Record<string, unknown>>> {
    return this.#running.rollcall(['fleet', 'apply', '-f', await this.#write(image)]);
  }

  /** What `rollcall fleet status` says. */
  status(): Promise<Readonly<Record<string, unknown>>> {
    return this.#running.rollcall(['fleet', 'status', KEY]);
  }

  /** Has it called often until it is where `rollcall fleet status --watch` leaves; rejects unless it is done. */
  async finish(): Promise<Readonly<Record<string, unknown>>> {
    const watch = ['fleet', 'status', KEY, '--watch', '--timeout', WATCH_SECONDS];
    const over = new AbortController();
    const watched = this.#running.rollcall(watch).finally(() => {
      over.abort();
    });
    const calling = this.#callUntil(over.signal);
    try {
      return await watched;
    } finally {
      await calling;
    }
  }

  /** Of each cluster its pods, those of both under the fleet's name. */
  async pods(): Promise<readonly (readonly SeenPod[])[]> {
    return Promise.all([...this.#clients.values()].map((client) => client.pods(FLEET)));
  }

  /** Everything that the bus handed on since the last look. */
  async told(): Promise<readonly ToldEvent[]> {
    const told: ToldEvent[] = [];
    const QueueUrl = this.#queueUrl;
    for (;;) {
      const { Messages: messages = [] } = await this.#sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
      );
      if (messages.length === 0) return told;
      told.push(...messages.map(({ Body = '' }) => JSON.parse(Body) as ToldEvent));
      const Entries = messages.map(({ ReceiptHandle }, index) => ({
        ...{ Id: String(index), ReceiptHandle },
      }));
      await this.#sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    }
  }

  /** Forgets the fleet and the second cluster; pods stay. */
  async leave(): Promise<void> {
    const { rollcall } = this.#running;
    await rollcall(['fleet', 'delete', KEY]);
    await rollcall(['cluster', 'remove', this.#second.cluster.id, '--force']);
    await this.#second.stop();
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
    this.#lambda.destroy();
    this.#sqs.destroy();
  }

  async #write(image: string): Promise<string> {
    const file = path.join(this.#running.directory, 'fleet.json');
    await writeFile(file, JSON.stringify(fleetOf(image, this.#running.managed.cluster.id)));
    return file;
  }

  async #callUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#lambda.send(
        new InvokeCommand({
          FunctionName: 'rollcall-local-fleet',
          InvocationType: 'Event',
          Payload: Buffer.from(JSON.stringify(SCHEDULED)),
        }),
      );
      await delay(TURN_MS);
    }
  }

  async #listen(): Promise<void> {
    const { QueueUrl = '' } = await this.#sqs.send(new CreateQueueCommand({ QueueName: QUEUE }));
    this.#queueUrl = QueueUrl;
    const { Attributes } = await this.#sqs.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
    );
    const pattern = JSON.stringify({ source: ['dev.rollcall'] });
    await this.#events('PutRule', { Name: QUEUE, EventPattern: pattern });
    const target = { Id: 'queue', Arn: Attributes?.['QueueArn'] };
    await this.#events('PutTargets', { Rule: QUEUE, Targets: [target] });
  }

  async #events(action: string, body: object): Promise<void> {
    const { status, text } = await sendToEvents(action, JSON.stringify(body), {
      region: REGION,
      endpoint: this.#running.emulator.endpoint,
      credentials: () => this.#sqs.config.credentials(),
      nowMs: () => Date.now(),
    });
    if (status !== 200) throw new Error(`${action}: ${String(status)} ${text}`);
  }
}

function fleetOf(image: string, first: string): object {
  const labels = { app: FLEET };
  return {
    apiVersion: 'rollcall.dev/v1alpha1',
    kind: 'FleetDaemonSet',
    metadata: { namespace: 'default', name: FLEET },
    spec: {
      template: {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: {
              nodeSelector: { [POOL]: 'a' },
              tolerations: [{ operator: 'Exists' }],
              containers: [{ name: 'main', image }],
            },
          },
        },
      },
      placement: { all: true },
      strategy: {
        stages: [{ name: 'first', clusterNames: [first], nodes: 1 }],
        maxConcurrency: '100%',
        soak: '0s',
        rollout: { canary: { nodes: 1 }, soak: '2s', maxUnavailable: FLEET_NODES },
      },
    },
  };
}
