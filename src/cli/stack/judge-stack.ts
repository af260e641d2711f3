/**
 * What AWS would refuse or take away from a stack, judged from facts: pure.
 *
 * Before a first deployment, the account's places for invocations and a registry that is left from an earlier stack;
 * afterwards also what somebody may have switched off. Nothing here looks into a cluster (doctor does).
 */

import { defined } from '@rollcall/base/defined.ts';
import { findOutages } from '../../core/status/outages.ts';
import type { StackStanding } from '../../core/status/outages.ts';
import { describeFreeze } from '../../core/takeover/freeze.ts';
import type { Freeze } from '../../core/takeover/freeze.ts';

/**
 * What all mappings and the schedule may take at once (serverless.yml): 173 by their caps, and two each of `resync` and `fleet`. A rule
 * over the packaged template holds the sum to it.
 */
export const CONCURRENCY_NEEDED = 177;

/** What was found out. */
export interface StackFacts {
  readonly stackName: string;
  readonly isDeployed: boolean;
  /**
   * Of Lambda's account settings: all places of the account in the region, and those that no function has reserved. Absent: the
   * functions run inside `npm start`, in no account.
   */
  readonly concurrency?: { readonly total: number; readonly unreserved: number };
  readonly registry: 'missing' | 'protected' | 'unprotected';
  /** What is frozen for the whole stack; absent: there is no registry to ask. */
  readonly freeze?: Freeze | 'unreadable';
  /** Who stopped it by the command, and why, and when functions came to their turn last. */
  readonly standing?: StackStanding;
  readonly nowMs: number;
  /** Queues whose mapping is not enabled. */
  readonly stopped: readonly string[];
  /** Functions whose schedule is not enabled. */
  readonly stoppedSchedules: readonly string[];
}

/** What is wrong, from a closed list. */
export type StackFindingCode =
  | 'concurrency-quota'
  | 'concurrency-reserved'
  | 'freeze-unreadable'
  | 'frozen'
  | 'functions-behind'
  | 'registry-left'
  | 'registry-missing'
  | 'registry-unprotected'
  | 'stopped';

/** What is wrong, why that matters, and what to do. */
export interface StackFinding {
  readonly code: StackFindingCode;
  readonly message: string;
  readonly remedy: string;
}

/** All that is wrong, the gravest first. */
export function judgeStack(facts: StackFacts): readonly StackFinding[] {
  const findings = [
    judgeConcurrency(facts),
    judgeRegistry(facts),
    ...judgeFreeze(facts),
    judgeTriggers(facts),
    judgeTurns(facts),
  ];
  return findings.filter((finding) => finding !== undefined);
}

function judgeConcurrency({ concurrency }: StackFacts): StackFinding | undefined {
  if (concurrency === undefined) return undefined;
  const { total, unreserved } = concurrency;
  const effect =
    'Throttled messages are received again and again, and given up after their receives; dead-letter finds no place either.';
  if (total < CONCURRENCY_NEEDED) {
    return {
      code: 'concurrency-quota',
      message: `The account may run ${total} functions at once in this region; Rollcall alone may need ${CONCURRENCY_NEEDED}. ${effect}`,
      remedy:
        'Ask for 1,000 before anything is deployed: Service Quotas, AWS Lambda, "Concurrent executions".',
    };
  }
  if (unreserved >= CONCURRENCY_NEEDED) return undefined;
  return {
    code: 'concurrency-reserved',
    message: `Of ${total} places of the account ${unreserved} are not reserved by other functions; Rollcall may need ${CONCURRENCY_NEEDED}. ${effect}`,
    remedy: 'Raise the quota, or take reservations of other functions back.',
  };
}

function judgeRegistry({ registry, isDeployed, stackName }: StackFacts): StackFinding | undefined {
  const table = `${stackName}-registry`;
  if (!isDeployed && registry !== 'missing') {
    return {
      code: 'registry-left',
      message: `There is no stack ${stackName}, but its registry ${table} is there: a deployment would find the name taken.`,
      remedy: 'Import it, delete it, or choose another stage: docs/operations.md, Disaster.',
    };
  }
  if (isDeployed && registry === 'missing') {
    return {
      code: 'registry-missing',
      message: `The registry ${table} is gone. Nothing is decided in any cluster.`,
      remedy: 'Restore it under the same name: docs/operations.md, Disaster.',
    };
  }
  if (registry !== 'unprotected') return undefined;
  return {
    code: 'registry-unprotected',
    message: `The registry ${table} is not protected from deletion.`,
    remedy: `Deploy again, or: aws dynamodb update-table --table-name ${table} --deletion-protection-enabled`,
  };
}

/** Nothing is broken, and nothing is done: whoever looks has to know. */
function judgeFreeze({ freeze }: StackFacts): readonly StackFinding[] {
  if (freeze === undefined) return [];
  if (freeze === 'unreadable') {
    return [
      {
        code: 'freeze-unreadable',
        message: 'What is frozen for the stack cannot be read: everything counts as frozen.',
        remedy: 'Restore the item FREEZE#00 of the registry table from its backup, or remove it.',
      },
    ];
  }
  const { all, daemonSets } = freeze;
  const names = Object.entries(daemonSets);
  return [
    ...(all === undefined
      ? []
      : [
          {
            code: 'frozen' as const,
            message: `${describeFreeze({ scope: 'stack', note: all })}: nothing is created, deleted or changed in any cluster.`,
            remedy: 'When that is not meant any more: rollcall thaw --yes',
          },
        ]),
    ...names.map(([key, note]) => ({
      code: 'frozen' as const,
      message: `${describeFreeze({ scope: 'daemon-set', note })} in every cluster: ${key}.`,
      remedy: `When that is not meant any more: rollcall thaw --daemon-set ${key}`,
    })),
  ];
}

function judgeTriggers({
  stopped,
  stoppedSchedules,
  standing,
  nowMs,
}: StackFacts): StackFinding | undefined {
  const noted = findOutages({ nowMs, ...defined({ stop: standing?.stop }) })[0];
  const messages = [
    ...(stopped.length === 0
      ? []
      : [
          `Nothing takes messages from ${stopped.join(', ')}; what waits there is dropped after four days.`,
        ]),
    ...(stoppedSchedules.length === 0
      ? []
      : [`The schedule of ${stoppedSchedules.join(', ')} is off: it makes no turns.`]),
  ];
  if (messages.length === 0 && noted === undefined) return undefined;
  const unnoted =
    messages.length === 0 ? ['Yet everything is called: by another way than resume.'] : [];
  return {
    code: 'stopped',
    message: [...(noted === undefined ? [] : [`${noted.message}.`]), ...messages, ...unnoted].join(
      ' ',
    ),
    remedy: 'Go on with: rollcall stack resume',
  };
}

/** Everything may be called, and nothing come to its turn: throttled, or failing before it begins. */
function judgeTurns({ standing, nowMs, stoppedSchedules }: StackFacts): StackFinding | undefined {
  if (stoppedSchedules.includes('resync')) return undefined;
  const missed = findOutages({ nowMs, ...defined({ walkedAtMs: standing?.walkedAtMs }) })[0];
  return (
    missed && {
      code: 'functions-behind',
      message: `${missed.message}.`,
      remedy:
        'Look at what Lambda says of resync: its log, throttles and errors (docs/operations.md).',
    }
  );
}
