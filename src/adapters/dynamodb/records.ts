/**
 * Every record that is stored, in two tables: its key, what its attributes hold, and who writes it.
 * Those of fleets are in fleet-records.ts: one function's bundle has them. A body holds at most
 * ITEM_BODY_BYTES_MAX. Who wrote a record removes it, but for LOG and COVERAGE: these have a time to live.
 * No name forms the key of another record: UIDs and ids hold no `#` or `/`, namespaces no `/`.
 */
import { defined } from '@rollcall/base/defined.ts';
import { COVERAGE_DAYS_MAX, type CoverageDays } from '../../core/coverage/kept-days.ts';
import type { FleetMirror } from '../../core/fleet/told/fleet-mirror.ts';
import type { ResyncWalk } from '../../core/hints/resync-walk.ts';
import type { ClusterBreaker } from '../../core/model/breaker.ts';
import type { ClusterId, ClusterUid, Uid } from '../../core/model/identifiers.ts';
import { LOG_DAYS_MAX, type LogItem } from '../../core/model/log-entry.ts';
import { ZERO_STAMP, type Stamp } from '../../core/model/position.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { STATE_SCHEMA, type DaemonSetState } from '../../core/model/state.ts';
import type * as view from '../../core/model/view-items.ts';
import type { StopNote, StopSpan } from '../../core/status/outages.ts';
import type { Freeze } from '../../core/may-act/freeze.ts';
import type { SealedToken, TokenPurpose } from '../../ports/stores/credential-store.ts';
import type { RefusalNote } from '../../ports/stores/registry-store.ts';
import type { DaemonSetRef, NamespacedName, SliceRef } from '../../ports/stores/view-store.ts';
import { ItemUnreadableError, decodeBody, encodeBody, namesIn, versioned } from './item-codec.ts';
import type { RecordKind, StoredItem } from './item-codec.ts';
import * as small from './record-schemas.ts';
import {
  parseFreeze,
  parseRegistration,
  parseStopNote,
  parseStops,
} from './registration-schema.ts';
import { decodeTombstones, encodeObjects, encodeTombstones, openSlice } from './slice-codec.ts';

function plainly(record: object): StoredItem {
  return Object.fromEntries(Object.entries(record));
}

// ---- The view's table: a cache, which a snapshot of the watcher rebuilds ----

/** META: the state of a cluster's view. By `ingest`, and by each function that finds its view incomplete. */
export const META: RecordKind<[ClusterUid], view.ClusterMeta> = {
  keyOf: (cluster) => ({ pk: `CLUSTER#${cluster}`, sk: 'META' }),
  read: (item, key) => {
    const body = decodeBody(key, item['body']) as Omit<view.ClusterMeta, 'version' | 'breaker'>;
    const version = item['version'] as number;
    return { ...body, version, ...defined({ breaker: small.breakerIn(item) }) };
  },
  attributes: ({ breaker: _notOurs, ...meta }, key) => versioned(meta, key),
  written: 'updated',
};

/** Its circuit breaker: attributes of META that `reconcile` writes. What cannot be read is lost. */
export const BREAKER: RecordKind<[ClusterUid], ClusterBreaker | undefined, ClusterBreaker> = {
  keyOf: META.keyOf,
  read: small.breakerIn,
  attributes: ({ version, ...body }) => ({
    breaker: JSON.stringify(body),
    breakerVersion: version,
  }),
  written: 'updated',
  tokenIn: 'breakerWriter',
};

function slicePartition({ clusterUid, set, index }: SliceRef): string {
  const [kind, uid] = set.split('/', 2);
  const owner = uid === undefined ? clusterUid : `${clusterUid}/${uid}`;
  return `${String(kind).toUpperCase()}#${owner}#${String(index).padStart(2, '0')}`;
}

/** Nodes, or pods or revisions of one DaemonSet: `NODES#cluster#nn`, `PODS#cluster/uid#nn`. By `ingest`. */
export const SLICE: RecordKind<[SliceRef], view.Slice> = {
  keyOf: (ref) => ({ pk: slicePartition(ref), sk: 'SLICE' }),
  read: openSlice,
  attributes: ({ stamp, objects, gone = [], older }, key) => ({
    stamp,
    body: encodeObjects(key, objects),
    gone: encodeTombstones(key, gone),
    older,
  }),
  written: 'batched',
};

/** Tombstones that a slice of pods has no room for (ADR 0076). By `ingest`. */
export const OLDER_TOMBSTONES: RecordKind<[SliceRef], view.OlderTombstones> = {
  keyOf: (ref) => ({ pk: slicePartition(ref), sk: 'TOMBSTONES' }),
  read: ({ version, gone }, key) => ({
    version: version as number,
    gone: decodeTombstones(key, gone),
  }),
  attributes: ({ version, gone }, key) => ({ version, gone: encodeTombstones(key, gone) }),
  written: 'batched',
};

export function daemonSetPartition(ref: DaemonSetRef): string {
  return `DS#${ref.clusterUid}/${ref.uid}`;
}

/** A DaemonSet as its cluster has it, without managedFields. By `ingest`. */
export const DAEMON_SET: RecordKind<[DaemonSetRef], view.DaemonSetItem> = {
  keyOf: (ref) => ({ pk: daemonSetPartition(ref), sk: 'DAEMONSET' }),
  read: ({ stamp, body }, key) => ({
    ...(decodeBody(key, body) as Omit<view.DaemonSetItem, 'stamp'>),
    stamp: stamp as Stamp,
  }),
  attributes: ({ stamp, ...body }, key) => ({ stamp, body: encodeBody(key, body) }),
  written: 'batched',
};

/** Where its pods and revisions changed last, if META does not say. By `ingest`. */
export const POSITION: RecordKind<
  [DaemonSetRef],
  view.DaemonSetPosition,
  Partial<view.DaemonSetPosition>
> = {
  keyOf: (ref) => ({ pk: daemonSetPartition(ref), sk: 'POSITION' }),
  read: ({ podsChanged = ZERO_STAMP, revisionsChanged = ZERO_STAMP }) => ({
    podsChanged: podsChanged as Stamp,
    revisionsChanged: revisionsChanged as Stamp,
  }),
  attributes: plainly,
  written: 'updated',
};

/** Intents, back-off, rollout, due times. By `reconcile`, and by operators' orders. */
export const STATE: RecordKind<[DaemonSetRef], DaemonSetState> = {
  keyOf: (ref) => ({ pk: daemonSetPartition(ref), sk: 'STATE' }),
  read: ({ version, body }, key) => {
    const state = decodeBody(key, body) as DaemonSetState;
    if (state.schema > STATE_SCHEMA) {
      throw new ItemUnreadableError(key, `state schema ${state.schema} is of a newer release`);
    }
    return { ...state, version: version as number };
  },
  attributes: versioned,
  written: 'batched',
};

export function namePartition(cluster: ClusterUid): string {
  return `NAMES#${cluster}`;
}

/** The DaemonSet that bears a name, or none any more. By `ingest`. */
export const NAME: RecordKind<[ClusterUid, NamespacedName], view.NameItem> = {
  keyOf: (cluster, { namespace, name }) => ({
    pk: namePartition(cluster),
    sk: `${namespace}/${name}`,
  }),
  read: ({ uid, stamp, formerUids }, { sk }) => ({
    ...namesIn(sk),
    uid: uid as Uid | null,
    stamp: stamp as Stamp,
    ...defined({ formerUids: formerUids as readonly Uid[] | undefined }),
  }),
  attributes: ({ stamp, uid, formerUids }) => ({ stamp, uid, formerUids }),
  written: 'put',
};

const LOG_LIFE_MS = LOG_DAYS_MAX * 86_400_000;

/** The log of one day (UTC) in a cluster, or of the whole stack. */
export function logPartition(cluster: ClusterUid | undefined, day: string): string {
  return `LOG#${cluster ?? ''}#${day}`;
}

/** Entries of the log (ADR 0082). By `reconcile`, `ingest` and operators; the table removes it. */
export const LOG: RecordKind<[ClusterUid | undefined, LogItem], StoredLogItem, LogItem> = {
  keyOf: (cluster, { atMs, token }) => {
    const time = new Date(atMs).toISOString();
    return { pk: logPartition(cluster, time.slice(0, 10)), sk: `${time}/${token}` };
  },
  read: ({ body, expiresAt }, key) => ({
    item: small.logItemIn(decodeBody(key, body), key),
    expiresAtMs: Number(expiresAt) * 1000,
  }),
  attributes: (item, key) => ({
    expiresAt: Math.ceil((item.atMs + LOG_LIFE_MS) / 1000),
    body: encodeBody(key, item),
  }),
  written: 'put',
};

interface StoredLogItem {
  readonly item: LogItem;
  readonly expiresAtMs: number;
}

/** Where days of coverage of a cluster stand: beside its log, by the same rights. */
export function coveragePartition(cluster: ClusterUid): string {
  return `LOG#${cluster}#coverage`;
}

/** The sort key of items from that day on. */
export function coverageDayKey(day: number): string {
  return String(day).padStart(6, '0');
}

/** Some days of coverage of a DaemonSet (core/coverage). By `reconcile` and `ingest`; the table removes it. */
export const COVERAGE: RecordKind<[ClusterUid, CoverageDays], CoverageDays> = {
  keyOf: (cluster, { day, namespace, name, uid }) => ({
    pk: coveragePartition(cluster),
    sk: `${coverageDayKey(day)}/${namespace}/${name}/${uid}`,
  }),
  read: ({ body }, key) => small.coverageDaysIn(decodeBody(key, body), key),
  attributes: (days, key) => ({
    expiresAt: (days.day + days.rows.length + COVERAGE_DAYS_MAX) * 86_400,
    body: encodeBody(key, days),
  }),
  written: 'put',
};

/** The walk of `resync` through the directory. By `resync`. Unreadable: never over. */
export const WALK: RecordKind<[], ResyncWalk> = {
  keyOf: () => ({ pk: 'RESYNC#00', sk: 'WALK' }),
  read: small.walkIn,
  attributes: versioned,
  written: 'updated',
};

// ---- The registry's table: the truth, never lost ----

/** A registration, or the note of a removal that is not finished. By operators. */
export const REGISTRATION: RecordKind<
  [ClusterId],
  ClusterRegistration | undefined,
  ClusterRegistration
> = {
  keyOf: (id) => ({ pk: `CLUSTER#${id}`, sk: 'CLUSTER' }),
  read: (item, key) => {
    if (small.removalIn(item, key) !== undefined) return undefined;
    const { registration, configVersion } = item;
    const parsed = parseRegistration({ ...(registration as object), configVersion });
    // An item under another cluster's key would lend that cluster's messages its credential (S6).
    if (parsed.kind === 'registration' && key.pk === REGISTRATION.keyOf(parsed.registration.id).pk)
      return parsed.registration;
    const fields = parsed.kind === 'refused' ? parsed.fields : ['id'];
    throw new ItemUnreadableError(key, `is no registration: ${fields.join(', ')}`);
  },
  attributes: ({ configVersion, frozen, rival: _noted, ...rest }) => ({
    registration: { ...rest, ...(rest.isFrozen ? defined({ frozen }) : {}) },
    configVersion,
  }),
  written: 'updated',
};

/** Which registration a cluster UID belongs to; `writer`: by which write. By operators. */
export const CLAIM: RecordKind<[ClusterUid], StoredItem, ClusterId> = {
  keyOf: (cluster) => ({ pk: `CLUSTER-UID#${cluster}`, sk: 'CLAIM' }),
  read: (item) => item,
  attributes: (holder) => ({ holder }),
  written: 'put',
};

/** The one partition of the directory: registrations are few and change rarely. */
export const DIRECTORY_PARTITION = 'DIRECTORY#00';

/** A registered cluster; `entry`: which write made it. By operators. */
export const DIRECTORY_ENTRY: RecordKind<[ClusterId], unknown> = {
  keyOf: (id) => ({ pk: DIRECTORY_PARTITION, sk: id }),
  read: ({ entry }) => entry,
  attributes: (entry) => ({ entry }),
  written: 'put',
};

/** The rival seen in a takeover: the one thing of the registry that `reconcile` writes. */
export const RIVAL: RecordKind<[ClusterId], StoredItem> = {
  keyOf: (id) => ({ pk: `RIVAL#${id}`, sk: 'RIVAL' }),
  read: (item) => item,
  attributes: ({ takeover, rival }) => ({ takeover, rival }),
  written: 'put',
};

/** How often what decides the place of clusters was changed: `revision`. By operators. */
export const REVISION: RecordKind<[], number> = {
  keyOf: () => ({ pk: 'REGISTRY#00', sk: 'REVISION' }),
  read: ({ revision }, key) => small.revisionIn(revision, key),
  attributes: (revision) => ({ revision }),
  written: 'updated',
};

/** Refused senders. By `ingest`, `credential` and `dead-letter`. */
export const REFUSAL: RecordKind<[RefusalNote], RefusalNote> = {
  keyOf: ({ cluster, sender, senderRoleId = '', queue, code }) => {
    const isOfCluster = sender === 'verified' || REFUSED_OF_REGISTERED.includes(code);
    const [pk] = refusalPartitions(isOfCluster ? cluster : '', sender);
    return { pk, sk: `${queue}/${code}/${cut(senderRoleId)}` };
  },
  read: small.refusalIn,
  attributes: ({ cluster, detail, senderRoleId = '', sender, queue, code, atMs }) => ({
    ...{ cluster: cut(cluster), detail: cut(detail), senderRoleId: cut(senderRoleId) },
    ...{ sender, queue, code, atMs },
  }),
  written: 'put',
};

/** Refused after the registration was read: the cluster is one. */
const REFUSED_OF_REGISTERED: readonly string[] = ['wrong-sender', 'not-bound-token'];

function cut(text: string): string {
  return text.slice(0, 256);
}

/**
 * Messages of a cluster's own senders are apart from the claims of others (S6); these may also
 * stand where no registration was read. No id holds a slash, so none names another's partition.
 */
export function refusalPartitions(
  cluster: string,
  sender: RefusalNote['sender'],
): readonly [string, ...string[]] {
  return sender === 'verified' ? [`REFUSED#${cluster}`] : [`REFUSED#/${cluster}`, 'REFUSED#/'];
}

/** Freezes of the whole stack. By operators; functions read it with registrations. */
export const FREEZE: RecordKind<[], Freeze> = {
  keyOf: () => ({ pk: 'FREEZE#00', sk: 'FREEZE' }),
  read: ({ version, freeze }, key) => {
    const parsed = parseFreeze({ ...(freeze as object), version });
    if (parsed === undefined) throw new ItemUnreadableError(key, 'is no freeze');
    return parsed;
  },
  attributes: ({ version, ...freeze }, key) => {
    if (parseFreeze({ ...freeze, version }) === undefined) {
      throw new ItemUnreadableError(key, 'would be no freeze');
    }
    return { freeze, version };
  },
  written: 'put',
};

/** The author and the reason of a stop; emptied, not removed. By operators, for people alone. */
export const STOP: RecordKind<[], StopNote | undefined> = {
  keyOf: () => ({ pk: 'FREEZE#00', sk: 'STOP' }),
  read: ({ stop }) => parseStopNote(stop),
  attributes: (note, key) => {
    const stop = note && parseStopNote(note);
    if (note === undefined || stop !== undefined) return { stop };
    throw new ItemUnreadableError(key, 'would be no note');
  },
  written: 'put',
};

/** When functions were stopped before. By operators. */
export const STOPS: RecordKind<[], readonly StopSpan[]> = {
  keyOf: () => ({ pk: 'FREEZE#00', sk: 'STOPS' }),
  read: ({ stops }, key) => {
    const parsed = parseStops(stops);
    if (parsed === undefined) throw new ItemUnreadableError(key, 'holds no stops');
    return parsed;
  },
  attributes: (stops) => ({ stops }),
  written: 'put',
};

const TOKENS: Readonly<Record<TokenPurpose, string>> = {
  act: 'CREDENTIAL',
  // Another prefix, not another sort key: roles are bounded by partition (infra/roles.yml).
  ask: 'REQUEST-CREDENTIAL',
};

/** The sealed token of a cluster for one purpose. By `credential`. */
export const TOKEN: RecordKind<[ClusterId, TokenPurpose], SealedToken> = {
  keyOf: (id, purpose) => ({ pk: `${TOKENS[purpose]}#${id}`, sk: 'TOKEN' }),
  read: small.sealedTokenIn,
  attributes: ({ clusterUid, ciphertext, issuedAtMs, expiresAtMs }) => ({
    ...{ clusterUid, ciphertext, issuedAtMs, expiresAtMs },
  }),
  written: 'put',
};

/** Where fleets are mirrored. By operators, and by `fleet` its troubles. */
export const MIRROR: RecordKind<[], FleetMirror> = {
  keyOf: () => ({ pk: 'FLEET-MIRROR#00', sk: 'MIRROR' }),
  read: small.mirrorIn,
  attributes: plainly,
  written: 'put',
};
