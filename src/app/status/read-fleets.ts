/** How the rollouts of FleetDaemonSets stand, by their heads and records alone: two pages where there are few. */
import { defined } from '@rollcall/base/defined.ts';
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetRolloutFacts } from '../../core/status/health/health-facts.ts';
import type { Freeze } from '../../core/takeover/freeze.ts';
import { listEveryFleet, listEveryRecord } from '../fleet/find-fleet.ts';
import { fleetStatusOf } from '../fleet/rollout/fleet-status.ts';
import { nextOfFleet } from '../rollout/next-of-rollout.ts';
import type { FleetLook } from './fleet-look.ts';

/** Reads them, in the order of their names. Rejects when a table fails. */
export async function readFleets(
  { fleets, rollouts, filter, standing, nowMs }: FleetLook,
  freeze: Freeze | 'unreadable',
): Promise<readonly FleetRolloutFacts[]> {
  const [heads, { records, unreadable }] = await Promise.all([
    listEveryFleet(fleets),
    listEveryRecord(rollouts),
  ]);
  const lost = new Set(unreadable.map(formatFleetKey));
  const { namespace: only } = filter;
  const wanted = heads.filter(({ namespace }) => (only ?? namespace) === namespace);
  return wanted.map((head) => {
    const key = formatFleetKey(head);
    const { namespace, name, generation } = head;
    if (lost.has(key)) {
      const summary = 'the record of its rollout cannot be read by this release';
      const told = { phase: 'Progressing', summary, next: [], isUnreadable: true } as const;
      return { namespace, name, generation, ...told };
    }
    const kept = records.get(key);
    const record = kept?.uid === head.uid ? kept : undefined;
    const found = { head, ...defined({ record }) };
    const status = fleetStatusOf(found, { standing, freeze, nowMs });
    const { phase, summary, staged } = status;
    return {
      ...{ namespace, name, generation, phase, summary },
      ...defined({ gate: staged?.gate }),
      next: nextOfFleet(status),
    };
  });
}
