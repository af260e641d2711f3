/**
 * Live reads of DaemonSets, by LISTs, whose version is the store's: it tells that etcd was restored (row 71).
 *
 *   asked for alone ──────────────────────────────▶ a list of one, by its name
 *     a moment after a list ──────────────────────▶ a GET, and the version of that list
 *   several of a namespace asked for at one moment ▶ one list of twice as many at most; those it lacks, alone
 *
 * A list is consistent, and sent after all of them asked (protocol 7); it takes up to 100 ms, a GET one or two. So who
 * only has to know that the store is not behind a version gets the one that a list, or a write of a DaemonSet, told
 * within two seconds.
 */
import { jsonMember } from '@rollcall/base/json.ts';
import type { Effect, Outcome } from '../../../core/model/effects.ts';
import { compareResourceVersions, isResourceVersion } from '../../../core/model/identifiers.ts';
import type { ResourceVersion } from '../../../core/model/identifiers.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type {
  DaemonSetRead,
  LiveRead,
  StoreQuestion,
  Unavailable,
} from '../../../ports/cluster/cluster-access.ts';
import type { NamespacedName } from '../../../ports/stores/view-store.ts';
import type { TransportAnswer, TransportRequest } from '../transport/transport.ts';
import { namespacedPath } from './effect-request.ts';
import { pickDaemonSet, readDaemonSetList, readPage } from './object-reader.ts';
import { unavailableRead } from './status-classifier.ts';

export interface DaemonSetReadMeans {
  readonly clock: Clock;
  readonly send: (request: TransportRequest) => Promise<TransportAnswer>;
  /** Why this one is not asked for at all. */
  readonly beforeRead: (key: NamespacedName) => Unavailable | undefined;
  readonly get: (key: NamespacedName) => Promise<LiveRead<DaemonSetObject>>;
  readonly timeoutMs: number;
}

/** By both clocks: a sandbox that stood still finds no time passed on its monotonic one. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

interface Asked {
  readonly key: NamespacedName;
  readonly question: StoreQuestion | undefined;
  readonly answer: (read: DaemonSetRead | Promise<DaemonSetRead>) => void;
}

/** How long a LIST that was forbidden is not asked for again: the right may be granted; likewise one that was too large. */
const REMEMBERED_MS = 5 * 60_000;
/** The state of the store in a list counts for so long, by both clocks. */
const TOLD_MS = 2_000;
const NOT_THE_LIST = 'not the list that was asked for';
const WRITES: ReadonlySet<Effect['kind']> = new Set(['update-status', 'restore-template']);
/** Objects of others that come along are as many at most. */
const LISTED_SHARE_MAX = 2;

export class DaemonSetReads {
  readonly #means: DaemonSetReadMeans;
  /** By namespace, monotonic; an access lives as long as its warm credential. */
  readonly #refusedUntilMs = new Map<string, number>();
  readonly #crowded = new Map<string, { readonly countMin: number; readonly untilMs: number }>();
  readonly #asked = new Map<string, Asked[]>();
  /** The state of the store by a list or write that was sent then. */
  #told: { readonly version: ResourceVersion; readonly at: Moment } | undefined;

  constructor(means: DaemonSetReadMeans) {
    this.#means = means;
  }

  /** Reads one, together with whatever else of its namespace is asked for at this moment. */
  read(key: NamespacedName, question?: StoreQuestion): Promise<DaemonSetRead> {
    const doubt = this.#means.beforeRead(key);
    if (doubt !== undefined) return Promise.resolve(doubt);
    return new Promise((answer) => {
      const { namespace } = key;
      const asked = this.#asked.get(namespace);
      if (asked !== undefined) {
        asked.push({ key, question, answer });
        return;
      }
      const first: Asked[] = [{ key, question, answer }];
      this.#asked.set(namespace, first);
      setImmediate(() => {
        this.#asked.delete(namespace);
        this.#readTogether(namespace, first);
      });
    });
  }

  #readTogether(namespace: string, asked: readonly Asked[]): void {
    const names = new Set(asked.map(({ key }) => key.name));
    const isShared =
      names.size > 1 && !this.#isRefused(namespace) && this.#mayShare(namespace, names.size);
    const listed = isShared
      ? this.#list(namespace, asked, names.size * LISTED_SHARE_MAX)
      : undefined;
    for (const { key, question, answer } of asked) {
      answer(
        listed === undefined
          ? this.#readOne(key, question)
          : listed.then((find) => find(key) ?? this.#readAlone(key, question)),
      );
    }
  }

  /** Each DaemonSet in one list of a namespace; undefined: not in it, it is read alone. */
  async #list(
    namespace: string,
    asked: readonly Asked[],
    limit: number,
  ): Promise<(key: NamespacedName) => DaemonSetRead | undefined> {
    const path = `${collectionOf(namespace)}?limit=${String(limit)}`;
    const at = this.now();
    const answer = await this.#ask(path);
    if (this.#noteRefusal(namespace, answer)) return () => undefined;
    if (answer.kind !== 'answered' || answer.status !== 200) {
      const unavailable = unavailableRead(answer, NOT_THE_LIST);
      return () => unavailable;
    }
    const page = readPage(answer.body);
    if (page === undefined) return () => undefined;
    this.#noteTold(page.version, at, asked);
    const isWhole = page.continueToken === '';
    if (!isWhole) this.#noteCrowd(namespace, limit + 1);
    return (key) => {
      const found = answered(pickDaemonSet(page, key), answer);
      return found?.kind === 'missing' && !isWhole ? undefined : found;
    };
  }

  /** Of one that is asked for alone. */
  #readOne(key: NamespacedName, question: StoreQuestion | undefined): Promise<DaemonSetRead> {
    const isTold = this.#toldFor(question) !== undefined;
    return isTold ? this.#means.get(key) : this.#readAlone(key, question);
  }

  /** The state of the store a moment ago, if that answers the question. */
  #toldFor(question: Pick<StoreQuestion, 'notBehind'> | undefined): ResourceVersion | undefined {
    if (question === undefined || this.#told === undefined) return undefined;
    const { version, at } = this.#told;
    const now = this.now();
    const agesMs = [now.wallMs - at.wallMs, now.monotonicMs - at.monotonicMs];
    if (!agesMs.every((ageMs) => ageMs >= 0 && ageMs < TOLD_MS)) return undefined;
    const { notBehind } = question;
    const isBehind = notBehind !== undefined && compareResourceVersions(version, notBehind) < 0;
    return isBehind ? undefined : version;
  }

  /** Lists count in the order in which they were sent, unless a caller doubts one. */
  #noteTold(
    version: ResourceVersion | undefined,
    at: Moment,
    asked: readonly Pick<Asked, 'question'>[],
  ): void {
    if (version === undefined || at.monotonicMs < (this.#told?.at.monotonicMs ?? 0)) return;
    if (asked.some(({ question }) => question?.isDoubtful(version) !== false)) return;
    this.#told = { version, at };
  }

  /**
   * A write that was sent then was answered with this; only that of a DaemonSet tells anything. The store is as far as its
   * version, or further: a patch that changes nothing is answered with a version of long ago, and tells nothing. Nor does
   * one alone: a store that was restored answers it as well, so it only extends a list that no caller doubted.
   */
  noteWritten(effect: Effect, outcome: Outcome, at: Moment): void {
    if (outcome.kind !== 'done' || !WRITES.has(effect.kind)) return;
    const version = jsonMember(outcome.object['metadata'], 'resourceVersion');
    if (!isResourceVersion(version)) return;
    const known = this.#toldFor({ notBehind: undefined });
    if (known === undefined || compareResourceVersions(version, known) < 0) return;
    this.#noteTold(version, at, []);
  }

  now(): Moment {
    const { clock } = this.#means;
    return { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
  }

  async #readAlone(key: NamespacedName, question?: StoreQuestion): Promise<DaemonSetRead> {
    const { namespace, name } = key;
    if (this.#isRefused(namespace)) return this.#means.get(key);
    const path = `${collectionOf(namespace)}?fieldSelector=metadata.name%3D${name}`;
    const at = this.now();
    const answer = await this.#ask(path);
    if (this.#noteRefusal(namespace, answer)) return this.#means.get(key);
    const isList = answer.kind === 'answered' && answer.status === 200;
    const read = isList ? answered(readDaemonSetList(answer.body, key), answer) : undefined;
    if (read?.kind === 'found') this.#noteTold(read.storeVersion, at, [{ question }]);
    return read ?? unavailableRead(answer, NOT_THE_LIST);
  }

  #ask(path: string): Promise<TransportAnswer> {
    const { send, timeoutMs } = this.#means;
    return send({ method: 'GET', path, timeoutMs });
  }

  #noteRefusal(namespace: string, answer: TransportAnswer): boolean {
    if (answer.kind !== 'answered' || answer.status !== 403) return false;
    this.#refusedUntilMs.set(namespace, this.#means.clock.monotonicMs() + REMEMBERED_MS);
    return true;
  }

  #isRefused(namespace: string): boolean {
    return (this.#refusedUntilMs.get(namespace) ?? -Infinity) > this.#means.clock.monotonicMs();
  }

  #noteCrowd(namespace: string, countMin: number): void {
    const untilMs = this.#means.clock.monotonicMs() + REMEMBERED_MS;
    this.#crowded.set(namespace, { countMin, untilMs });
  }

  #mayShare(namespace: string, namesCount: number): boolean {
    const crowd = this.#crowded.get(namespace);
    if (crowd === undefined || crowd.untilMs <= this.#means.clock.monotonicMs()) return true;
    return namesCount * LISTED_SHARE_MAX >= crowd.countMin;
  }
}

function answered<T extends DaemonSetRead | undefined>(
  read: T,
  { atMs }: Extract<TransportAnswer, { kind: 'answered' }>,
): T {
  return read?.kind === 'found' && atMs !== undefined ? { ...read, answeredAtMs: atMs } : read;
}

function collectionOf(namespace: string): string {
  return namespacedPath('apps', namespace, 'daemonsets');
}
