/**
 * What of the command line is about a fleet: checked against everything else that was given (issue 18). Pure.
 *
 * A play begins with clusters that nobody used, and rolls pods that nobody else rolls. So what brings clusters of before, or of somebody
 * else, or keeps Rollcall from acting, contradicts it.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { FleetBreach } from '../../../core/fleet/fleet-daemon-set.ts';
import { usageError } from '../../process/exit-codes.ts';
import type { CommandError } from '../../process/exit-codes.ts';
import { FLEET_FAILURES } from './fleet-failure.ts';
import type { FleetFailure } from './fleet-failure.ts';
import type { FleetPlan } from './fleet-ending.ts';

/** As much of the options as concerns a fleet. */
export interface FleetChoice {
  readonly fleet?: true;
  readonly onBreach?: FleetBreach;
  readonly inject?: string;
  readonly clusters?: number;
  readonly mode?: string;
  readonly data?: string;
  readonly cold?: true;
}

/** What is taken where nothing is said. */
export const FLEET_DEFAULTS = {
  /** The canary's cluster, a stage of three, and one more. */
  clusters: 5,
  /** Of all clusters but the canary's: each is a thread, and there may be many. */
  nodes: 6,
  timeoutSeconds: 900,
} as const;

/** The canary's, and one that is not. */
const CLUSTERS_MIN = 2;

/** What is to be played; undefined: no fleet. Throws CommandError (exit code 2). */
export function choosePlan(given: FleetChoice): FleetPlan | undefined {
  const { fleet, onBreach, inject, clusters, mode } = given;
  if (fleet !== true) {
    if (onBreach !== undefined)
      throw wrong('--on-breach says what becomes of a fleet: it needs --fleet.');
    return undefined;
  }
  if (inject !== undefined && !isFleetFailure(inject)) {
    throw wrong(
      `--inject ${inject} plays in one cluster; a fleet knows ${FLEET_FAILURES.join(', ')}.`,
    );
  }
  if (clusters !== undefined && clusters < CLUSTERS_MIN) {
    throw wrong(`--fleet needs ${String(CLUSTERS_MIN)} clusters at least.`);
  }
  if (mode !== undefined && mode !== 'takeover') {
    throw wrong(`--fleet rolls pods, which --mode ${mode} of a local cluster does not.`);
  }
  if (given.data !== undefined)
    throw wrong('--fleet begins with new clusters, --data goes on with old ones.');
  if (given.cold === true) throw wrong('--fleet needs nodes that are Ready, --cold has none.');
  return { onBreach: onBreach ?? 'halt', ...defined({ inject }) };
}

function isFleetFailure(text: string): text is FleetFailure {
  return FLEET_FAILURES.some((one) => one === text);
}

function wrong(message: string): CommandError {
  return usageError(message, 'Leave one of them out; `npm start -- --help` shows all options.');
}
