/**
 * `rollcall stack stop`: the brake, functions are called no more, and every message waits in its queue; and
 * `rollcall stack resume`: every function is called again, whatever had stopped it.
 *
 * By default `reconcile` alone stops: views stay fresh, nothing is created or deleted. With `--all` every function that
 * takes messages, for whoever restores the registry. `fleet` and `resync` have schedules and go on; that is said. What runs goes on to its end, 30 s at most; queues keep what waits
 * for four days. Either may be repeated.
 */
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandContext, CommandModule } from '../command-line/command-module.ts';
import { MAPPED_FUNCTIONS, openMappings, turnMappings } from './mappings.ts';
import type { KnownMapping, MappingTurn } from './mappings.ts';

/** `stack stop`. */
export const stopStackCommand: CommandModule = defineCommand<{ readonly all?: boolean }>({
  path: ['stack', 'stop'],
  summary: 'the brake: no pod is created or deleted, and messages wait in their queues',
  interruption: 'orderly',
  configure: (command) => {
    command.option('--all', 'every function that takes messages, as for a restore of the registry');
  },
  run: async ({ options }, context) => {
    const functions = options.all === true ? MAPPED_FUNCTIONS : (['reconcile'] as const);
    const mappings = await turn({ functions, to: 'Disabled' }, context);
    return {
      document: { kind: 'StackStop', mappings },
      lines: [
        `Stopped: ${functions.join(', ')}. What runs ends within 30 s; messages wait in their queues, four days at most.`,
        'The function fleet has a schedule and no queue, and goes on to give clusters releases: hold it with rollcall freeze.',
        'Go on with: rollcall stack resume',
      ],
    };
  },
});

/** `stack resume`. */
export const resumeStackCommand: CommandModule = defineCommand({
  path: ['stack', 'resume'],
  summary: 'go on after stack stop: every function takes its messages again',
  interruption: 'orderly',
  run: async (_invocation, context) => {
    const mappings = await turn({ functions: MAPPED_FUNCTIONS, to: 'Enabled' }, context);
    return {
      document: { kind: 'StackResume', mappings },
      lines: [`Every function takes its messages: ${MAPPED_FUNCTIONS.join(', ')}.`],
    };
  },
});

async function turn(
  which: Omit<MappingTurn, 'stackName'>,
  context: CommandContext,
): Promise<readonly KnownMapping[]> {
  const { aws, name } = await context.openStack();
  const control = openMappings(aws);
  try {
    return await turnMappings(control, { stackName: name, ...which }, context);
  } finally {
    control.close();
  }
}
