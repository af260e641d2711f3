/**
 * What to do next about a rollout of nodes or of clusters, asked of core/status/next-steps.ts: the same for its own status and for
 * that of the whole fleet.
 */
import { defined } from '@rollcall/base/defined.ts';
import { nextStepsOf, type NextStep } from '../../core/status/next-steps.ts';
import type { FleetStatus } from '../fleet/rollout/fleet-status.ts';
import type { RolloutStatus, StagedStatus } from './rollout-status.ts';

type RolloutNow = Pick<
  RolloutStatus,
  'cluster' | 'namespace' | 'name' | 'mode' | 'phase' | 'fleet'
> & {
  readonly staged?: Pick<StagedStatus, 'gate' | 'breach' | 'former' | 'orders'>;
};

/** Of one that no run could begin to stage. */
const UNREADABLE: NonNullable<RolloutNow['staged']> = { gate: { kind: 'invalid' }, orders: {} };

/** The next steps of a rollout of nodes; none where nothing acts, whose outage says what to do. */
export function nextOfRollout(status: RolloutNow): readonly NextStep[] {
  const { cluster, namespace, name, mode, phase, fleet } = status;
  const staged = status.staged ?? (phase === 'Invalid' ? UNREADABLE : undefined);
  if (staged === undefined || phase === 'Stopped') return [];
  const { gate, breach, former, orders } = staged;
  const key = `${namespace}/${name}`;
  const holder = fleet?.isPartial === true ? fleet.name : undefined;
  return nextStepsOf({
    home: { kind: 'rollout', cluster, key, mode, ...defined({ fleet: holder }) },
    gate,
    orders,
    ...defined({
      breach: breach && { cause: breach.cause, members: breach.nodes, isOfPlace: false },
      back: former && `revision ${former.hash}`,
    }),
  });
}

/** The next steps of a rollout of clusters. */
export function nextOfFleet(status: FleetStatus): readonly NextStep[] {
  const { namespace, name, staged, phase, former } = status;
  if (staged === undefined || phase === 'Stopped') return [];
  const { gate, breach, orders } = staged;
  return nextStepsOf({
    home: { kind: 'fleet', key: `${namespace}/${name}` },
    gate,
    orders,
    ...defined({
      breach: breach && {
        cause: breach.cause,
        members: breach.clusters,
        isOfPlace: breach.grounds === 'place',
      },
      back: former && `generation ${String(former.generation)}`,
    }),
  });
}
