/**
 * What AWS would refuse a stack or take away from it: places for functions, the registry's table, switches.
 *
 * Before a first deployment as well. Only what is wrong is found; `seen` is a whole sentence here.
 */
import { defined } from '@rollcall/base/defined.ts';
import { findOutages } from '../../core/status/outages.ts';
import { failed, type Finding } from './finding.ts';
import type { Facts } from './needs.ts';

/**
 * What all mappings and the schedule may take at once (serverless.yml): 173 by their caps, and two each of `resync` and `fleet`. A rule
 * over the packaged template holds the sum to it.
 */
export const CONCURRENCY_NEEDED = 177;

export function judgeConcurrency({ concurrency }: Facts<'concurrency'>): Finding | undefined {
  if (concurrency.kind === 'unchecked' || concurrency.value === 'none') return undefined;
  const { total, unreserved } = concurrency.value;
  const effect =
    'Throttled messages are received again and again, and given up after their receives; dead-letter finds no place either.';
  if (total < CONCURRENCY_NEEDED) {
    return failed('concurrency', 'concurrency-quota', {
      seen: `The account may run ${total} functions at once in this region; Rollcall alone may need ${CONCURRENCY_NEEDED}. ${effect}`,
      next: 'Ask for 1,000 before anything is deployed: Service Quotas, AWS Lambda, "Concurrent executions".',
    });
  }
  if (unreserved >= CONCURRENCY_NEEDED) return undefined;
  return failed('concurrency', 'concurrency-reserved', {
    seen: `Of ${total} places of the account ${unreserved} are not reserved by other functions; Rollcall may need ${CONCURRENCY_NEEDED}. ${effect}`,
    next: 'Raise the quota, or take reservations of other functions back.',
  });
}

/** The registry's table: one in the way of a deployment, one that is gone, one that may be deleted. */
export function judgeRegistryTable({
  registryTable,
  stack,
}: Facts<'registryTable' | 'stack'>): Finding | undefined {
  if (registryTable.kind === 'unchecked' || stack.kind === 'unchecked') return undefined;
  const { name, isDeployed } = stack.value;
  const table = `${name}-registry`;
  if (!isDeployed && registryTable.value !== 'missing') {
    return failed('registry-table', 'registry-left', {
      seen: `There is no stack ${name}, but its registry ${table} is there: a deployment would find the name taken.`,
      next: 'Import it, delete it, or choose another stage: docs/operations.md, Disaster.',
    });
  }
  if (isDeployed && registryTable.value === 'missing') {
    return failed('registry-table', 'registry-missing', {
      seen: `The registry ${table} is gone. Nothing is decided in any cluster.`,
      next: 'Restore it under the same name: docs/operations.md, Disaster.',
    });
  }
  if (registryTable.value !== 'unprotected') return undefined;
  return failed('registry-table', 'registry-unprotected', {
    seen: `The registry ${table} is not protected from deletion.`,
    next: `Deploy again, or: aws dynamodb update-table --table-name ${table} --deletion-protection-enabled`,
  });
}

type TurnFacts = Facts<'switchedOff' | 'standing'>;

/** Triggers that are off: by `stack stop`, which leaves a note, or by hand. */
export function judgeTriggers({ switchedOff, standing, nowMs }: TurnFacts): Finding | undefined {
  if (switchedOff.kind === 'unchecked') return undefined;
  const { queues, schedules } = switchedOff.value;
  const stop = standing.kind === 'checked' ? standing.value.stop : undefined;
  const noted = findOutages({ nowMs, ...defined({ stop }) })[0];
  const messages = [
    ...(queues.length === 0
      ? []
      : [
          `Nothing takes messages from ${queues.join(', ')}; what waits there is dropped after four days.`,
        ]),
    ...(schedules.length === 0
      ? []
      : [`The schedule of ${schedules.join(', ')} is off: it makes no turns.`]),
  ];
  if (messages.length === 0 && noted === undefined) return undefined;
  const unnoted =
    messages.length === 0 ? ['Yet everything is called: by another way than resume.'] : [];
  const first = noted === undefined ? [] : [`${noted.message}.`];
  return failed('triggers', 'stopped', {
    seen: [...first, ...messages, ...unnoted].join(' '),
    next: 'Go on with: rollcall stack resume',
  });
}

/** Everything may be called, and nothing come to its turn: throttled, or failing before it begins. */
export function judgeTurns({ standing, switchedOff, nowMs }: TurnFacts): Finding | undefined {
  if (standing.kind === 'unchecked') return undefined;
  if (switchedOff.kind === 'checked' && switchedOff.value.schedules.includes('resync')) {
    return undefined;
  }
  const { walkedAtMs } = standing.value;
  const missed = findOutages({ nowMs, ...defined({ walkedAtMs }) })[0];
  if (missed === undefined) return undefined;
  return failed('triggers', 'functions-behind', {
    seen: `${missed.message}.`,
    next: 'Look at what Lambda says of resync: its log, throttles and errors (docs/operations.md).',
  });
}
