/** The view of one invocation, which remembers when it was read last, whether it was known to be whole, and what it recorded. */
import type { ClusterUid } from '../../../src/core/model/identifiers.ts';
import type { LoggedEffect } from '../../../src/core/model/log-entry.ts';
import type { DaemonSetState } from '../../../src/core/model/state.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { DaemonSetRef, ViewStore } from '../../../src/ports/stores/view-store.ts';
import { identityOf } from './stored-entries.ts';

/** A view, and what its reader was told. */
export interface NotedView {
  readonly view: ViewStore;
  /** Virtual time at which it was made, when its invocation began with a key, in milliseconds. */
  readonly beganAtMs: number;
  /** Whether the META that was read last said so; undefined: none was read. */
  readonly isWhole: () => boolean | undefined;
  /** Virtual time before that read, in milliseconds. */
  readonly readAtMs: () => number | undefined;
  /** Until when a create may start, as this invocation recorded it last, in milliseconds of the wall; undefined: it did not. */
  readonly startsByMs: (name: string) => number | undefined;
  /**
   * The entry of that effect which this invocation stored last, on that node (or pod), or one without all names; `atMs` in virtual
   * time. Without a name any of that effect.
   */
  readonly entryOf: (
    effect: LoggedEffect,
    name?: string,
  ) => { readonly identity: string; readonly atMs: number } | undefined;
  /** States that this invocation stored. */
  readonly stored: () => number;
}

/** The same view; every read of META is noted, and every state that was stored. */
export function notedView(view: ViewStore, clock: Pick<Clock, 'monotonicMs'>): NotedView {
  const beganAtMs = clock.monotonicMs();
  let isWhole: boolean | undefined;
  let readAtMs: number | undefined;
  const starts = new Map<string, number>();
  // Of two records of one name the later is this one's own: what was stored before is older (merge-intents.ts).
  const logged = new Map<string, { readonly identity: string; readonly atMs: number }>();
  let stored = 0;
  const noteState = (ref: DaemonSetRef, { intents, log, version }: DaemonSetState): void => {
    stored += 1;
    for (const entry of log?.entries ?? []) {
      if (entry.kind !== 'effect' || entry.run !== version + 1) continue;
      const identity = identityOf({ cluster: ref.clusterUid, uid: ref.uid }, entry);
      const recorded = { identity, atMs: clock.monotonicMs() };
      logged.set(entry.effect, recorded);
      for (const { count, names } of entry.parts) {
        const all = names.length < count ? [...names, '*'] : names;
        for (const name of all) logged.set(`${entry.effect}/${name}`, recorded);
      }
    }
    for (const intent of intents) {
      if (intent.kind === 'create') starts.set(intent.name, intent.startsByMs);
    }
  };
  const noted = new Proxy(view, {
    get: (target, property) => {
      if (property === 'writeState') {
        const writeState: ViewStore['writeState'] = async (ref, state) => {
          const result = await target.writeState(ref, state);
          if (result === 'written') noteState(ref, state);
          return result;
        };
        return writeState;
      }
      if (property !== 'readMeta') return Reflect.get(target, property) as unknown;
      return async (clusterUid: ClusterUid) => {
        readAtMs = clock.monotonicMs();
        const meta = await target.readMeta(clusterUid);
        isWhole = meta?.isComplete === true;
        return meta;
      };
    },
  });
  return {
    ...{ view: noted, beganAtMs, isWhole: () => isWhole, readAtMs: () => readAtMs },
    startsByMs: (name) => starts.get(name),
    entryOf: (effect, name) =>
      name === undefined
        ? logged.get(effect)
        : (logged.get(`${effect}/${name}`) ?? logged.get(`${effect}/*`)),
    stored: () => stored,
  };
}
