/**
 * Makes one step: sees its clusters, lets the core decide, gathers what is to be written and given.
 * The open stage, the way back, the ring and the look for drift each find their own clusters.
 * Nothing is sent here (carry-out.ts).
 */
import { defined } from '@rollcall/base/defined.ts';
import { advanceFleet, rollingMaxOf } from '../../../core/fleet/rollout/advance-fleet.ts';
import type { FleetStep } from '../../../core/fleet/rollout/advance-fleet.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import { returnTargetOf } from '../../../core/fleet/rollout/way-back.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import { nodesRoundedDown } from '../../../core/policy/share.ts';
import { askFirst, type RefusedGate, type ClusterApply } from './give-clusters.ts';
import { carryOut, type StepOf, type StepOutcome } from './carry-out.ts';
import type { StepFleetsDependencies } from '../observe/dependencies.ts';
import { goBack } from './go-back.ts';
import { lookForDrift, type DriftLook } from './look-for-drift.ts';
import { ReleaseRendering } from '../observe/release-rendering.ts';
import { Looks, type ObserveDependencies } from '../observe/looks.ts';
import { readList, writeList } from '../member-lists.ts';
import { readWidely, observeStage } from '../observe/observe-clusters.ts';
import type { ReachableCluster, ObservedClusters } from '../observe/observe-clusters.ts';
import { observePool } from '../observe/observe-pool.ts';
import type { ObservedPool } from '../../../core/fleet/rollout/tally-stage.ts';
import { catchUpClusters } from './catch-up-clusters.ts';

/** Makes the step. Rejects when a table fails. */
export async function makeStep(
  of: StepOf,
  dependencies: StepFleetsDependencies,
): Promise<StepOutcome> {
  const looks = await Looks.open(of.record, of.limits, dependencies);
  return new Step(of, { ...dependencies, looks }).make();
}

/** What a part of a step found, besides the stages. */
interface Part {
  readonly applies: readonly ClusterApply[];
  readonly seen: readonly ObservedClusters[];
}

class Step {
  readonly #of: StepOf;
  readonly #dependencies: ObserveDependencies;
  readonly #rendering: ReleaseRendering;

  constructor(of: StepOf, dependencies: ObserveDependencies) {
    this.#of = of;
    this.#dependencies = dependencies;
    this.#rendering = new ReleaseRendering(of.record.release, of.fleet, dependencies);
  }

  async make(): Promise<StepOutcome> {
    const { record, freeze, fleet } = this.#of;
    // Clusters that go back are all that a step has time for.
    const isHeld = freeze !== undefined || returnTargetOf(record, fleet.strategy) !== undefined;
    const open = isHeld ? undefined : await this.#see(record.stage);
    const { step, passed } = await this.#advance(open, await this.#seePool(open));
    const stages = [...(open === undefined ? [] : [open]), ...passed];
    const late = isPassed(step) ? await this.#lateOf(step.record, stages) : [];
    const stage = open === undefined ? undefined : await this.#stageOf(open, step);
    const besides = await this.#besides(stage?.record ?? step.record);
    await this.#dependencies.looks.write(record, this.#dependencies);
    const next = await this.#withLate(besides.record, [...late, ...besides.late]);
    return carryOut(
      {
        ...this.#of,
        next,
        seen: [...stages, ...besides.parts.flatMap((part) => part.seen)],
        applies: [...(stage?.applies ?? []), ...besides.parts.flatMap((part) => part.applies)],
        ...defined({ decision: step.decision ?? besides.decision }),
      },
      this.#dependencies,
    );
  }

  /** What a step does besides its stages: one of the way back and the ring, and the look for drift. */
  async #besides(record: FleetRecord): Promise<{
    readonly record: FleetRecord;
    readonly late: readonly ClusterId[];
    readonly parts: readonly Part[];
    readonly decision?: FleetStep['decision'];
  }> {
    const { fleet, freeze } = this.#of;
    if (freeze !== undefined) return { record, late: [], parts: [] };
    const target = returnTargetOf(record, fleet.strategy);
    if (target !== undefined) {
      const back = await goBack({ record, fleet, target }, this.#dependencies);
      const { record: returned, decision } = back;
      const isBack = returned.gate.kind === 'returned' || returned.gate.kind === 'done';
      const told = defined({ decision });
      if (!isBack) return { record: returned, late: [], parts: [back], ...told };
      // Once all within reach are back, those of the ring get what is good as ever.
      const waiting = await catchUpClusters(returned, fleet, this.#dependencies);
      return {
        record: { ...returned, ...waiting?.record },
        late: back.offline,
        parts: [back, waiting].filter((part) => part !== undefined),
        ...told,
      };
    }
    const ring = await catchUpClusters(record, fleet, this.#dependencies);
    const see = (stage: number): Promise<ObservedClusters | undefined> => this.#see(stage);
    const rendering = this.#rendering;
    const drift = await lookForDrift({ record, fleet, rendering, see }, this.#dependencies);
    return {
      record: withDrift({ ...record, ...ring?.record }, drift),
      late: [],
      parts: [ring, drift].filter((part) => part !== undefined),
    };
  }

  /** Small clusters of the open stage; none while the rollout is held. */
  async #seePool(open: ObservedClusters | undefined): Promise<ObservedPool | undefined> {
    const { record, fleet } = this.#of;
    const list = record.stages[record.stage]?.members;
    if (open === undefined || list === undefined || record.breach !== undefined) return undefined;
    return observePool({ record, order: fleet.strategy.order, list, open }, this.#dependencies);
  }

  async #see(stage: number): Promise<ObservedClusters | undefined> {
    return observeStage({ ...this.#of, rendering: this.#rendering, stage }, this.#dependencies);
  }

  /** With stages that passed, if the next one may open. */
  async #advance(
    open: ObservedClusters | undefined,
    pool: ObservedPool | undefined,
  ): Promise<{ readonly step: FleetStep; readonly passed: readonly ObservedClusters[] }> {
    const { record, fleet, freeze } = this.#of;
    const nowMs = this.#dependencies.clock.nowMs();
    const { strategy } = fleet;
    const input = { record, strategy, nowMs, ...defined({ freeze, pool, open: open?.seen }) };
    const step = advanceFleet(input);
    if (!step.needsPassed) return { step, passed: [] };
    const passed = await readWidely(record.stage, (stage) => this.#see(stage));
    const bySeen = new Map([...passed].map(([stage, { seen }]) => [stage, seen] as const));
    return { step: advanceFleet({ ...input, passed: bySeen }), passed: [...passed.values()] };
  }

  /** Out of reach when their stage passes; those of some nodes go on in the stage that opens, and are not late. */
  async #lateOf(
    { stage, stages, ...key }: FleetRecord,
    passed: readonly ObservedClusters[],
  ): Promise<readonly ClusterId[]> {
    const offline = passed.flatMap((one) => one.offline);
    const open = stages[stage]?.members;
    if (offline.length === 0 || open === undefined) return offline;
    const goingOn = new Set(await readList(key, open, this.#dependencies));
    return offline.filter((id) => !goingOn.has(id));
  }

  /** Clusters that are out of reach when their stage passes, or when all others are back, come through the ring. */
  async #withLate(next: FleetRecord, late: readonly ClusterId[]): Promise<FleetRecord> {
    if (late.length === 0) return next;
    const ring = await readList(next, next.ring, this.#dependencies);
    const members = [...new Set([...ring, ...late])];
    if (members.length === ring.length) return next;
    return { ...next, ring: await writeList(next, members, this.#dependencies) };
  }

  /** What the open stage gives, or its gate where the first clusters of it would not have it. */
  async #stageOf(
    open: ObservedClusters,
    step: FleetStep,
  ): Promise<{ readonly record: FleetRecord; readonly applies: readonly ClusterApply[] }> {
    const { record } = step;
    const applies = this.#giftsOf(open, step);
    const held = record.gate.kind === 'refused' ? record.gate : undefined;
    if (held !== undefined && step.giveMax === 0) return { record, applies: [] };
    const refused = open.seen.given.length === 0 ? await this.#ask(applies, held) : undefined;
    if (refused !== undefined) return { record: { ...record, gate: refused }, applies: [] };
    const { waiting, rolling } = record.counts;
    // Those that are given it again were rolling already.
    const begun = applies.filter(({ cluster }) => !open.again.includes(cluster)).length;
    const counts = { ...record.counts, waiting: waiting - begun, rolling: rolling + begun };
    const gate = held === undefined ? record.gate : ({ kind: 'updating' } as const);
    return { record: { ...record, gate, counts }, applies };
  }

  async #ask(
    applies: readonly ClusterApply[],
    held: RefusedGate | undefined,
  ): Promise<RefusedGate | undefined> {
    const { record, fleet, limits } = this.#of;
    const stage = fleet.strategy.stages[record.stage];
    const count = record.stages[record.stage]?.members.count ?? 0;
    const refusalsMax = stage === undefined ? 0 : nodesRoundedDown(stage.maxRefusals, count);
    const since = defined({ sinceMs: held?.sinceMs });
    return askFirst({ applies, refusalsMax, limits, ...since }, this.#dependencies);
  }

  #giftsOf(open: ObservedClusters, { giveMax, record }: FleetStep): readonly ClusterApply[] {
    if (record.gate.kind !== 'updating' && record.gate.kind !== 'refused') return [];
    // A label that changes what many are given takes them all back at once: they go on as any others do, so many at a time.
    const onTheirWay = record.counts.rolling - open.again.length;
    const againMax = Math.max(0, rollingMaxOf(record, this.#of.fleet.strategy) - onTheirWay);
    const again = open.again.slice(0, againMax);
    return [...again, ...open.reachable.slice(0, giveMax)].map((cluster) => ({
      cluster,
      rendering: this.#rendering,
      place: this.#of.record.stage,
      isPartial: this.#isPartial(cluster),
      isReturn: false,
    }));
  }

  /** What is new in a cluster starts on all of its nodes; what it was given stays as it was given. */
  #isPartial({ record, hasDaemonSet }: ReachableCluster): boolean {
    const { fleet, record: rollout } = this.#of;
    if (rollout.stage !== 0 || fleet.strategy.stages[0].nodes === undefined) return false;
    const isAgain = record?.contentHash === rollout.release.contentHash && record.place === 0;
    return isAgain ? record.isPartial : hasDaemonSet;
  }
}

function isPassed({ decision }: FleetStep): boolean {
  return decision?.kind === 'stage-opened' || decision?.kind === 'completed';
}

function withDrift(record: FleetRecord, look: DriftLook | undefined): FleetRecord {
  if (look === undefined) return record;
  const { drifted: _former, ...rest } = record;
  return { ...rest, ...look.record, ...defined({ drifted: look.drifted }) };
}
