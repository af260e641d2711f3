/**
 * What to do next about a rollout that is halted or waits for somebody, as the last lines of its status.
 *
 * The commands are those of core/status/next-steps.ts; what they do stands behind them as a comment, so that a line can be copied.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { FleetStatus } from '../../app/fleet/rollout/fleet-status.ts';
import type { RolloutStatus } from '../../app/rollout/rollout-status.ts';
import { nextStepsOf, type NextStep } from '../../core/status/next-steps.ts';
import { plainText } from '../command-line/text-table.ts';

/** The next steps of a rollout of nodes; none where nothing acts, whose outage says what to do. */
export function nextOfRollout(status: RolloutStatus): readonly NextStep[] {
  const { cluster, namespace, name, mode, staged, phase, fleet } = status;
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

/** As lines; none where there is nothing to do. */
export function nextLines(steps: readonly NextStep[]): readonly string[] {
  if (steps.length === 0) return [];
  const width = Math.max(...steps.map(({ command }) => command.length));
  const lines = steps.map(({ command, about }) =>
    plainText(`  ${command.padEnd(width)}  # ${about}`),
  );
  return ['next:', ...lines];
}
