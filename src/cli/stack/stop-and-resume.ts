/**
 * `rollcall stack stop`: the brake, functions are called no more, and every message waits in its queue; and
 * `rollcall stack resume`: every function is called again, whatever had stopped it.
 *
 * By default what acts in clusters stops, `reconcile` and `fleet`: views stay fresh, nothing is created, deleted or changed. With `--all`
 * every function, for whoever restores the registry. What runs goes on to its end, 55 s at most, and a schedule may begin one more
 * turn within the minute; queues keep what waits for four days. Either may be repeated.
 */
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandContext, CommandModule } from '../command-line/command-module.ts';
import { MAPPED_FUNCTIONS } from './mappings.ts';
import { openTriggers } from './open-triggers.ts';
import { SCHEDULED_FUNCTIONS } from './schedules.ts';
import { turnTriggers } from './triggers.ts';
import type { KnownTrigger, TriggerTurn } from './triggers.ts';

/** What acts in clusters: the one by hints, the other by its schedule. */
const ACTING: readonly string[] = ['reconcile', 'fleet'];
const ALL: readonly string[] = [...MAPPED_FUNCTIONS, ...SCHEDULED_FUNCTIONS];

/** `stack stop`. */
export const stopStackCommand: CommandModule = defineCommand<{ readonly all?: boolean }>({
  path: ['stack', 'stop'],
  summary: 'the brake: nothing is done in clusters, and messages wait in their queues',
  interruption: 'orderly',
  configure: (command) => {
    command.option('--all', 'every function, as for a restore of the registry');
  },
  run: async ({ options }, context) => {
    const functions = options.all === true ? ALL : ACTING;
    const triggers = await turn({ functions, to: 'Disabled' }, context);
    return {
      document: { kind: 'StackStop', ...documentOf(triggers) },
      lines: [
        `Stopped: ${functions.join(', ')}. What runs ends within two minutes; messages wait in their queues, four days at most.`,
        'Go on with: rollcall stack resume',
      ],
    };
  },
});

/** `stack resume`. */
export const resumeStackCommand: CommandModule = defineCommand({
  path: ['stack', 'resume'],
  summary: 'go on after stack stop: every function is called again',
  interruption: 'orderly',
  run: async (_invocation, context) => {
    const triggers = await turn({ functions: ALL, to: 'Enabled' }, context);
    return {
      document: { kind: 'StackResume', ...documentOf(triggers) },
      lines: [`Every function is called again: ${ALL.join(', ')}.`],
    };
  },
});

/** By what they are: queues and rules have other names. */
function documentOf(triggers: readonly KnownTrigger[]): Readonly<Record<string, unknown>> {
  const ofKind = (kind: KnownTrigger['kind']): readonly KnownTrigger[] =>
    triggers.filter((trigger) => trigger.kind === kind);
  return {
    mappings: ofKind('queue').map(({ id, functionName, source, state }) => ({
      ...{ id, functionName, queue: source, state },
    })),
    schedules: ofKind('schedule').map(({ functionName, source, state }) => ({
      ...{ functionName, rule: source, state },
    })),
  };
}

async function turn(
  which: Omit<TriggerTurn, 'stackName'>,
  context: CommandContext,
): Promise<readonly KnownTrigger[]> {
  const stack = await context.openStack();
  const { aws, name, outputs, clock } = stack;
  const { environment } = context;
  const control = openTriggers({
    ...{ stackName: name, aws, outputs, clock, environment },
    credentials: () => stack.awsCredentials(),
  });
  try {
    return await turnTriggers(control, { stackName: name, ...which }, context);
  } finally {
    control.close();
  }
}
