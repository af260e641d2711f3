/** How the fleet stands at the end, in the JSON document of `npm start -- --fleet --json` (docs/reference.md). */
import type { FleetClusterLine } from '../../../app/fleet/rollout/list-clusters.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import type { FleetEnding } from './fleet-ending.ts';

/** The part of the document. */
export interface FleetReport {
  readonly namespace: string;
  readonly name: string;
  /** Of what was applied last; 0: nothing was. */
  readonly generation: number;
  /** How its rollout ended; absent: it did not. */
  readonly ending?: FleetEnding;
  /** True if that is what was played: with an injected failure, a halt in the first ring. */
  readonly isAsPlanned: boolean;
  /** In one line. */
  readonly summary?: string;
  /** As the function recorded it; absent: nothing was applied. */
  readonly record?: FleetRecord;
  readonly clusters: readonly FleetClusterLine[];
  /** The most nodes of each cluster that were seen to run the release of the stages; clusters that never had it are left out. */
  readonly touchedNodes: Readonly<Record<string, number>>;
}
