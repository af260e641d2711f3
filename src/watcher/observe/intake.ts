/**
 * Takes in the objects of list-watches: projected, stored, and the mark moved, in one synchronous step
 * (protocol 2).
 *
 * A mark says how far a kind was read. It does not move during a list: the highest version among its items proves
 * nothing (faults row 84). A version below the mark of its kind means that etcd was restored (protocol 15).
 */
import { compareResourceVersions, isResourceVersion } from '../../core/model/identifiers.ts';
import type { ResourceVersion } from '../../core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { WATCHED_KINDS, type WatchedKind } from '../../core/model/projections.ts';
import type { Marks } from '../../core/model/watcher-message.ts';
import type { ProcessPorts } from '../../ports/process.ts';
import type { ListWatchTarget } from './frame-reader.ts';
import type { Projector, SlimObject } from '../project/projection.ts';
import type { ObjectStore } from '../project/store.ts';

interface IntakeDependencies extends Omit<ProcessPorts, 'random'> {
  readonly store: ObjectStore;
  readonly projector: Projector;
  /** A version below a mark was seen: etcd went back. */
  readonly onRestored: (kind: WatchedKind) => void;
  /** Every kind has been listed. Called once. */
  readonly onSynced: () => void;
}

/** Marks and streams of one epoch. */
export class Intake {
  readonly #on: IntakeDependencies;
  readonly #marks = new Map<WatchedKind, ResourceVersion>();
  readonly #heardMs = new Map<WatchedKind, number>();

  constructor(dependencies: IntakeDependencies) {
    this.#on = dependencies;
  }

  /** A copy of the marks as they stand. */
  marks(): Marks {
    return Object.fromEntries(this.#marks);
  }

  get isSynced(): boolean {
    return this.#marks.size === WATCHED_KINDS.length;
  }

  /** Milliseconds since each kind's stream last received a byte. */
  silentMs(): Readonly<Partial<Record<WatchedKind, number>>> {
    const nowMs = this.#on.clock.monotonicMs();
    const entries = [...this.#heardMs].map(([kind, heardMs]) => [
      kind,
      Math.round(nowMs - heardMs),
    ]);
    return Object.fromEntries(entries) as Partial<Record<WatchedKind, number>>;
  }

  /** The end of one kind's list-watch. */
  target(kind: WatchedKind): ListWatchTarget<SlimObject> {
    const { store, clock } = this.#on;
    return {
      project: (raw) => this.#project(kind, raw),
      replace: (objects, version) => {
        if (this.#isBelowMark(kind, version)) return;
        store.replaceKind(kind, objects);
        const wasSynced = this.isSynced;
        this.#marks.set(kind, version);
        if (!wasSynced && this.isSynced) this.#on.onSynced();
      },
      change: (change, raw) => {
        this.#change(kind, change, raw);
      },
      progress: (version) => {
        if (!this.#isBelowMark(kind, version)) this.#marks.set(kind, version);
      },
      heard: () => {
        this.#heardMs.set(kind, clock.monotonicMs());
      },
    };
  }

  #project(kind: WatchedKind, raw: KubernetesObject): SlimObject | undefined {
    const result = this.#on.projector.project(kind, raw);
    if (result.kind === 'unidentified') this.#reportUnidentified(kind, result.message);
    // A list after 410 names mostly what is known: it must not hold all of that twice until it is whole.
    return result.kind === 'tracked' ? this.#on.store.sameOr(result.slim) : undefined;
  }

  #change(
    kind: WatchedKind,
    change: 'added' | 'modified' | 'deleted',
    raw: KubernetesObject,
  ): void {
    const { store, projector } = this.#on;
    const result = projector.project(kind, raw);
    switch (result.kind) {
      case 'tracked':
        if (change === 'deleted') store.remove(result.slim);
        else store.apply(result.slim);
        this.#advance(kind, result.slim.resourceVersion);
        return;
      case 'irrelevant':
        store.remove(result.identity);
        this.#advance(kind, result.identity.resourceVersion);
        return;
      case 'unidentified':
        this.#reportUnidentified(kind, result.message);
    }
  }

  /** Events come in order of their versions; a replayed one moves nothing back. */
  #advance(kind: WatchedKind, version: ResourceVersion): void {
    const mark = this.#marks.get(kind);
    if (mark === undefined || !isResourceVersion(version)) return;
    if (compareResourceVersions(version, mark) > 0) this.#marks.set(kind, version);
  }

  #isBelowMark(kind: WatchedKind, version: ResourceVersion): boolean {
    const mark = this.#marks.get(kind);
    if (mark === undefined || compareResourceVersions(version, mark) >= 0) return false;
    this.#on.log.warn('a version below the mark: etcd was restored', { kind, version, mark });
    this.#on.onRestored(kind);
    return true;
  }

  #reportUnidentified(kind: WatchedKind, reason: string): void {
    this.#on.metrics.count('WatcherUnidentifiedObjects');
    this.#on.log.error('an object without identity was left out', { kind, reason });
  }
}
