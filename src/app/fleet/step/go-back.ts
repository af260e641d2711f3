/**
 * Sends clusters back to the release that was proven before: those that were given the one that was halted or undone (issue 18).
 *
 * All of them at once, as far as a step gets: nothing soaks on the way back, and no window keeps it. Clusters that were not given it
 * are not touched. One that is out of reach blocks nothing: it comes to the ring, and gets there what is proven by then.
 */
import { defined } from '@rollcall/base/defined.ts';
import { isReturn } from '../../../core/fleet/rollout/note-verdict.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { FleetClusterRecord, FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import { GIVEN_MAX } from '../sight/dependencies.ts';
import type { SightDependencies } from '../sight/looks.ts';
import type { Gift } from './give-clusters.ts';
import { readRelease } from '../sight/release-rendering.ts';
import { seeClusters } from '../sight/see-clusters.ts';
import type { SeenClusters } from '../sight/see-clusters.ts';

/** What a step of the way back came to. */
export interface Retreat {
  readonly record: Pick<FleetRecord, 'gate' | 'counts' | 'proven'>;
  readonly gifts: readonly Gift[];
  readonly seen: readonly SeenClusters[];
  /** Out of reach, and not back. */
  readonly offline: readonly ClusterId[];
}

/** Looks who has to go back, and who is there. Rejects when a table fails. */
export async function goBack(
  record: FleetRecord,
  dependencies: SightDependencies,
): Promise<Retreat> {
  const { former, release } = record;
  const rendering = former && (await readRelease(record, former, dependencies));
  if (former === undefined || rendering === undefined) return nowhere(record);
  const isBack = (one: FleetClusterRecord): boolean =>
    one.contentHash === former.contentHash && one.phase !== 'failed' && isReturn(one);
  const seen: SeenClusters[] = [];
  const gifts: Gift[] = [];
  for (let stage = 0; stage <= Math.min(record.stage, record.stages.length - 1); stage += 1) {
    const list = record.stages[stage]?.members;
    if (list === undefined) continue;
    const found = await seeClusters(
      {
        key: record,
        list,
        rendering,
        isMember: (one) =>
          one !== undefined && (one.contentHash === release.contentHash || isBack(one)),
        isGiven: isBack,
        roomFor: GIVEN_MAX,
      },
      dependencies,
    );
    seen.push(found);
    gifts.push(
      ...[...found.again, ...found.reachable].map((cluster) => ({
        cluster,
        rendering,
        place: stage,
        isPartial: false,
        isReturn: true,
      })),
    );
  }
  const returning = seen.reduce((sum, one) => sum + stillToGo(one), 0);
  return {
    record: {
      gate: returning > 0 ? { kind: 'returning' } : { kind: 'returned' },
      counts: { ...record.counts, returning },
      proven: former,
    },
    gifts,
    seen,
    offline: seen.flatMap(({ offline }) => offline),
  };
}

/** A release whose document is gone, or is none to this Rollcall: told, and nothing is guessed. */
function nowhere({ counts, former, proven }: FleetRecord): Retreat {
  const message = `generation ${String(former?.generation ?? 0)}, to which clusters would go back, cannot be read any more`;
  return {
    record: { gate: { kind: 'invalid', message }, counts, ...defined({ proven }) },
    gifts: [],
    seen: [],
    offline: [],
  };
}

/** Within reach, and not back yet. */
function stillToGo({ seen }: SeenClusters): number {
  const onTheWay = seen.given.filter(
    ({ record, verdict }) => record.phase === 'returning' && verdict.kind !== 'offline',
  );
  return seen.waitingClusters + onTheWay.length;
}
