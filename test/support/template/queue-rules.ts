/** Rules about queues and what polls them. */
import { CONCURRENCY_NEEDED } from '../../../src/app/checks/judge-stack.ts';
import { at, isMap, listOf, ofType, referredId } from './template.ts';
import type { Identified, Rule, Template, ValueMap } from './template.ts';

/** The longest that SQS keeps a message. */
const RETENTION_S_MAX = 1_209_600;
/** What AWS advises: throttled invocations are tried again within the lease. */
const STANDARD_VISIBILITY_FACTOR = 6;
/** For a group that waits: short enough to recover, long enough that a live invocation never loses its lease. */
const FIFO_VISIBILITY_FACTOR = 2;
/** How long an account may have no place for a function before its messages are given up (F4). */
const THROTTLED_S_MIN = 3600;
/** What a schedule takes besides the caps of the mappings: a turn that is late beside the next one. */
const PLACES_OF_A_SCHEDULE = 2;
/** An emulator throttles nobody, and a test there waits for a dead letter. */
const EMULATED_STAGE = 'local';
/** As queue-ids.ts divides it between clusters (ADR 0019). */
const RECONCILE_CONCURRENCY = 50;

interface Mapping {
  readonly id: string;
  readonly properties: ValueMap;
  readonly queue: Identified | undefined;
  readonly target: Identified | undefined;
}

const isFifo = (queue: Identified | undefined): boolean => queue?.properties['FifoQueue'] === true;

function redriveTargetOf({ properties }: Identified): string | undefined {
  return referredId(at(properties, 'RedrivePolicy', 'deadLetterTargetArn'));
}

function queuesOf(template: Template): {
  readonly work: readonly Identified[];
  readonly dead: readonly Identified[];
} {
  const queues = ofType(template, 'AWS::SQS::Queue');
  const targets = new Set(queues.map(redriveTargetOf));
  return {
    work: queues.filter(({ id }) => !targets.has(id)),
    dead: queues.filter(({ id }) => targets.has(id)),
  };
}

/** Every mapping with its queue and function. */
function mappingsOf(template: Template): readonly Mapping[] {
  const queues = ofType(template, 'AWS::SQS::Queue');
  const functions = ofType(template, 'AWS::Lambda::Function');
  return ofType(template, 'AWS::Lambda::EventSourceMapping').map(({ id, properties }) => ({
    id,
    properties,
    queue: queues.find((one) => one.id === referredId(properties['EventSourceArn'])),
    target: functions.find((one) => one.id === referredId(properties['FunctionName'])),
  }));
}

const deadLetterQueues: Rule = {
  name: 'every work queue has a dead-letter queue of its kind, which keeps longest and is polled',
  check: (template) => {
    const { work, dead } = queuesOf(template);
    const mappings = mappingsOf(template);
    const without = work.filter((queue) => {
      const target = dead.find(({ id }) => id === redriveTargetOf(queue));
      return target === undefined || isFifo(target) !== isFifo(queue);
    });
    const hasty = work.filter(
      ({ properties }) => Number(at(properties, 'RedrivePolicy', 'maxReceiveCount')) < 5,
    );
    const faults = dead.flatMap(({ id, properties }) => {
      const poller = mappings.find(({ queue }) => queue?.id === id)?.target?.id;
      return [
        ...(properties['MessageRetentionPeriod'] === RETENTION_S_MAX
          ? []
          : [`${id} forgets early`]),
        ...(poller === 'DeadDashletterLambdaFunction' ? [] : [`${id} is polled by nobody`]),
      ];
    });
    return [
      ...without.map(({ id }) => `${id} has none`),
      ...hasty.map(({ id }) => `${id} gives up early`),
      ...faults,
    ];
  },
};

const patientQueues: Rule = {
  name: 'an account without places loses nothing within the hour: receives x visibility (F4)',
  check: (template, stage) =>
    stage === EMULATED_STAGE
      ? []
      : queuesOf(template).work.flatMap(({ id, properties }) => {
          const receives = Number(at(properties, 'RedrivePolicy', 'maxReceiveCount'));
          const seconds = receives * Number(properties['VisibilityTimeout']);
          return seconds >= THROTTLED_S_MIN ? [] : [`${id} gives up after ${String(seconds)} s`];
        }),
};

const visibility: Rule = {
  name: 'a lease is twice the function’s time where it blocks a group, six times where it blocks nobody',
  check: (template) => {
    const { work } = queuesOf(template);
    return mappingsOf(template).flatMap(({ id, queue, target }) => {
      if (queue === undefined || target === undefined) return [`${id} leads nowhere`];
      const leaseS = Number(queue.properties['VisibilityTimeout']);
      // A crashed invocation blocks its group, a cluster or a key, for the whole lease. Nobody waits for a dead letter.
      const isBlocking = isFifo(queue) && work.some((one) => one.id === queue.id);
      const factor = isBlocking ? FIFO_VISIBILITY_FACTOR : STANDARD_VISIBILITY_FACTOR;
      return leaseS === factor * Number(target.properties['Timeout'])
        ? []
        : [`${id}: ${String(leaseS)} s`];
    });
  },
};

const mappings: Rule = {
  name: 'every mapping reports failures one by one and has a cap, all within what stack check asks for; reconcile takes ten hints at a time',
  check: (template) => {
    const all = mappingsOf(template);
    const capOf = ({ properties }: Mapping): number =>
      Number(at(properties, 'ScalingConfig', 'MaximumConcurrency') ?? Number.POSITIVE_INFINITY);
    const faults = all.flatMap((mapping) => {
      const { id, properties, target } = mapping;
      const batch = Number(properties['BatchSize']);
      const isReconcile = target?.id === 'ReconcileLambdaFunction';
      return [
        ...(listOf(properties['FunctionResponseTypes']).includes('ReportBatchItemFailures')
          ? []
          : [`${id} fails as a whole`]),
        ...(batch >= 1 && batch <= 10 ? [] : [`${id} takes ${String(batch)}`]),
        ...('MaximumBatchingWindowInSeconds' in properties ? [`${id} waits for more`] : []),
        ...(Number.isFinite(capOf(mapping)) ? [] : [`${id} has no cap`]),
        ...(properties['Enabled'] === true ? [] : [`${id} is off`]),
        ...(isReconcile && batch !== 10 ? [`${id} takes ${String(batch)} hints`] : []),
        ...(isReconcile && capOf(mapping) !== RECONCILE_CONCURRENCY ? [`${id}: not its room`] : []),
      ];
    });
    const sum = all.reduce((total, mapping) => total + capOf(mapping), 0);
    const scheduled = ofType(template, 'AWS::Events::Rule').length * PLACES_OF_A_SCHEDULE;
    const unpolled = ofType(template, 'AWS::SQS::Queue').filter(
      ({ id }) => all.filter(({ queue }) => queue?.id === id).length !== 1,
    );
    return [
      ...faults,
      ...(sum + scheduled === CONCURRENCY_NEEDED
        ? []
        : [`${String(sum)} invocations at once, and ${String(scheduled)} of schedules`]),
      ...unpolled.map(({ id }) => `${id} is not polled by one function`),
    ];
  },
};

/** Functions that get what a role may send: those that poll the queue, or what it gives up. */
function edgesOf(template: Template): ReadonlyMap<string, readonly string[]> {
  const heirOf = new Map(
    ofType(template, 'AWS::SQS::Queue').map((queue) => [queue.id, redriveTargetOf(queue)]),
  );
  const pollerOf = new Map(
    mappingsOf(template).map(({ queue, target }) => [queue?.id, target?.id]),
  );
  return new Map(
    ofType(template, 'AWS::Lambda::Function').map(({ id, properties }) => {
      const role = template.Resources[referredId(properties['Role']) ?? '']?.Properties;
      const sent = listOf(role?.['Policies'])
        .flatMap((policy) => listOf(at(policy, 'PolicyDocument', 'Statement')))
        .filter((one) => isMap(one) && listOf(one['Action']).includes('sqs:SendMessage'))
        .flatMap((one) => listOf(at(one, 'Resource')))
        .map((one) => referredId(one))
        .flatMap((one) => [one, heirOf.get(one ?? '')])
        .map((one) => pollerOf.get(one));
      return [id, sent.filter((one) => one !== undefined)];
    }),
  );
}

const meantLoops: Rule = {
  name: 'functions that call themselves through queues say so, and no others: Lambda would stop them after sixteen',
  check: (template) => {
    const edges = edgesOf(template);
    const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
      (edges.get(from) ?? []).some((next) => {
        if (next === to) return true;
        if (seen.has(next)) return false;
        seen.add(next);
        return reaches(next, to, seen);
      });
    return ofType(template, 'AWS::Lambda::Function').flatMap(({ id, properties }) => {
      const isMeant = properties['RecursiveLoop'] === 'Allow';
      return reaches(id, id) === isMeant ? [] : [`${id}: ${isMeant ? 'no loop' : 'a loop'}`];
    });
  },
};

/** All of them. */
export const queueRules: readonly Rule[] = [
  deadLetterQueues,
  patientQueues,
  visibility,
  mappings,
  meantLoops,
];
