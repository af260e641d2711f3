/**
 * The stages of a fleet's rollout with how their clusters stand: what `rollcall fleet status` and the table of `npm start` show.
 *
 * Each cluster is counted once, in the stage that its line names (list-clusters.ts), so stages add up to the fleet.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { FleetClusterRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import type { ShownStage } from './fleet-status.ts';
import type { FleetClusterLine } from './list-clusters.ts';

/** A stage, counted. */
export interface StageTally extends ShownStage {
  /** Where its clusters are told by now, and counted; absent: here. */
  readonly goesOnIn?: string;
  readonly failed: number;
  readonly well: number;
  /** They change: to the release, or back from it. */
  readonly rolling: number;
  readonly waiting: number;
  /** Nodes that run it, of those that should; absent: not known of any. */
  readonly nodes?: FleetClusterRecord['nodes'];
}

/** The stages of clusters that are told once each. */
export function tallyStages(
  stages: readonly ShownStage[],
  lines: readonly FleetClusterLine[],
): readonly StageTally[] {
  return stages.map((stage, index) => {
    const own = lines.filter(({ place }) => place === stage.name);
    const countOf = (...of: readonly FleetClusterLine['phase'][]): number =>
      own.filter(({ phase }) => of.includes(phase)).length;
    const isElsewhere = own.length === 0 && stage.clusters > 0 && stage.state === 'passed';
    return {
      ...stage,
      clusters: own.length,
      ...defined({
        goesOnIn: isElsewhere ? stages[index + 1]?.name : undefined,
        nodes: sumOf(own),
      }),
      failed: countOf('failed'),
      well: countOf('well'),
      rolling: countOf('applying', 'rolling', 'returning'),
      waiting: countOf('waiting'),
    };
  });
}

function sumOf(lines: readonly FleetClusterLine[]): FleetClusterRecord['nodes'] {
  const known = lines.flatMap(({ nodes }) => nodes ?? []);
  if (known.length === 0) return undefined;
  const sum = (of: 'updated' | 'desired'): number =>
    known.reduce((total, one) => total + one[of], 0);
  return { updated: sum('updated'), desired: sum('desired') };
}
