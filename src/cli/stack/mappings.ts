/**
 * The event-source mappings of a stack's functions: what takes messages out of the queues and calls a function.
 *
 * Disabling them is the brake (docs/operations.md): messages stay in their queues, not received and not counted. Taking
 * a function's concurrency away is none: its mappings go on receiving, every throttle counts as a receive, and what was
 * received too often ends in the dead letters. A deployment leaves a disabled mapping disabled, unless it changes it.
 *
 * Asks Lambda until each mapping is as wanted, at most five minutes; interrupted or late, the same command goes on.
 */
import {
  LambdaClient,
  paginateListEventSourceMappings,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import { CALL_LIMITS, createAwsClient } from '../../adapters/aws/create-client.ts';
import type { CommandContext } from '../command-line/command-module.ts';
import { CommandError, EXIT, failure } from '../process/exit-codes.ts';
import type { AwsClientConfig } from '../reach/stack.ts';

/** Functions that are called by mappings; serverless.yml declares them, and a test compares. */
export const MAPPED_FUNCTIONS = [
  'ingest',
  'reconcile',
  'requeue',
  'credential',
  'dead-letter',
] as const;

/** A function that is called by mappings. */
export type MappedFunction = (typeof MAPPED_FUNCTIONS)[number];

/** One mapping, as Lambda knows it. */
export interface KnownMapping {
  readonly id: string;
  readonly functionName: string;
  /** Name of its queue. */
  readonly queue: string;
  /** Of Lambda: Enabled, Disabled, or on the way to it. */
  readonly state: string;
}

/** What is asked of Lambda. */
export interface MappingControl {
  list(functionName: string): Promise<readonly KnownMapping[]>;
  turn(mapping: KnownMapping, to: MappingState): Promise<void>;
  close(): void;
}

/** Where a mapping is to be. */
export type MappingState = 'Enabled' | 'Disabled';

/** Which mappings, and where they are to be. */
export interface MappingTurn {
  readonly stackName: string;
  readonly functions: readonly MappedFunction[];
  readonly to: MappingState;
}

const POLL_MS = 2000;
const DEADLINE_MS = 300_000;
const SETTLED: ReadonlySet<string> = new Set<MappingState>(['Enabled', 'Disabled']);

/** Lambda, as whoever runs the command. */
export function openMappings(config: AwsClientConfig): MappingControl {
  const client = createAwsClient(LambdaClient, CALL_LIMITS.command, { ...config });
  return {
    list: async (functionName) => {
      const found: KnownMapping[] = [];
      const pages = paginateListEventSourceMappings({ client }, { FunctionName: functionName });
      for await (const { EventSourceMappings: mappings = [] } of pages) {
        for (const { UUID: id = '', EventSourceArn: arn = '', State: state = '' } of mappings) {
          found.push({ id, functionName, queue: arn.split(':').at(-1) ?? '', state });
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

/** Turns mappings and waits until they are there; says what each of them was turned from. Throws CommandError. */
export async function turnMappings(
  control: MappingControl,
  turn: MappingTurn,
  { clock, signal, say }: Pick<CommandContext, 'clock' | 'signal' | 'say'>,
): Promise<readonly KnownMapping[]> {
  const endMs = clock.monotonicMs() + DEADLINE_MS;
  const turned = new Set<string>();
  for (;;) {
    const mappings = await listAll(control, turn);
    const others = mappings.filter(({ state }) => state !== turn.to);
    if (others.length === 0) return mappings;
    // One that is on its way cannot be turned: Lambda refuses that.
    for (const mapping of others.filter(({ id, state }) => SETTLED.has(state) && !turned.has(id))) {
      say(`${mapping.functionName}: ${mapping.queue}: ${mapping.state} → ${turn.to}`);
      await control.turn(mapping, turn.to);
      turned.add(mapping.id);
    }
    if (signal.aborted || clock.monotonicMs() >= endMs) throw leftOver(others, turn, signal);
    await clock.sleep(POLL_MS, signal);
  }
}

async function listAll(
  control: MappingControl,
  { stackName, functions }: MappingTurn,
): Promise<readonly KnownMapping[]> {
  const names = functions.map((name) => `${stackName}-${name}`);
  const found = await Promise.all(names.map((name) => control.list(name)));
  const without = names.filter((_, index) => found[index]?.length === 0);
  if (without.length === 0) return found.flat();
  throw failure(
    `${without.join(', ')} has no event-source mapping: nothing calls it.`,
    'Deploy the stack: npx osls deploy. CloudFormation does not notice what was deleted by hand (docs/operations.md).',
  );
}

function leftOver(
  others: readonly KnownMapping[],
  { to }: MappingTurn,
  signal: AbortSignal,
): CommandError {
  const names = others.map(({ queue, state }) => `${queue} (${state})`).join(', ');
  return new CommandError({
    message: `Not ${to.toLowerCase()} yet: ${names}.`,
    remedy: 'Repeat the command: it goes on from there.',
    exitCode: signal.aborted ? EXIT.interrupted : EXIT.timedOut,
  });
}
