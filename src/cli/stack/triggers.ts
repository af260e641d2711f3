/**
 * What calls the functions of a stack, queues by their mappings and schedules by their rules: turned off, turned on, and waited for.
 *
 * Asks until each trigger is as wanted, at most five minutes; interrupted or late, the same command goes on. How a trigger is read and
 * turned is its control's business (mappings.ts, schedules.ts).
 */
import type { CommandContext } from '../command-line/command-module.ts';
import { CommandError, EXIT, failure } from '../process/exit-codes.ts';

/** One trigger, as AWS knows it. */
export interface KnownTrigger {
  readonly kind: 'queue' | 'schedule';
  readonly id: string;
  readonly functionName: string;
  /** Name of its queue, or of its rule. */
  readonly source: string;
  /** Enabled, Disabled, or on the way to it. */
  readonly state: string;
}

/** What is asked of AWS. */
export interface TriggerControl {
  /** Of one function. */
  list(functionName: string): Promise<readonly KnownTrigger[]>;
  turn(trigger: KnownTrigger, to: TriggerState): Promise<void>;
  close(): void;
}

/** Where a trigger is to be. */
export type TriggerState = 'Enabled' | 'Disabled';

/** Triggers of which functions, and where they are to be. */
export interface TriggerTurn {
  readonly stackName: string;
  readonly functions: readonly string[];
  readonly to: TriggerState;
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
  for (;;) {
    const { triggers, uncalled } = await listAll(control, turn);
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
