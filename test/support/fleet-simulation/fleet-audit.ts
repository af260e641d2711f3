/**
 * Watches a fleet's simulation, and says which promise was broken, when, and by what.
 *
 * Judges from the tables as they are and from the clusters themselves, never from what a step believes. Each send is judged by what its
 * process had read last: a halt, a pause or a freeze stops everything within one batch of ten for each process in flight.
 */
import { compilePlacement } from '../../../src/core/fleet/choose-clusters.ts';
import type { FleetDaemonSet, FleetManifest } from '../../../src/core/fleet/fleet-daemon-set.ts';
import { wayBackOf } from '../../../src/core/fleet/rollout/way-back.ts';
import type { FleetRecord } from '../../../src/core/fleet/rollout/fleet-record.ts';
import { nodesRoundedDown, nodesRoundedUp } from '../../../src/core/policy/share.ts';
import { freezeOf, NO_FREEZE, type Freeze } from '../../../src/core/may-act/freeze.ts';
import { imageOf, type ModelCluster } from './model-cluster.ts';

/** What a process had read last, and what it sent since. */
export interface Knowledge {
  record?: FleetRecord;
  freeze: Freeze;
  sends: number;
}

/** Of a process that begins. */
export function noKnowledge(): Knowledge {
  return { freeze: NO_FREEZE, sends: 0 };
}

export interface PlayedRelease {
  readonly image: string;
  readonly contentHash: string;
  readonly fleet: FleetDaemonSet;
}

export interface AuditSources {
  readonly clusters: readonly ModelCluster[];
  readonly nowMs: () => number;
  readonly releaseOf: (contentHash: string) => PlayedRelease | undefined;
  /** Members of the lists of the record as it is stored. */
  readonly listOf: (id: string) => ReadonlySet<string>;
}

const BATCH = 10;
/** The sends of one step lie no further apart, and the next step begins later. */
const ONE_STEP_MS = 10_000;
/** A view is behind by no more, and what broke since could not be seen. */
const UNSEEN_MS = 10 * 60_000;

export class FleetAudit {
  readonly broken: string[] = [];
  readonly #of: AuditSources;
  #stored: FleetRecord | undefined;
  /** Clusters in the ring before the record was written last. */
  #formerRing = 0;
  readonly #givenAtMs = new Map<string, number>();
  readonly given = new Map<string, Set<string>>();
  /** Sends of each cluster and image. */
  readonly sends = new Map<string, number>();

  constructor(of: AuditSources) {
    this.#of = of;
  }

  /** Before a manifest is sent. */
  onSend(cluster: ModelCluster, manifest: FleetManifest, knowledge: Knowledge): void {
    const image = imageOf(manifest);
    knowledge.sends += 1;
    const { record, freeze, sends } = knowledge;
    const key = `${cluster.id} ${image}`;
    this.sends.set(key, (this.sends.get(key) ?? 0) + 1);
    if (record === undefined) {
      this.#break('send', `${key} was sent before a record was read`);
      return;
    }
    if (sends > BATCH)
      this.#break('batch', `${String(sends)} sends since record and freeze were read`);
    if (freezeOf(freeze, record) !== undefined)
      this.#break('freeze', `${key} was sent while frozen`);
    if (record.orders.paused !== undefined && !isReturning(record)) {
      this.#break('pause', `${key} was sent while paused`);
    }
    this.#auditStage(cluster, image, record);
    this.#auditConcurrency(cluster, image, record);
    this.#auditReturns(cluster, image, record);
    const all = this.given.get(image) ?? new Set();
    this.given.set(image, all.add(cluster.id));
    this.#givenAtMs.set(key, this.#of.nowMs());
  }

  #auditStage(cluster: ModelCluster, image: string, record: FleetRecord): void {
    const { release, breach } = record;
    const proven = record.good[0];
    const former = wayBackOf(record);
    const is = (one: { readonly contentHash: string } | undefined): boolean =>
      one !== undefined && this.#of.releaseOf(one.contentHash)?.image === image;
    if (is(proven)) return;
    if (is(former) && isReturning(record)) return;
    if (!is(release)) {
      this.#break(
        'release',
        `${cluster.id} was sent ${image}, which is neither proven nor released`,
      );
      return;
    }
    if (breach !== undefined) this.#break('halt', `${cluster.id} was sent ${image} after the halt`);
    const place = record.stages.findIndex(({ members }) =>
      this.#of.listOf(members.id).has(cluster.id),
    );
    if (place < 0 || place > record.stage) {
      this.#break(
        'stage',
        `${cluster.id} of stage ${String(place)} was sent ${image} at stage ${String(record.stage)}`,
      );
    }
  }

  /** Those of the open stage that hold it, can be heard all the while since, and are not through. */
  #auditConcurrency(cluster: ModelCluster, image: string, record: FleetRecord): void {
    const release = this.#of.releaseOf(record.release.contentHash);
    const open = release?.fleet.strategy.stages[record.stage];
    const dealt = record.stages[record.stage];
    if (release?.image !== image || open === undefined || dealt === undefined) return;
    const most = Math.max(1, nodesRoundedUp(open.maxConcurrency, dealt.members.count));
    this.#auditRoom(cluster, image, { list: dealt.members.id, name: dealt.name, most });
  }

  /** The same of those that came back, or late: they are given what is proven. */
  #auditReturns(cluster: ModelCluster, image: string, record: FleetRecord): void {
    // Those of a stage go back all at once.
    if (isReturning(record) && this.#isInStage(cluster, record)) return;
    const { ring, good, release } = record;
    const [proven] = good;
    const last = this.#of.releaseOf(release.contentHash)?.fleet.strategy.stages.at(-1);
    if (proven === undefined || last === undefined) return;
    if (this.#of.releaseOf(proven.contentHash)?.image !== image) return;
    // The step that sends has looked at the ring as it was before those that are done left it.
    const looked = Math.max(ring.count, this.#formerRing);
    const most = Math.max(1, nodesRoundedUp(last.maxConcurrency, looked));
    this.#auditRoom(cluster, image, { list: ring.id, name: 'the ring', most });
  }

  #isInStage({ id }: ModelCluster, { stages }: FleetRecord): boolean {
    return stages.some(({ members }) => this.#of.listOf(members.id).has(id));
  }

  #auditRoom(
    cluster: ModelCluster,
    image: string,
    { list, name, most }: { readonly list: string; readonly name: string; readonly most: number },
  ): void {
    const members = this.#of.listOf(list);
    if (!members.has(cluster.id)) return;
    const rolling = this.#of.clusters.filter((one) => this.#isRolling(one, image, members));
    const others = rolling.filter((one) => one !== cluster).length;
    if (others + 1 <= most) return;
    this.#break('concurrency', `${String(others + 1)} of ${String(most)} roll ${image} in ${name}`);
  }

  #isRolling(one: ModelCluster, image: string, members: ReadonlySet<string>): boolean {
    const givenAtMs = this.#givenAtMs.get(`${one.id} ${image}`);
    if (givenAtMs === undefined || !members.has(one.id)) return false;
    if (one.isFrozen || one.outOfReachAtMs >= givenAtMs || one.nodes === 0) return false;
    // What was sent in this very step has not begun.
    if (this.#of.nowMs() - givenAtMs < ONE_STEP_MS) return true;
    if (one.image !== image || one.rolling?.hash !== image) return false;
    return one.rolling.breach === undefined && !one.isThrough;
  }

  /** After the record was written. */
  onRecord(after: FleetRecord): void {
    const before = this.#stored;
    this.#stored = after;
    this.#formerRing = before?.ring.count ?? 0;
    if (before?.uid !== after.uid) return;
    if (before.release.generation !== after.release.generation) return;
    this.#auditStages(before, after);
    this.#auditHalt(before, after);
    if (after.good[0]?.id !== before.good[0]?.id) this.#auditProof(after);
    if (listsOf(before) !== listsOf(after)) this.#auditLists(after);
  }

  #auditStages(before: FleetRecord, after: FleetRecord): void {
    const opened = after.stage - before.stage;
    // Clusters went back, and are to go there once more.
    const isAnew = after.stage === -1 && after.gate.kind === 'next';
    if (opened !== 0 && opened !== 1 && !isAnew) {
      this.#break('stages', `${String(before.stage)} → ${String(after.stage)}`);
    }
    if (opened === 1) this.#auditOpening(before, after);
  }

  #auditHalt({ breach }: FleetRecord, after: FleetRecord): void {
    if (breach === undefined || after.breach?.atMs === breach.atMs) return;
    // What one cluster shows, or cannot take, gives way to what several show.
    if (breach.grounds !== undefined && after.breach !== undefined) return;
    if (after.orders.resumed?.breach.atMs === breach.atMs) return;
    // It led back, and the way back is stopped by what failed on it.
    if (after.breach?.cause === 'ReturnFailed') return;
    this.#break('halt', 'a breach was forgotten');
  }

  #auditOpening(before: FleetRecord, after: FleetRecord): void {
    const { orders } = before;
    if (orders.paused !== undefined || before.breach !== undefined) {
      this.#break('held', `stage ${String(after.stage)} opened while it was held`);
    }
    const release = this.#of.releaseOf(after.release.contentHash);
    if (before.stage < 0 || release === undefined || orders.approved !== undefined) return;
    const members = before.stages.slice(0, before.stage + 1);
    const seen = this.#of.clusters.filter(({ id }) =>
      members.some((one) => this.#of.listOf(one.members.id).has(id)),
    );
    const isEvidence = (one: ModelCluster): boolean =>
      one.image === release.image && one.ran.has(release.image) && one.isThrough;
    if (!seen.some(isEvidence))
      this.#break('evidence', `${String(after.stage)} opened, and none runs it`);
    this.#auditBudget(before, release);
  }

  #auditBudget(before: FleetRecord, { image, fleet }: PlayedRelease): void {
    const dealt = before.stages[before.stage];
    const stage = fleet.strategy.stages[before.stage];
    // What an operator overruled is known, and no longer counts.
    if (dealt === undefined || stage === undefined || before.orders.resumed !== undefined) return;
    const members = this.#of.listOf(dealt.members.id);
    const failed = this.#of.clusters.filter(
      ({ id, rolling, isOffline, isUnclear }) =>
        members.has(id) &&
        rolling?.hash === image &&
        rolling.breach !== undefined &&
        !isOffline &&
        !isUnclear &&
        this.#of.nowMs() - rolling.startedAtMs > 25 * 60_000 + UNSEEN_MS,
    );
    const most = nodesRoundedDown(stage.maxFailures, dealt.members.count);
    if (failed.length > most) {
      this.#break(
        'budget',
        `${dealt.name} passed with ${String(failed.length)} failed, ${String(most)} may`,
      );
    }
  }

  #auditProof({ good: [proven], orders }: FleetRecord): void {
    const image = proven && this.#of.releaseOf(proven.contentHash)?.image;
    if (image === undefined || orders.approved !== undefined) return;
    const ran = this.#of.clusters.filter((one) => one.ran.has(image));
    if (ran.length === 0) this.#break('proof', `${image} is proven, and no cluster ran it`);
  }

  /** Each is in one stage at most; those of some nodes are in two. */
  #auditLists(record: FleetRecord): void {
    const { fleet } = this.#of.releaseOf(record.release.contentHash) ?? {};
    if (record.stages.length === 0 || fleet === undefined) return;
    const isPlaced = compilePlacement(fleet.placement);
    const lists = record.stages.map(({ members }) => this.#of.listOf(members.id));
    const isPartial = fleet.strategy.stages[0].nodes !== undefined;
    for (const { id, traits } of this.#of.clusters) {
      const places = lists.flatMap((list, index) => (list.has(id) ? [index] : []));
      const isBegun = isPartial && places.join() === '0,1';
      if (places.length > 1 && !isBegun) {
        this.#break('lists', `${id} is in stages ${places.join()}`);
      }
      if (places.length > 0 && !isPlaced({ id, labels: traits.labels })) {
        this.#break('lists', `${id} is not placed`);
      }
    }
    if (!isReturning(record)) this.#auditRing(record);
  }

  /** The ring gives to nobody to whom a stage gives, or will. */
  #auditRing({ ring, stage, stages }: FleetRecord): void {
    for (const { name, members } of stages.slice(Math.max(0, stage))) {
      const inStage = this.#of.listOf(members.id);
      for (const id of this.#of.listOf(ring.id)) {
        if (inStage.has(id)) this.#break('lists', `${id} is in the ring and in ${name}`);
      }
    }
  }

  #break(promise: string, detail: string): void {
    if (this.broken.length >= 20) return;
    this.broken.push(
      `${promise} at ${new Date(this.#of.nowMs()).toISOString().slice(5, 19)}: ${detail}`,
    );
  }
}

function isReturning({ gate, orders, breach }: FleetRecord): boolean {
  return (
    gate.kind === 'returning' ||
    gate.kind === 'returned' ||
    orders.undo !== undefined ||
    (breach !== undefined && breach.grounds === undefined)
  );
}

function listsOf({ stages, ring }: FleetRecord): string {
  return [...stages.map(({ members }) => members.id), ring.id].join();
}
