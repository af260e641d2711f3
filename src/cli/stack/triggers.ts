/**
 * The triggers of a stack's functions, queues by their mappings and schedules by their rules: turned off, turned on, and waited for.
 *
 * Asks until each trigger is as wanted, at most five minutes; interrupted or late, the same command goes on. How a trigger is read and
 * turned is its control's business.
 */
import type { CommandContext } from '../command-line/command-module.ts';
import { CommandError, EXIT, failure } from '../process/exit-codes.ts';
import {
  LambdaClient,
  paginateListEventSourceMappings,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import { CALL_LIMITS, createAwsClient } from '../../adapters/aws/create-client.ts';
import type { AwsClientConfig, StackOutputs } from '../reach/stack.ts';
import { createRuleControl, type RuleControl } from '../../adapters/eventbridge/rule-control.ts';
import type { EventsCredentials } from '../../adapters/eventbridge/signed-request.ts';
import { eventsEndpoint } from '../../../functions/events-endpoint.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';

/** Functions that are called by schedules, and the outputs that name their rules; serverless.yml declares them, and a test compares. */
const SCHEDULE_OUTPUTS = {
  fleet: 'FleetScheduleName',
  resync: 'ResyncScheduleName',
} as const satisfies Readonly<Record<string, keyof StackOutputs>>;

export const SCHEDULED_FUNCTIONS: readonly string[] = Object.keys(SCHEDULE_OUTPUTS);

export function openSchedules(
  rules: RuleControl,
  stackName: string,
  outputs: Readonly<Partial<StackOutputs>>,
): TriggerControl {
  const ruleOf = new Map(
    Object.entries(SCHEDULE_OUTPUTS).map(([name, output]) => [
      `${stackName}-${name}`,
      outputs[output] ?? '',
    ]),
  );
  return {
    list: async (functionName): Promise<readonly KnownTrigger[]> => {
      const source = ruleOf.get(functionName) ?? '';
      const found = source === '' ? 'missing' : await rules.read(source);
      if (found === 'missing') return [];
      const state = found === 'ENABLED' ? 'Enabled' : 'Disabled';
      return [{ kind: 'schedule', id: source, functionName, source, state }];
    },
    turn: ({ source }, to) => rules.turn(source, to === 'Enabled' ? 'on' : 'off'),
    close: () => undefined,
  };
}

/** Functions that are called by mappings; serverless.yml declares them, and a test compares. */
export const MAPPED_FUNCTIONS = [
  'ingest',
  'reconcile',
  'requeue',
  'credential',
  'dead-letter',
] as const;

function openMappings(config: AwsClientConfig): TriggerControl {
  const client = createAwsClient(LambdaClient, CALL_LIMITS.command, { ...config });
  return {
    list: async (functionName) => {
      const found: KnownTrigger[] = [];
      const pages = paginateListEventSourceMappings({ client }, { FunctionName: functionName });
      for await (const { EventSourceMappings: mappings = [] } of pages) {
        for (const { UUID: id = '', EventSourceArn: arn = '', State: state = '' } of mappings) {
          const source = arn.split(':').at(-1) ?? '';
          found.push({ kind: 'queue', id, functionName, source, state });
        }
      }
      return found;
    },
    turn: async ({ id }, to) => {
      await client.send(
        new UpdateEventSourceMappingCommand({ UUID: id, Enabled: to === 'Enabled' }),
      );
    },
    close: () => {
      client.destroy();
    },
  };
}

export interface KnownTrigger {
  readonly kind: 'queue' | 'schedule';
  readonly id: string;
  readonly functionName: string;
  /** Name of its queue, or of its rule. */
  readonly source: string;
  /** Enabled, Disabled, or on the way to it. */
  readonly state: string;
}

export interface TriggerControl {
  list(functionName: string): Promise<readonly KnownTrigger[]>;
  turn(trigger: KnownTrigger, to: TriggerState): Promise<void>;
  close(): void;
}

type TriggerState = 'Enabled' | 'Disabled';

export interface TriggerTurn {
  readonly stackName: string;
  readonly functions: readonly string[];
  readonly to: TriggerState;
  /** Called once: AWS has answered, and nothing is turned yet. */
  readonly onListed?: () => Promise<void>;
}

const POLL_MS = 2000;
const DEADLINE_MS = 300_000;
const SETTLED: ReadonlySet<string> = new Set<TriggerState>(['Enabled', 'Disabled']);

/**
 * Turns triggers and waits until they are there; says what each of them was turned from. A function that nothing calls keeps no other from
 * being turned, and is told at the end. Throws CommandError.
 */
export async function turnTriggers(
  control: TriggerControl,
  turn: TriggerTurn,
  { clock, signal, say }: Pick<CommandContext, 'clock' | 'signal' | 'say'>,
): Promise<readonly KnownTrigger[]> {
  const endMs = clock.monotonicMs() + DEADLINE_MS;
  const turned = new Set<string>();
  for (let isFirst = true; ; isFirst = false) {
    const { triggers, uncalled } = await listAll(control, turn);
    if (isFirst) await turn.onListed?.();
    const others = triggers.filter(({ state }) => state !== turn.to);
    if (others.length === 0) {
      if (uncalled.length > 0) throw nothingCalls(uncalled);
      return triggers;
    }
    // One that is on its way cannot be turned: Lambda refuses that.
    for (const trigger of others.filter(({ id, state }) => SETTLED.has(state) && !turned.has(id))) {
      say(`${trigger.functionName}: ${trigger.source}: ${trigger.state} → ${turn.to}`);
      await control.turn(trigger, turn.to);
      turned.add(trigger.id);
    }
    if (signal.aborted || clock.monotonicMs() >= endMs) throw leftOver(others, turn, signal);
    await clock.sleep(POLL_MS, signal);
  }
}

async function listAll(
  control: TriggerControl,
  { stackName, functions }: TriggerTurn,
): Promise<{ readonly triggers: readonly KnownTrigger[]; readonly uncalled: readonly string[] }> {
  const names = functions.map((name) => `${stackName}-${name}`);
  const found = await Promise.all(names.map((name) => control.list(name)));
  const uncalled = names.filter((_, index) => found[index]?.length === 0);
  return { triggers: found.flat(), uncalled };
}

function nothingCalls(functions: readonly string[]): CommandError {
  return failure(
    `${functions.join(', ')} has no event-source mapping and no schedule: nothing calls it.`,
    'Deploy the stack: npx osls deploy. CloudFormation does not notice what was deleted by hand (docs/operations.md).',
  );
}

function leftOver(
  others: readonly KnownTrigger[],
  { to }: TriggerTurn,
  signal: AbortSignal,
): CommandError {
  const names = others.map(({ source, state }) => `${source} (${state})`).join(', ');
  return new CommandError({
    message: `Not ${to.toLowerCase()} yet: ${names}.`,
    remedy: 'Repeat the command: it goes on from there.',
    exitCode: signal.aborted ? EXIT.interrupted : EXIT.timedOut,
  });
}

/** Of one request to EventBridge: a person waits. */
const TIMEOUT_MS = 10_000;

export interface TriggersOf {
  readonly stackName: string;
  readonly aws: AwsClientConfig;
  /** Of the stack; one of another release may lack some. */
  readonly outputs: Readonly<Partial<StackOutputs>>;
  readonly credentials: () => Promise<EventsCredentials>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly environment: Readonly<NodeJS.ProcessEnv>;
}

/** Opens them; the caller closes. */
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
