/**
 * The small reads that every run begins with, in the order on which the rest depends (design 3).
 *
 * Registry (the cluster's registration and the stack's freeze), META and name first; then state, DaemonSet and sentinel. META goes
 * before everything that its marks, its
 * stamps and its positions vouch for: `ingest` writes slices before META, so what is read later is at least
 * as new (protocol 20). The state goes before the slices: an intent
 * that another run dropped as resolved must not meet pods read before that.
 *
 * A look at a due time finds nothing new, most of the time. Where this process knows the name's UID, state and DaemonSet are
 * read beside META then, in whatever order, and serve for one thing: to say that nothing is new. Who changes what they
 * show sends its hint, or its timer, later than this run was woken (protocol 20). For all else they are read again.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Hint } from '../../../core/model/hint.ts';
import type { ClusterUid, Uid } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { DaemonSetState } from '../../../core/model/state.ts';
import { positionIn } from '../../../core/model/view-items.ts';
import type {
  ClusterMeta,
  DaemonSetItem,
  DaemonSetPosition,
  NameItem,
} from '../../../core/model/view-items.ts';
import type {
  DaemonSetRef,
  NamespacedName,
  StateStore,
  ViewReader,
} from '../../../ports/stores/view-store.ts';
import type { StepDependencies } from '../process/dependencies.ts';
import { readPosition } from './read-position.ts';
import { standingFreeze } from '../../../core/takeover/freeze.ts';
import type { StandingFreeze } from '../../../core/takeover/freeze.ts';
import { whyLeftAlone } from '../../../core/daemon-set/strategy.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { ClusterAccess } from '../../../ports/cluster/cluster-access.ts';
import { findShapeProblem } from './daemon-set-shape.ts';

/** What a run stands on, as read. */
export interface Basis {
  readonly registration: ClusterRegistration;
  /** The freeze of the stack, or of this DaemonSet in every cluster; absent: there is none. */
  readonly frozen?: StandingFreeze;
  readonly meta: ClusterMeta;
  readonly ref: DaemonSetRef;
  readonly daemonSet: DaemonSetItem;
  readonly position: DaemonSetPosition;
  /** Undefined when there is no item: first run, or lost (protocol 6). */
  readonly state: DaemonSetState | undefined;
  /** The sentinel of the registered takeover, as the view shows it (ADR 0033); absent: it does not, or there is none. */
  readonly sentinel?: DaemonSetItem;
}

/** Why there is nothing to stand on. */
export type BasisRead =
  | { readonly kind: 'read'; readonly basis: Basis }
  | { readonly kind: 'registry-unreadable'; readonly cause: unknown }
  | { readonly kind: 'unregistered' }
  /** No META, no such name, or the DaemonSet is gone. */
  | { readonly kind: 'absent' };

type Readers = Pick<StepDependencies, 'registry' | 'freezes'> & {
  readonly view: ViewReader & Pick<StateStore, 'readState'>;
};

/** What a run that hopes to find nothing new knows before it reads. */
export interface Expectation<T> {
  /** UID that the name had. */
  readonly uid: Uid;
  /** How the run ends if nothing is new; undefined: something is. */
  readonly endOf: (basis: Basis) => T | undefined;
}

/** What was read beside META says that nothing is new; good for nothing else. */
export interface NothingNew<T> {
  readonly kind: 'nothing-new';
  readonly basis: Basis;
  readonly end: T;
}

/** Reads the basis of a run; rejects only when the view table cannot be read. */
export async function readBasis<T = never>(
  hint: Hint,
  readers: Readers,
  expectation?: Expectation<T>,
): Promise<BasisRead | NothingNew<T>> {
  const endEarly = expectation && readEarly(hint, readers, expectation);
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
  const ref: DaemonSetRef = { clusterUid: registration.clusterUid, uid: name.uid };
  const nothingNew = await endEarly?.({ registration, ...frozen, meta, ref });
  if (nothingNew !== undefined) return nothingNew;
  const [{ state, daemonSet }, position, sentinel] = await Promise.all([
    readItems(ref, readers),
    readPosition(meta, ref, readers.view),
    readSentinel(registration, readers.view),
  ]);
  if (daemonSet === undefined) return { kind: 'absent' };
  if (daemonSet.object === null && daemonSet.opaqueReason === undefined) return { kind: 'absent' };
  return {
    kind: 'read',
    basis: {
      registration,
      ...frozen,
      meta,
      ref,
      daemonSet,
      state,
      position,
      ...defined({ sentinel }),
    },
  };
}

/** Beside the state: whoever acts asks for it (live/sentinel.ts), and by itself it would be a turn more. */
async function readSentinel(
  { mode, sentinel, clusterUid }: ClusterRegistration,
  view: ViewReader,
): Promise<DaemonSetItem | undefined> {
  if (mode !== 'takeover' || sentinel === undefined) return undefined;
  return view.readDaemonSet({ clusterUid, uid: sentinel.uid });
}

/** Begins to read state and DaemonSet at once; what is made of them waits for what else is read meanwhile. */
function readEarly<T>(
  { clusterUid }: Hint,
  readers: Readers,
  { uid, endOf }: Expectation<T>,
): (
  found: Pick<Basis, 'registration' | 'frozen' | 'meta' | 'ref'>,
) => Promise<NothingNew<T> | undefined> {
  const reading = readItems({ clusterUid, uid }, readers);
  // It may never be awaited.
  reading.catch(() => undefined);
  return async ({ meta, ref, ...registered }) => {
    if (ref.clusterUid !== clusterUid || ref.uid !== uid) return undefined;
    const position = positionIn(meta.positions, uid);
    const { state, daemonSet } = await reading;
    if (position === undefined || daemonSet === undefined) return undefined;
    const basis = { ...registered, meta, ref, daemonSet, state, position };
    const end = endOf(basis);
    return end === undefined ? undefined : { kind: 'nothing-new', basis, end };
  };
}

async function readItems(
  ref: DaemonSetRef,
  { view }: Readers,
): Promise<{
  readonly state: DaemonSetState | undefined;
  readonly daemonSet: DaemonSetItem | undefined;
}> {
  const [state, daemonSet] = await Promise.all([view.readState(ref), view.readDaemonSet(ref)]);
  return { state, daemonSet };
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

/** What the run is about. */
export type JudgedDaemonSet =
  | { readonly kind: 'usable'; readonly daemonSet: DaemonSetObject }
  | { readonly kind: 'terminating' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'malformed'; readonly problem: string }
  /** The selector is exactly empty (spec 2.3 step 4). */
  | { readonly kind: 'selecting-all'; readonly daemonSet: DaemonSetObject }
  | { readonly kind: 'unavailable'; readonly message: string };

/**
 * The DaemonSet, fit to be decided on, or why it is not. It travels as raw JSON, so its shape is checked once per run;
 * one that travelled opaque, or does not have the shape, is read live: that read decides (protocol 22).
 */
export async function judgeDaemonSet(
  basis: Basis,
  key: NamespacedName,
  access: () => Promise<ClusterAccess | undefined>,
): Promise<JudgedDaemonSet> {
  const { object } = basis.daemonSet;
  if (object !== null && findProblem(object, basis) === undefined) return classify(object);
  const reader = await access();
  if (reader === undefined) {
    const reason = basis.daemonSet.opaqueReason;
    const problem = object === null ? undefined : findProblem(object, basis);
    return {
      kind: 'malformed',
      problem: problem ?? `it travelled opaque (${reason ?? 'unknown'})`,
    };
  }
  const live = await reader.getDaemonSet(key);
  if (live.kind === 'unavailable') return { kind: 'unavailable', message: live.message };
  if (live.kind === 'missing') return { kind: 'gone' };
  if (live.object.metadata.uid !== basis.ref.uid) return { kind: 'gone' };
  const problem = findProblem(live.object, basis);
  return problem === undefined ? classify(live.object) : { kind: 'malformed', problem };
}

function classify(daemonSet: DaemonSetObject): JudgedDaemonSet {
  const why = whyLeftAlone(daemonSet);
  if (why === undefined) return { kind: 'usable', daemonSet };
  return why.kind === 'selecting-all' ? { kind: why.kind, daemonSet } : why;
}

/** The first thing that is not as it must be, as a sentence for a person. */
function findProblem(object: DaemonSetObject, { ref }: Basis): string | undefined {
  const problem = findShapeProblem(object);
  if (problem !== undefined) return problem;
  return object.metadata.uid === ref.uid
    ? undefined
    : 'metadata.uid is not the one it is stored under';
}
