/**
 * The small reads that every run begins with, in the order on which the rest depends (design 3). The two orders stay: with one,
 * a rollout asks tables half as often again, and `reconcile` takes a tenth longer (ADR 0048).
 *
 *   META, name, state ──▶ DaemonSet, slices        known UID       META, name ──▶ state, DaemonSet ──▶ slices       else
 *
 * META, with the registration and the stack's freeze, goes before everything that its marks, stamps and positions vouch
 * for: `ingest` writes slices before META, so what is read later is at least as new (protocol 20). The state goes before the
 * slices: an intent that another run dropped as resolved must not meet pods read before that. META vouches for nothing of
 * the state, so a process that knows the name's UID reads it beside META: a run that goes by an older state writes nothing
 * over a newer one (protocol 4). Slices are asked for beside the DaemonSet then, if the memo says that something moved.
 *
 * A look that is expected to find nothing new reads the DaemonSet at once, too, for that conclusion alone. Who changes what
 * it shows sends its hint, or its timer, later than this run was woken (protocol 20).
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Hint } from '../../../core/model/hint.ts';
import type { ClusterUid, Uid } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { DaemonSetState } from '../../../core/model/state.ts';
import { positionIn, NO_POSITION } from '../../../core/model/view-items.ts';
import type {
  ClusterMeta,
  DaemonSetItem,
  DaemonSetPosition,
  NameItem,
} from '../../../core/model/view-items.ts';
import type { DaemonSetRef, StateStore, ViewReader } from '../../../ports/stores/view-store.ts';
import type { StepDependencies } from '../process/dependencies.ts';
import { standingFreeze, type StandingFreeze } from '../../../core/may-act/freeze.ts';

/** What a run stands on, as read. */
export interface StoredInputs {
  readonly registration: ClusterRegistration;
  /** The freeze of the stack, or of this DaemonSet in every cluster; absent: there is none. */
  readonly frozen?: StandingFreeze;
  readonly meta: ClusterMeta;
  readonly ref: DaemonSetRef;
  readonly daemonSet: DaemonSetItem;
  readonly position: DaemonSetPosition;
  /** Undefined when there is no item: first run, or lost (protocol 6). */
  readonly state: DaemonSetState | undefined;
  /** The sentinel of the registered takeover, as the view shows it (ADR 0012); absent: it does not, or there is none. */
  readonly sentinel?: DaemonSetItem;
}

/** What there is to stand on, or why there is nothing. */
export type StoredRead<V = never> =
  | { readonly kind: 'read'; readonly stored: StoredInputs; readonly viewing?: Promise<V> }
  | { readonly kind: 'registry-unreadable'; readonly cause: unknown }
  | { readonly kind: 'unregistered' }
  /** No META, no such name, or the DaemonSet is gone. */
  | { readonly kind: 'absent' };

type Readers = Pick<StepDependencies, 'registry' | 'freezes'> & {
  readonly view: ViewReader & Pick<StateStore, 'readState'>;
};

/** What is known before anything of a DaemonSet but its state is read: enough to ask for its slices. */
export type SlicedInputs = Pick<StoredInputs, 'meta' | 'ref' | 'position' | 'state'>;

/** What a process that read this key before knows when it reads it again. */
export interface KnownKey<T, V> {
  readonly uid: Uid;
  /** Given where nothing new is expected: how the run ends if that is so; undefined: something is new. */
  readonly endOf?: (stored: Omit<StoredInputs, 'ref' | 'sentinel'>) => T | undefined;
  /** Begins to read the slices of a DaemonSet, if they are certain to be needed. */
  readonly begin: (of: SlicedInputs) => Promise<V> | undefined;
}

/** What was read beside META says that nothing is new; good for nothing else. */
export interface NothingNew<T> {
  readonly kind: 'nothing-new';
  readonly stored: StoredInputs;
  readonly end: T;
}

/** Reads what a run stands on; rejects only when the view table cannot be read. `viewing`: slices that were asked for. */
export async function readStored<T = never, V = never>(
  hint: Hint,
  readers: Readers,
  known?: KnownKey<T, V>,
): Promise<StoredRead<V> | NothingNew<T>> {
  const early = known && readEarly(hint, readers, known);
  const found = await findKey(hint, readers);
  if ('kind' in found) return found;
  const { ref } = found;
  const isKnown = early?.ref.clusterUid === ref.clusterUid && early.ref.uid === ref.uid;
  const met = isKnown ? await early.meet(found) : undefined;
  return met?.kind === 'nothing-new' ? met : readRest(found, met, readers);
}

/** Registration, META and name: whom the hint is about. */
async function findKey(
  hint: Hint,
  readers: Readers,
): Promise<Found | Exclude<StoredRead, { readonly kind: 'read' }>> {
  const first = readCluster(hint, hint.clusterUid, readers);
  // It is awaited below; until then a failure must not count as unhandled.
  first.catch(() => undefined);
  const registered = await readRegistration(hint, readers);
  if (registered.kind !== 'registered') {
    await first.catch(() => undefined);
    return registered;
  }
  const { registration } = registered;
  const frozen = defined({ frozen: registered.frozen });
  // A hint may name a cluster's former identity: what is registered counts (row 90).
  const cluster =
    registration.clusterUid === hint.clusterUid
      ? await first
      : await first.then(() => readCluster(hint, registration.clusterUid, readers));
  const { meta, name } = cluster;
  if (meta === undefined || name === undefined || name.uid === null) return { kind: 'absent' };
  return {
    registration,
    ...frozen,
    meta,
    ref: { clusterUid: registration.clusterUid, uid: name.uid },
  };
}

/** What META vouches for; and the state, where it was not read beside META. */
async function readRest<V>(
  found: Found,
  met: Exclude<Met<never, V>, NothingNew<never>> | undefined,
  { view }: Readers,
): Promise<StoredRead<V>> {
  const { registration, meta, ref } = found;
  const [state, daemonSet, position, sentinel] = await Promise.all([
    met === undefined ? view.readState(ref) : met.state,
    view.readDaemonSet(ref),
    readPosition(meta, ref, view),
    readSentinel(registration, view),
  ]);
  if (daemonSet === undefined) return { kind: 'absent' };
  if (daemonSet.object === null && daemonSet.opaqueReason === undefined) return { kind: 'absent' };
  const stored = { ...found, daemonSet, state, position, ...defined({ sentinel }) };
  return { kind: 'read', stored, ...defined({ viewing: met?.viewing }) };
}

/** Read beside the state: a run that acts asks for it (confirm/guard.ts), and alone it would be a turn more. */
async function readSentinel(
  { mode, sentinel, clusterUid }: ClusterRegistration,
  view: ViewReader,
): Promise<DaemonSetItem | undefined> {
  if (mode !== 'takeover' || sentinel === undefined) return undefined;
  return view.readDaemonSet({ clusterUid, uid: sentinel.uid });
}

type Found = Pick<StoredInputs, 'registration' | 'frozen' | 'meta' | 'ref'>;

/** What was read beside META comes to. */
type Met<T, V> =
  | NothingNew<T>
  | {
      readonly kind: 'state';
      readonly state: DaemonSetState | undefined;
      readonly viewing: Promise<V> | undefined;
    };

/** Begins to read the state at once, and the DaemonSet; what is made of them waits for what else is read meanwhile. */
function readEarly<T, V>(
  { clusterUid }: Hint,
  { view }: Readers,
  { uid, endOf, begin }: KnownKey<T, V>,
): { readonly ref: DaemonSetRef; readonly meet: (found: Found) => Promise<Met<T, V>> } {
  const ref = { clusterUid, uid };
  const reading = Promise.all([
    view.readState(ref),
    endOf === undefined ? undefined : view.readDaemonSet(ref),
  ]);
  // It may never be awaited.
  reading.catch(() => undefined);
  const meet = async (found: Found): Promise<Met<T, V>> => {
    const position = positionIn(found.meta.positions, uid);
    const [state, daemonSet] = await reading;
    if (position === undefined) return { kind: 'state', state, viewing: undefined };
    const stored = daemonSet && { ...found, daemonSet, state, position };
    const end = stored && endOf?.(stored);
    if (stored !== undefined && end !== undefined) return { kind: 'nothing-new', stored, end };
    const { meta } = found;
    const viewing = begin({ meta, ref, position, state });
    // Nor may this: a run can end before it needs a slice.
    viewing?.catch(() => undefined);
    return { kind: 'state', state, viewing };
  };
  return { ref, meet };
}

async function readCluster(
  hint: Hint,
  clusterUid: ClusterUid,
  { view }: Readers,
): Promise<{ meta: ClusterMeta | undefined; name: NameItem | undefined }> {
  const [meta, name] = await Promise.all([
    view.readMeta(clusterUid),
    view.readName(clusterUid, { namespace: hint.key.namespace, name: hint.key.name }),
  ]);
  return { meta, name };
}

/** The freeze of the stack is read at the same moment, so that both travel in one request; unreadable, it counts as the registration. */
async function readRegistration(
  hint: Hint,
  { registry, freezes }: Readers,
): Promise<
  | {
      readonly kind: 'registered';
      readonly registration: ClusterRegistration;
      readonly frozen: StandingFreeze | undefined;
    }
  | { readonly kind: 'registry-unreadable'; readonly cause: unknown }
  | { readonly kind: 'unregistered' }
> {
  try {
    const [registration, freeze] = await Promise.all([
      registry.readCluster(hint.key.cluster),
      freezes.readFreeze(),
    ]);
    if (registration === undefined) return { kind: 'unregistered' };
    return { kind: 'registered', registration, frozen: standingFreeze(freeze, hint.key) };
  } catch (cause) {
    return { kind: 'registry-unreadable', cause };
  }
}

// Where a set last changed: in META for so many DaemonSets, else in an item of its own, which `ingest` raises before
// META (ADR 0076). Without either nothing has changed yet, or it was lost: then every slice is ahead of it (protocol 2).

type Positioned = Pick<ClusterMeta, 'positions'>;

/** The position as this META has it. */
export async function readPosition(
  meta: Positioned,
  ref: DaemonSetRef,
  view: Pick<ViewReader, 'readPosition'>,
): Promise<DaemonSetPosition> {
  const kept = positionIn(meta.positions, ref.uid);
  return kept ?? (await view.readPosition(ref)) ?? NO_POSITION;
}

/** The position as it is by now: META is read for it. */
export async function readPositionNow(
  ref: DaemonSetRef,
  view: Pick<ViewReader, 'readPosition' | 'readMeta'>,
): Promise<DaemonSetPosition> {
  const meta = await view.readMeta(ref.clusterUid);
  return readPosition(meta ?? {}, ref, view);
}
