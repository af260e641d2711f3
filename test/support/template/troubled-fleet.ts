/**
 * A fleet minute by minute, as the functions' own code sees it, and what CloudWatch is told of it.
 *
 * Time is virtual; stores are those of the unit tests, metrics are written through the adapter that is deployed. What is the
 * matter with a cluster is played where it arises: in META, in what runs find out through their gate, in refused messages.
 */
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { refuse } from '../../../src/app/ingest/message/ingest-refused.ts';
import { ClusterGate } from '../../../src/app/isolation/cluster-gate.ts';
import { reportedConnector } from '../../../src/app/isolation/reported-access.ts';
import {
  defaultResyncOptions,
  createResyncProcessCache,
} from '../../../src/app/resync/dependencies.ts';
import { resyncClusters } from '../../../src/app/resync/resync.ts';
import type { Outcome, RefusalCode } from '../../../src/core/model/effects.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import type { ClusterAccess, ClusterConnector } from '../../../src/ports/cluster/cluster-access.ts';
import { MemoryRegistryStore } from '../memory-registry-store.ts';
import { MemoryViewStore } from '../memory-view-store.ts';
import { RecordingHintQueue } from '../recording-hint-queue.ts';
import { metaOf, registrationOf } from '../store-suite.ts';
import type { Datapoint } from './alarm-clock.ts';
import { MeasuredFunctions } from './alarm-situations.ts';

const MINUTE_MS = 60_000;
/** A key whose work fails is tried again about so often. */
const RUN_EVERY_MINUTES = 5;

/** Keys that do so together. */
const RUNS = 3;

/** What is the matter with a cluster in one minute. */
export type Condition =
  | 'well'
  /** Nothing is heard of its watcher. */
  | 'silent'
  | 'never-heard'
  | 'incomplete'
  /** Its API server does not answer. */
  | 'hangs'
  | 'forbidden'
  | 'quota-full'
  | 'no-token'
  | 'private-endpoint'
  /** Its watcher says things that are refused. */
  | 'refused-messages';

type Connection = Awaited<ReturnType<ClusterConnector['connect']>>;

const refusing = (code: RefusalCode): Connection =>
  answering({ kind: 'refused', code, status: 403, message: 'HTTP 403' });

function answering(outcome: Outcome): Connection {
  const access = { answerTimes: [], execute: () => Promise.resolve([outcome]) };
  return { kind: 'connected', access: access as unknown as ClusterAccess }; // the one call that is made
}

const ANSWERING = answering({ kind: 'done', object: {} });
/** What a run gets that opens a cluster which is not well. */
const CONNECTIONS: Readonly<Partial<Record<Condition, Connection>>> = {
  hangs: { kind: 'refused', refusal: { kind: 'unavailable', message: 'ETIMEDOUT' } },
  forbidden: refusing('forbidden'),
  'quota-full': refusing('admission'),
  'no-token': { kind: 'refused', refusal: { kind: 'no-token', fault: 'expired' } },
  'private-endpoint': {
    kind: 'refused',
    refusal: { kind: 'egress-refused', field: 'server', reason: 'private' },
  },
};

/** The fleet; `conditionOf` says what is the matter with each of its clusters in each minute. */
export class TroubledFleet {
  readonly data: Datapoint[] = [];
  readonly #clock = new VirtualClock();
  readonly #registry = new MemoryRegistryStore();
  readonly #view = new MemoryViewStore();
  readonly #measured = new MeasuredFunctions();
  readonly #processCache = createResyncProcessCache();
  readonly #clusters: readonly ClusterRegistration[];
  #minute = 0;

  constructor(clusters: number) {
    this.#clusters = Array.from({ length: clusters }, (_, index) => {
      const id = `c${String(index).padStart(3, '0')}`;
      return { ...registrationOf(id), mode: 'takeover' as const };
    });
    for (const one of this.#clusters) this.#registry.seed(one);
  }

  get minute(): number {
    return this.#minute;
  }

  /** Lets so many minutes pass. `walks`: how often the schedule fires in each of them. */
  async play(
    minutes: number,
    conditionOf: (index: number, minute: number) => Condition,
    walks: (minute: number) => number = () => 1,
  ): Promise<void> {
    for (let played = 0; played < minutes; played += 1) {
      for (const [index, cluster] of this.#clusters.entries()) {
        await this.#befall(cluster, conditionOf(index, this.#minute));
      }
      for (let walk = 0; walk < walks(this.#minute); walk += 1) await this.#walk();
      for (const service of ['ingest', 'reconcile', 'resync']) {
        this.data.push(...this.#measured.published(service, this.#minute));
      }
      this.#minute += 1;
      await this.#clock.advance(MINUTE_MS);
    }
  }

  async #befall(cluster: ClusterRegistration, condition: Condition): Promise<void> {
    const { clusterUid } = cluster;
    if (condition === 'never-heard') this.#view.lose(`META ${clusterUid}`);
    if (condition === 'never-heard' || condition === 'silent') return;
    const meta = (await this.#view.readMeta(clusterUid)) ?? metaOf(clusterUid);
    const isComplete = condition !== 'incomplete';
    const heard = { ...meta, isComplete, lastSentAtMs: this.#clock.nowMs() };
    await this.#view.writeMeta(heard);
    if (condition === 'refused-messages') await this.#refuse(cluster);
    const connection = CONNECTIONS[condition] ?? ANSWERING;
    const isRun = this.#minute % RUN_EVERY_MINUTES === 0 || meta.breaker?.open !== undefined;
    if (!isRun && condition !== 'hangs') return;
    for (let run = 0; run < RUNS; run += 1) await this.#run(cluster, connection);
  }

  /** A run of one key that opens the cluster, and sends something where it can. */
  async #run(registration: ClusterRegistration, connection: Connection): Promise<void> {
    const ports = this.#portsOf('reconcile');
    const gate = new ClusterGate({ ...ports, view: this.#view });
    const given = {
      connect: () => Promise.resolve(connection),
      forget: () => undefined,
    };
    const meta = await this.#view.readMeta(registration.clusterUid);
    if (meta === undefined) return;
    const opened = await gate.connect(registration, meta, reportedConnector(given, ports));
    if (opened.kind === 'connected') {
      const limits = { deadlineMs: Infinity, wallDeadlineMs: Infinity };
      const effect = { kind: 'create-event', namespace: 'a', name: 'b', body: {} } as const;
      await opened.access.execute([effect], limits);
    }
    await gate.settle();
  }

  async #refuse({ id, senderRoleId }: ClusterRegistration): Promise<void> {
    const context = {
      messageId: `m-${id}-${String(this.#minute)}`,
      sentAtMs: this.#clock.nowMs(),
      senderRoleId: `${senderRoleId}-of-${id}`,
      groupId: id,
    };
    const refusal = { code: 'wrong-sender', cluster: id } as const;
    const registry = this.#registry;
    await refuse(refusal, context, { ...this.#portsOf('ingest'), registry });
  }

  async #walk(): Promise<void> {
    const deadlineMs = this.#clock.monotonicMs() + 25_000;
    await resyncClusters(
      { deadlineMs },
      {
        ...this.#portsOf('resync'),
        registry: this.#registry,
        view: this.#view,
        connector: {
          connect: () => Promise.resolve(CONNECTIONS['no-token'] as Connection),
          forget: () => undefined,
        },
        queue: new RecordingHintQueue(),
        processCache: this.#processCache,
        options: defaultResyncOptions,
      },
    );
  }

  #portsOf(service: string) {
    const clock = this.#clock;
    const metrics = this.#measured.of(service);
    return { clock, random: seededRandom(1), log: new MemoryLog(), metrics };
  }
}
