/**
 * Reads what still stands in states: of each DaemonSet of a cluster, and of those that bore its name before and were not removed yet.
 *
 * Who looks again and again remembers: a state is read where pods or revisions of its DaemonSet changed since, and each in its turn once
 * a minute or so, since a wait or an order changes neither. 2,000 states would be 2,000 read units a look otherwise.
 */
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { Uid } from '../../core/model/identifiers.ts';
import type { StateLog } from '../../core/model/log-entry.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { positionIn } from '../../core/model/view-items.ts';
import type { ClusterMeta, DaemonSetPosition, NameItem } from '../../core/model/view-items.ts';
import type { LogQuestion, LogSource } from '../../core/log/merge-log.ts';
import { orUnreadable } from '../../ports/stores/or-unreadable.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';
import { namePages } from '../clusters/read-registry.ts';

const STATES_AT_ONCE = 100;
/** Looks until each state was read once more, whatever changed. */
const LOOKS_PER_TURN = 12;

export interface StateSources {
  readonly view: Pick<ViewStore, 'listNames' | 'readMeta' | 'readState'>;
  /** Of who looks again and again; absent: everything is read. */
  readonly seen?: SeenStates;
}

interface FoundStates {
  readonly found: readonly LogSource[];
  readonly unreadable: readonly string[];
}

/** Entries that stand in states of a cluster. Rejects when a table fails. */
export async function readStates(
  { id, clusterUid }: ClusterRegistration,
  { daemonSet }: LogQuestion,
  { view, seen }: StateSources,
): Promise<FoundStates> {
  const meta = seen === undefined ? undefined : await view.readMeta(clusterUid);
  const names = (await namesOf(clusterUid, meta, { view, ...(seen && { seen }) })).filter(
    ({ namespace, name }) =>
      daemonSet === undefined || (namespace === daemonSet.namespace && name === daemonSet.name),
  );
  const found: LogSource[] = [];
  const unreadable: string[] = [];
  const states = names.flatMap((item) => uidsOf(item).map((uid) => ({ item, uid })));
  // A hundred at once: the adapter asks for them together.
  await sideBySide([...states.entries()], STATES_AT_ONCE, async ([index, { item, uid }]) => {
    const ref = { clusterUid, uid };
    const read = async (): Promise<StateLog | undefined> => {
      const state = await orUnreadable(() => view.readState(ref));
      if (state.kind === 'read') return state.value?.log;
      unreadable.push(state.problem);
      return undefined;
    };
    const at = { index, position: positionIn(meta?.positions, uid) };
    const log = await (seen === undefined ? read() : seen.logOf(uid, at, read));
    if (log === undefined) return;
    const { namespace, name } = item;
    found.push({
      ...log,
      subject: { kind: 'daemon-set', namespace, name, uid },
      cluster: id,
    });
  });
  return { found, unreadable };
}

async function namesOf(
  clusterUid: ClusterRegistration['clusterUid'],
  meta: ClusterMeta | undefined,
  { view, seen }: StateSources,
): Promise<readonly NameItem[]> {
  const known = seen?.namesOf(meta);
  if (known !== undefined) return known;
  const pages = namePages(view, clusterUid, { includeDeleted: true });
  const names: NameItem[] = [];
  for await (const page of pages) names.push(...page);
  seen?.keepNames(meta, names);
  return names;
}

function uidsOf({ uid, formerUids = [] }: NameItem): readonly Uid[] {
  return uid === null ? formerUids : [uid, ...formerUids];
}

/** What a reader that looks again and again knows of its last looks. */
export class SeenStates {
  readonly #names = new Map<
    string,
    { readonly asOf: string; readonly names: readonly NameItem[] }
  >();
  readonly #logs = new Map<Uid, { readonly asOf: string; readonly log: StateLog | undefined }>();
  #looks = 0;

  beginLook(): void {
    this.#looks += 1;
  }

  /** Names of a cluster, where none came or went since they were read. */
  namesOf(meta: ClusterMeta | undefined): readonly NameItem[] | undefined {
    if (meta === undefined) return undefined;
    const known = this.#names.get(meta.clusterUid);
    return known?.asOf === meta.daemonSetsChanged ? known.names : undefined;
  }

  keepNames(meta: ClusterMeta | undefined, names: readonly NameItem[]): void {
    if (meta !== undefined)
      this.#names.set(meta.clusterUid, { asOf: meta.daemonSetsChanged, names });
  }

  /** The log of a state as it was read last, or is read now. */
  async logOf(
    uid: Uid,
    {
      index,
      position,
    }: { readonly index: number; readonly position: DaemonSetPosition | undefined },
    read: () => Promise<StateLog | undefined>,
  ): Promise<StateLog | undefined> {
    const known = this.#logs.get(uid);
    const asOf =
      position === undefined ? '' : `${position.podsChanged} ${position.revisionsChanged}`;
    const isTurn = (this.#looks + index) % LOOKS_PER_TURN === 0;
    if (known !== undefined && position !== undefined && known.asOf === asOf && !isTurn) {
      return known.log;
    }
    const log = await read();
    this.#logs.set(uid, { asOf, log });
    return log;
  }
}
