/**
 * One step of one FleetDaemonSet: read, judge, record by compare-and-set, then give (issue 18).
 *
 * Who loses the record has sent nothing, and ends. What clusters are given is what the record that was written says; a process that
 * dies after that write leaves clusters that were not given anything yet, and the next step finds them waiting.
 */
import type { StartLimits } from '../../../core/pod/request-life.ts';
import { freezeOf } from '../../../core/takeover/freeze.ts';
import type { FreezeNote } from '../../../core/takeover/freeze.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { FleetDaemonSet, FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import { fleetContentHash } from '../../../core/fleet/content-hash.ts';
import { advanceFleet } from '../../../core/fleet/rollout/advance-fleet.ts';
import type { FleetStep } from '../../../core/fleet/rollout/advance-fleet.ts';
import { beginRollout } from '../../../core/fleet/rollout/begin-rollout.ts';
import { isGoingBack } from '../../../core/fleet/rollout/judge-stage.ts';
import { untoldOf } from '../../../core/fleet/rollout/fleet-decision.ts';
import type {
  FleetClusterRecord,
  FleetDecisionKind,
  FleetRecord,
  FleetRelease,
  MemberList,
} from '../../../core/fleet/rollout/fleet-record.ts';
import { isSameRecord, whenDue } from '../../../core/fleet/rollout/when-due.ts';
import type { FleetHead } from '../../../ports/stores/fleet-store.ts';
import { dealClusters, mustDeal } from './deal-clusters.ts';
import type { StepFleetsDependencies } from './dependencies.ts';
import { giveClusters } from './give-clusters.ts';
import type { Gift } from './give-clusters.ts';
import { goBack } from './go-back.ts';
import { lookForDrift } from './look-for-drift.ts';
import type { DriftLook } from './look-for-drift.ts';
import { ReleaseRendering } from './release-rendering.ts';
import { readWidely, seeStage } from './see-stage.ts';
import { readList } from './see-clusters.ts';
import type { SeenClusters } from './see-clusters.ts';
import { serveRing } from './serve-ring.ts';
import { writeJudgements } from './write-judgements.ts';

/** What came of a step. */
export type StepOutcome =
  /** It was decided on, and there may be more to decide at once. */
  | 'decided'
  | 'stepped'
  /** Nothing moved. */
  | 'unchanged'
  /** Somebody else wrote the record. */
  | 'lost'
  | 'invalid'
  | 'removed';

/** Makes a step. Rejects when a table fails. */
export async function stepFleet(
  key: FleetKey,
  limits: StartLimits,
  dependencies: StepFleetsDependencies,
): Promise<StepOutcome> {
  const { fleets, rollouts, freezes, reader, audience, clock } = dependencies;
  const [stored, known, freeze] = await Promise.all([
    fleets.readFleet(key),
    rollouts.readRecord(key),
    freezes.readFreeze(),
  ]);
  if (stored === undefined) {
    if (known !== undefined) {
      await audience.hide(known);
      await rollouts.removeRollout(known);
    }
    return 'removed';
  }
  const reading = reader.readDocument(stored.document);
  const contentHash =
    stored.head.contentHash ?? (reading.kind === 'fleet' ? fleetContentHash(reading.fleet) : '');
  const begun = beginIfNew({ ...stored.head, contentHash }, known, clock.nowMs());
  if (reading.kind === 'invalid') {
    const [{ field, message }] = reading.problems;
    return writeInvalid(begun, known, `${field} ${message}`, dependencies);
  }
  const { fleet } = reading;
  const note = freezeOf(freeze, key);
  const record = note === undefined ? await dealIfNeeded(begun, fleet, dependencies) : begun;
  const step = new Step(
    { fleet, record, known, limits, ...(note === undefined ? {} : { freeze: note }) },
    dependencies,
  );
  return step.make();
}

function beginIfNew(
  head: FleetHead & Pick<FleetRelease, 'contentHash'>,
  known: FleetRecord | undefined,
  nowMs: number,
): FleetRecord {
  const isKnown = known?.uid === head.uid && known.release.generation === head.generation;
  if (known !== undefined && isKnown) return known;
  const { uid, generation, documentId, appliedAtMs, appliedBy, contentHash } = head;
  return beginRollout({
    fleet: head,
    uid,
    release: { generation, documentId, appliedAtMs, appliedBy, contentHash },
    ...(known === undefined ? {} : { former: known }),
    nowMs,
  });
}

async function dealIfNeeded(
  record: FleetRecord,
  fleet: FleetDaemonSet,
  dependencies: StepFleetsDependencies,
): Promise<FleetRecord> {
  const { registry, clock } = dependencies;
  const revision = await registry.readRegistryRevision();
  if (!mustDeal(record, revision, clock.nowMs())) return record;
  return dealClusters(record, fleet, dependencies);
}

async function writeInvalid(
  record: FleetRecord,
  known: FleetRecord | undefined,
  message: string,
  { rollouts, clock, log, metrics }: StepFleetsDependencies,
): Promise<StepOutcome> {
  const gate = { kind: 'invalid', message } as const;
  log.error('a FleetDaemonSet cannot be read by this release', {
    fleet: `${record.namespace}/${record.name}`,
    detail: message,
  });
  metrics.count('FleetSteps', { outcome: 'invalid' });
  const dueAtMs = whenDue({ ...record, gate }, clock.nowMs());
  const next = { ...record, gate, dueAtMs };
  if (known !== undefined && isSameRecord(known, next)) return 'invalid';
  await rollouts.writeRecord(next);
  return 'invalid';
}

/** What a step stands on. */
interface StepOf {
  readonly fleet: FleetDaemonSet;
  /** As it is after beginning and dealing; not yet written where it is not `known`. */
  readonly record: FleetRecord;
  /** As it is stored. */
  readonly known: FleetRecord | undefined;
  readonly freeze?: FreezeNote;
  readonly limits: StartLimits;
}

class Step {
  readonly #of: StepOf;
  readonly #dependencies: StepFleetsDependencies;
  readonly #rendering: ReleaseRendering;

  constructor(of: StepOf, dependencies: StepFleetsDependencies) {
    this.#of = of;
    this.#dependencies = dependencies;
    this.#rendering = new ReleaseRendering(of.record.release, of.fleet, dependencies.reader);
  }

  async make(): Promise<StepOutcome> {
    const { record, fleet, freeze } = this.#of;
    const open = freeze === undefined ? await this.#see(record.stage) : undefined;
    const { step, passed } = await this.#advance(open);
    const back = isGoingBack(step.record, fleet.strategy) && freeze === undefined;
    const returning = back ? await goBack(step.record, this.#dependencies) : undefined;
    const ring =
      back || freeze !== undefined
        ? undefined
        : await serveRing(step.record, fleet, this.#dependencies);
    const drift = await this.#lookForDrift(step.record);
    const seen = [...(open === undefined ? [] : [open]), ...passed];
    const withRing = withDrift({ ...step.record, ...returning?.record, ...ring?.record }, drift);
    const isPassed = step.decision?.kind === 'stage-opened' || step.decision?.kind === 'completed';
    const late = isPassed ? seen.flatMap(({ offline }) => offline) : [];
    const strayed = returning?.record.gate.kind === 'returned' ? returning.offline : [];
    const next = await this.#withLate(withRing, [...late, ...strayed]);
    const parts = [returning, ring, drift].filter((part) => part !== undefined);
    const changed = [...seen, ...parts.flatMap((part) => part.seen)];
    const gifts = [
      ...(open === undefined ? [] : this.#giftsOf(open, step)),
      ...parts.flatMap((part) => part.gifts),
    ];
    return this.#carryOut({ next, step, gifts, changed });
  }

  async #lookForDrift(record: FleetRecord): Promise<DriftLook | undefined> {
    const { fleet, freeze } = this.#of;
    if (freeze !== undefined) return undefined;
    const see = (stage: number): Promise<SeenClusters | undefined> => this.#see(stage);
    return lookForDrift({ record, fleet, rendering: this.#rendering, see }, this.#dependencies);
  }

  async #see(stage: number): Promise<SeenClusters | undefined> {
    return seeStage({ ...this.#of, rendering: this.#rendering, stage }, this.#dependencies);
  }

  /** With stages that passed, if the next one may open. */
  async #advance(
    open: SeenClusters | undefined,
  ): Promise<{ readonly step: FleetStep; readonly passed: readonly SeenClusters[] }> {
    const { record, fleet, freeze } = this.#of;
    const nowMs = this.#dependencies.clock.nowMs();
    const input = {
      record,
      strategy: fleet.strategy,
      nowMs,
      ...(freeze === undefined ? {} : { freeze }),
      ...(open === undefined ? {} : { open: open.seen }),
    };
    const step = advanceFleet(input);
    if (!step.needsPassed) return { step, passed: [] };
    const passed = await readWidely(record.stage, (stage) => this.#see(stage));
    const bySeen = new Map([...passed].map(([stage, { seen }]) => [stage, seen] as const));
    return { step: advanceFleet({ ...input, passed: bySeen }), passed: [...passed.values()] };
  }

  /** Clusters that are out of reach when their stage passes, or when all others are back, come through the ring. */
  async #withLate(next: FleetRecord, late: readonly ClusterId[]): Promise<FleetRecord> {
    if (late.length === 0) return next;
    const ring = await readList(next, next.ring, this.#dependencies);
    const members = [...new Set([...ring, ...late])];
    if (members.length === ring.length) return next;
    return { ...next, ring: await this.#dependencies.rollouts.writeMembers(next, members) };
  }

  #giftsOf(open: SeenClusters, { giveMax, record }: FleetStep): readonly Gift[] {
    if (record.gate.kind !== 'rolling') return [];
    const place = this.#of.record.stage;
    const isOfNodes = place === 0 && this.#of.fleet.strategy.stages[0].nodes !== undefined;
    return [...open.again, ...open.reachable.slice(0, giveMax)].map((cluster) => ({
      cluster,
      rendering: this.#rendering,
      place,
      isPartial: isOfNodes && cluster.hasDaemonSet,
      isReturn: false,
    }));
  }

  async #carryOut(of: {
    readonly next: FleetRecord;
    readonly step: FleetStep;
    readonly gifts: readonly Gift[];
    readonly changed: readonly SeenClusters[];
  }): Promise<StepOutcome> {
    const { known, limits } = this.#of;
    const { rollouts, clock, metrics, audience } = this.#dependencies;
    const nowMs = clock.nowMs();
    const failed = failuresIn(of.changed);
    const { decision } = of.step;
    const after = { ...of.next, dueAtMs: whenDue(of.next, nowMs) };
    const untold = untoldOf({
      before: known,
      after,
      failed,
      nowMs,
      ...(decision === undefined ? {} : { decision }),
    });
    const next = { ...after, untold };
    const isSame = known !== undefined && isSameRecord(known, next);
    // A record that only falls due later is written once it is due: who waits for days writes nothing meanwhile.
    const isToWrite = !isSame || known.dueAtMs <= nowMs;
    if (isToWrite && (await rollouts.writeRecord(next)) === 'lost') {
      metrics.count('FleetSteps', { outcome: 'lost' });
      return 'lost';
    }
    const record = isToWrite ? { ...next, version: next.version + 1 } : next;
    await writeJudgements(record, of.changed, of.gifts, this.#dependencies);
    await giveClusters(of.gifts, record, limits, this.#dependencies);
    const toTell = [...(known?.untold ?? []), ...untold];
    if (toTell.length > 0) await audience.tell(toTell.map((one) => ({ ...one, record })));
    for (const { kind, message } of untold) this.#logDecision(kind, message);
    if (!isSame) await audience.show(record);
    if (known !== undefined && hasOtherLists(known, record)) {
      await rollouts.removeMembersBut(record, listsOf(record));
    }
    const outcome = decision !== undefined ? 'decided' : isSame ? 'unchanged' : 'stepped';
    metrics.count('FleetSteps', { outcome });
    return outcome;
  }

  #logDecision(kind: FleetDecisionKind, message: string): void {
    const { log, metrics } = this.#dependencies;
    const { namespace, name } = this.#of.record;
    metrics.count('FleetDecisions', { outcome: kind });
    log.info('a fleet was decided on', { fleet: `${namespace}/${name}`, kind, detail: message });
  }
}

/** Clusters that were not failed before this step. */
function failuresIn(seen: readonly SeenClusters[]): readonly FleetClusterRecord[] {
  const failed = seen.flatMap(({ changed }) => changed.filter(({ phase }) => phase === 'failed'));
  return [...new Map(failed.map((record) => [record.cluster, record])).values()];
}

function withDrift(record: FleetRecord, look: DriftLook | undefined): FleetRecord {
  if (look === undefined) return record;
  const { drifted: _former, ...rest } = record;
  return {
    ...rest,
    ...look.record,
    ...(look.drifted === undefined ? {} : { drifted: look.drifted }),
  };
}

function listsOf({ stages, ring }: FleetRecord): readonly MemberList[] {
  return [...stages.map(({ members }) => members), ring];
}

function hasOtherLists(before: FleetRecord, after: FleetRecord): boolean {
  const idsOf = (record: FleetRecord): string =>
    listsOf(record)
      .map(({ id }) => id)
      .join();
  return idsOf(before) !== idsOf(after);
}
