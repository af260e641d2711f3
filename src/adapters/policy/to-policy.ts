/**
 * From a policy as it was written to one with every default filled in.
 *
 * Defaults are the careful ones: docs/rollouts.md has each, and why. What has none stays absent: a maxUnavailable of the
 * DaemonSet's own, no partition, no deadline, nobody excluded.
 */
import { defined } from '@rollcall/base/defined.ts';
import type {
  Canary,
  OrderRule,
  RolloutPolicy,
  RolloutWindow,
  Weekday,
} from '../../core/policy/rollout-policy.ts';
import { SOAK_DEFAULT_MS } from './policy-schema.ts';
import type { WrittenPolicy } from './policy-schema.ts';

/** What canaries differ in unless the policy says so: where bad releases differ most often. */
const SPREAD_DEFAULT: readonly string[] = [
  'topology.kubernetes.io/zone',
  'kubernetes.io/arch',
  'node.kubernetes.io/instance-type',
];

const SHRINK_PERCENT_DEFAULT = 20;
const EVERY_DAY: readonly Weekday[] = [0, 1, 2, 3, 4, 5, 6];
const MINUTES_OF_DAY = 1440;

/** Fills in the defaults. */
export function toPolicy(written: WrittenPolicy): RolloutPolicy {
  const {
    paused = false,
    order = [],
    canary = {},
    soak = SOAK_DEFAULT_MS,
    approval = 'none',
    window = [],
    onBreach = 'pause',
    returns = 'at-once',
    budget = 'parity',
    shrink = SHRINK_PERCENT_DEFAULT,
  } = written;
  const { maxUnavailable, partition, progressDeadline, exclude } = written;
  return {
    ...defined({ maxUnavailable, partition, progressDeadlineMs: progressDeadline, exclude }),
    isPaused: paused,
    order: toOrder(order),
    canary: toCanary(canary),
    soakMs: soak,
    approval,
    windows: window.map(toWindow),
    onBreach,
    returns,
    budget,
    shrinkPercent: shrink,
  };
}

type WrittenCanary = NonNullable<WrittenPolicy['canary']>;

function toCanary({ nodes, spread, selector }: WrittenCanary): Canary {
  if (selector !== undefined) return { kind: 'selector', selector };
  return {
    kind: 'share',
    share: nodes ?? { kind: 'count', count: 1 },
    spread: spread ?? SPREAD_DEFAULT,
  };
}

/** Rules of an order. */
export function toOrder(written: NonNullable<WrittenPolicy['order']>): readonly OrderRule[] {
  return written.map(toRule);
}

function toRule({ label, values, last }: NonNullable<WrittenPolicy['order']>[number]): OrderRule {
  return { label, values: values ?? [], isLast: last ?? false };
}

/** A window. */
export function toWindow(written: NonNullable<WrittenPolicy['window']>[number]): RolloutWindow {
  const { days, from = 0, to = MINUTES_OF_DAY, timeZone } = written;
  return {
    days: days === undefined ? EVERY_DAY : [...new Set(days.flat())].sort(),
    startMinute: from,
    // Midnight is the end of a day, never its start.
    endMinute: to === 0 ? MINUTES_OF_DAY : to,
    timeZone,
  };
}
