/**
 * Everything that calls a stack's functions, as whoever runs the command: mappings of Lambda and rules of EventBridge as one.
 *
 * A function has queues or a schedule; both are asked for, so that nobody has to know which.
 */
import { createRuleControl } from '../../adapters/eventbridge/rule-control.ts';
import type { EventsCredentials } from '../../adapters/eventbridge/signed-request.ts';
import { eventsEndpoint } from '../../../functions/events-endpoint.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { AwsClientConfig, StackOutputs } from '../reach/stack.ts';
import { openMappings } from './mappings.ts';
import { openSchedules } from './schedules.ts';
import type { TriggerControl } from './triggers.ts';

/** Of one request to EventBridge: a person waits. */
const TIMEOUT_MS = 10_000;

/** Which stack, and as whom. */
export interface TriggersOf {
  readonly stackName: string;
  readonly aws: AwsClientConfig;
  /** Of the stack; one of another release may lack some. */
  readonly outputs: Readonly<Partial<StackOutputs>>;
  readonly credentials: () => Promise<EventsCredentials>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly environment: Readonly<NodeJS.ProcessEnv>;
}

/** Opens them; whoever opened closes. */
export function openTriggers(of: TriggersOf): TriggerControl {
  const { stackName, aws, outputs, credentials, clock, environment } = of;
  const mappings = openMappings(aws);
  const rules = createRuleControl({
    ...{ region: aws.region, endpoint: eventsEndpoint(aws.region, environment), credentials },
    ...{ nowMs: () => clock.nowMs(), timeoutMs: TIMEOUT_MS },
  });
  const schedules = openSchedules(rules, stackName, outputs);
  return {
    list: async (functionName) => [
      ...(await mappings.list(functionName)),
      ...(await schedules.list(functionName)),
    ],
    turn: (trigger, to) => (trigger.kind === 'queue' ? mappings : schedules).turn(trigger, to),
    close: () => {
      mappings.close();
    },
  };
}
