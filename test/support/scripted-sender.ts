/**
 * The messages of one watcher, written by hand: numbered without gaps, with carried hashes and cuts.
 *
 * It keeps what it has sent, as the real watcher does, so that its set hashes and manifests are those
 * of a correct sender. A test can tamper with a message afterwards.
 */
import {
  clusterId,
  clusterUid,
  epoch,
  incarnation,
  nodeName,
  resourceVersion,
  uid,
} from '../../src/core/model/identifiers.ts';
import { projectionText } from '../../src/core/projections/set-hash.ts';
import {
  EMPTY_HASHES,
  addHash,
  membershipHash,
  sliceIndexOf,
  subtractHash,
} from '../../src/core/projections/set-hash.ts';
import type { Projection, WatchedKind } from '../../src/core/model/projections.ts';
import { defined } from '@rollcall/base/defined.ts';
import type {
  AffectedKeys,
  AnnouncementBody,
  Cut,
  Delta,
  ManifestBody,
  Marks,
  Membership,
  SetHashes,
  SetId,
  SnapshotSlice,
  WatcherBody,
  WatcherMessage,
} from '../../src/core/model/watcher-message.ts';

/** An object and the sets in which it stands. */
export interface Standing {
  readonly object: Projection;
  readonly sets: readonly SetId[];
}

/** A node. */
export function nodeOf(name: string, version = 1, labels: Record<string, string> = {}): Standing {
  const object: Projection = {
    kind: 'Node',
    name: nodeName(name),
    uid: uid(`node-uid-${name}`),
    resourceVersion: resourceVersion(String(version)),
    labels: { ...labels, version: String(version) },
    taints: [],
    unschedulable: false,
    isReady: true,
    isTerminating: false,
  };
  return { object, sets: ['nodes'] };
}

/** A DaemonSet; its UID may differ from `ds-<name>` when it was made again. */
export function daemonSetOf(name: string, version = 1, uidText = `ds-${name}`): Standing {
  const rv = resourceVersion(String(version));
  const object: Projection = {
    kind: 'DaemonSet',
    namespace: 'ops',
    name,
    uid: uid(uidText),
    resourceVersion: rv,
    object: {
      metadata: { name, namespace: 'ops', uid: uidText, resourceVersion: rv, generation: version },
      spec: { template: {} },
    },
  };
  return { object, sets: ['daemonsets'] };
}

/** A pod of one DaemonSet, or an orphan that several select. */
export function podOf(
  name: string,
  owners: readonly string[],
  change: { readonly version?: number; readonly isOrphan?: boolean } = {},
): Standing {
  const object: Projection = {
    kind: 'Pod',
    namespace: 'ops',
    name,
    uid: uid(`pod-uid-${name}`),
    resourceVersion: resourceVersion(String(change.version ?? 1)),
    ...(change.isOrphan === true || owners[0] === undefined ? {} : { ownerUid: uid(owners[0]) }),
    labels: { version: String(change.version ?? 1) },
    phase: 'Running',
    isReady: true,
    createdAtMs: 1,
    isTerminating: false,
  };
  return { object, sets: owners.map((owner): SetId => `pods/${owner}`) };
}

/** A ControllerRevision of one DaemonSet. */
export function revisionOf(name: string, owner: string, revision = 1): Standing {
  const object: Projection = {
    kind: 'ControllerRevision',
    namespace: 'ops',
    name,
    uid: uid(`rev-uid-${name}`),
    resourceVersion: resourceVersion(String(revision)),
    ownerUid: uid(owner),
    labels: {},
    revision,
    isTerminating: false,
  };
  return { object, sets: [`revisions/${owner}`] };
}

interface Sent {
  readonly object: Projection;
  readonly of: WatchedKind;
  readonly sets: readonly Membership[];
}

/** One watcher's epoch. */
export class ScriptedSender {
  readonly header: Omit<WatcherMessage, 'seq' | 'body'>;
  seq = 0;
  sliceCount = 1;
  marks: Marks = {
    Node: resourceVersion('100'),
    Pod: resourceVersion('100'),
    DaemonSet: resourceVersion('100'),
    ControllerRevision: resourceVersion('100'),
  };
  private readonly sent = new Map<string, Sent>();
  private announcedSeq = 0;
  /** Sets of which something was sent since the announcement. */
  private readonly begun = new Set<SetId>();

  constructor(names: {
    readonly cluster?: string;
    readonly epoch: string;
    readonly incarnation?: string;
  }) {
    const cluster = names.cluster ?? 'c1';
    this.header = {
      schema: 1,
      cluster: clusterId(cluster),
      clusterUid: clusterUid(`uid-of-${cluster}`),
      epoch: epoch(names.epoch),
      incarnation: incarnation(names.incarnation ?? `i-${names.epoch}`),
    };
  }

  /** The next message with this body. */
  message(body: WatcherBody): WatcherMessage {
    this.seq += 1;
    return { ...this.header, seq: this.seq, body };
  }

  /** Announces a snapshot. */
  announce(change: Partial<Omit<AnnouncementBody, 'kind'>> = {}): WatcherMessage {
    this.sliceCount = change.sliceCount ?? this.sliceCount;
    this.announcedSeq = this.seq + 1;
    this.begun.clear();
    const { requestId } = change;
    return this.message({
      kind: 'announcement',
      sliceCount: this.sliceCount,
      reason: change.reason ?? 'start',
      ...(requestId === undefined ? {} : { requestId }),
    });
  }

  /** Deltas to these states; `gone` names uids. With a cut unless told otherwise. */
  changes(
    standing: readonly Standing[],
    options: {
      readonly gone?: readonly string[];
      readonly cut?: boolean;
      readonly affected?: AffectedKeys;
    } = {},
  ): WatcherMessage {
    const deltas = [
      ...(options.gone ?? []).flatMap((goneUid) => this.deltaOfGone(goneUid)),
      ...standing.map((one) => this.deltaOf(one)),
    ];
    const fresh = deltas.flatMap((delta) => this.begin(setsBegunBy(delta)));
    const begun = fresh.length === 0 ? {} : { begun: fresh };
    const { cut, affected } = options;
    const body = { kind: 'changes', deltas, ...defined({ affected }), ...begun } as const;
    return this.message(cut === false ? body : { ...body, cut: this.cut() });
  }

  /** A heartbeat. */
  heartbeat(marks: Marks = this.marks): WatcherMessage {
    this.marks = marks;
    return this.changes([]);
  }

  /** Notes states as known without sending them: what a snapshot is made of. */
  know(standing: readonly Standing[]): void {
    for (const one of standing) this.deltaOf(one);
  }

  /** Forgets an object without a word: it vanished while nobody watched. */
  forget(goneUid: string): void {
    this.sent.delete(goneUid);
  }

  /** The slices of what is known, one message for each set of names given, all by default. */
  slices(sets: readonly SetId[] = this.sets(), indexes?: readonly number[]): WatcherMessage {
    const slices = sets.flatMap((set): readonly SnapshotSlice[] => {
      const count = set.startsWith('revisions/') || set === 'daemonsets' ? 1 : this.sliceCount;
      return Array.from({ length: count }, (_, index) => ({
        set,
        index,
        objects: this.members(set).filter(
          ({ object }) => sliceIndexOf(object.name, count) === index,
        ),
      })).filter(({ index }) => indexes?.includes(index) ?? true);
    });
    this.begin(sets);
    const covered = slices.map((slice) =>
      slice.set === 'daemonsets' ? { ...slice, covers: {} } : slice,
    );
    return this.message({ kind: 'slices', slices: covered });
  }

  /** Closes the snapshot announced last. */
  manifest(change: Partial<ManifestBody> = {}): WatcherMessage {
    return this.message({
      kind: 'manifest',
      announcedSeq: this.announcedSeq,
      sliceCount: this.sliceCount,
      cut: this.cut(),
      ...change,
    });
  }

  /** Announcement, slices and manifest. */
  snapshot(change: Partial<Omit<AnnouncementBody, 'kind'>> = {}): readonly WatcherMessage[] {
    return [this.announce(change), this.slices(), this.manifest()];
  }

  /** Every set: of live DaemonSets, also empty ones. */
  sets(): readonly SetId[] {
    const sets = new Set<SetId>(['nodes', 'daemonsets']);
    for (const { object, sets: memberships } of this.sent.values()) {
      for (const { set } of memberships) sets.add(set);
      if (object.kind === 'DaemonSet') {
        sets.add(`pods/${object.uid}`).add(`revisions/${object.uid}`);
      }
    }
    return [...sets];
  }

  /** What stands in a set, as sent. */
  members(set: SetId): readonly { readonly object: Projection; readonly hash: number }[] {
    return [...this.sent.values()].flatMap(({ object, sets }) =>
      sets.filter((one) => one.set === set).map(({ hash }) => ({ object, hash })),
    );
  }

  /** The end of a flush, as of now. */
  cut(): Cut {
    const silentMs = { Node: 5, Pod: 5, DaemonSet: 5, ControllerRevision: 5 };
    return { marks: this.marks, hashes: this.hashes(), silentMs };
  }

  /** Those of them that had not begun. */
  private begin(sets: readonly SetId[]): readonly SetId[] {
    const fresh = sets.filter((set) => !this.begun.has(set));
    for (const set of fresh) this.begun.add(set);
    return fresh;
  }

  private hashes(): SetHashes {
    const hashes = { ...EMPTY_HASHES };
    for (const { of, sets } of this.sent.values()) {
      for (const { hash } of sets) hashes[of] = addHash(hashes[of], hash);
    }
    return hashes;
  }

  private deltaOf({ object, sets }: Standing): Delta {
    const of = object.kind === 'Opaque' ? object.of : object.kind;
    const former = this.sent.get(object.uid)?.sets ?? [];
    const text = projectionText(object);
    const memberships = sets.map((set) => ({ set, hash: membershipHash(set, text) }));
    if (sets.length === 0) this.sent.delete(object.uid);
    else this.sent.set(object.uid, { object, of, sets: memberships });
    const stands = sets.length > 0 ? object : null;
    const namespace = object.kind === 'Node' ? {} : { namespace: 'ops' };
    const { uid: objectUid, name } = object;
    return {
      of,
      uid: objectUid,
      name,
      ...namespace,
      object: stands,
      sets: memberships,
      formerSets: former,
    };
  }

  private deltaOfGone(goneUid: string): readonly Delta[] {
    const sent = this.sent.get(goneUid);
    return sent === undefined ? [] : [this.deltaOf({ object: sent.object, sets: [] })];
  }
}

function setsBegunBy({ of, uid: ofUid, sets, formerSets }: Delta): readonly SetId[] {
  if (of !== 'DaemonSet') return sets.map(({ set }) => set);
  return sets.length === 0 || formerSets.length > 0 ? [] : [`pods/${ofUid}`, `revisions/${ofUid}`];
}

/** A hash that nobody sent. */
export function wrongHashes(hashes: SetHashes): SetHashes {
  return { ...hashes, Pod: subtractHash(hashes.Pod, 1) };
}
