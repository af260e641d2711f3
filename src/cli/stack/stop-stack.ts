/**
 * `rollcall stack stop`: the brake. Functions are called no more, and every message waits in its queue.
 *
 * By default `reconcile` alone, which is what writes to clusters and acts on them: views stay fresh, nothing is created
 * or deleted. With `--all` every function that takes messages, for whoever restores the registry: nothing writes into
 * it then. What runs goes on to its end, 30 s at most. Queues keep what waits for four days.
 */
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandModule } from '../command-line/command-module.ts';
import { MAPPED_FUNCTIONS, openMappings, turnMappings } from './mappings.ts';

interface StopOptions {
  readonly all?: boolean;
}

/** The command. */
export const stopStackCommand: CommandModule = defineCommand<StopOptions>({
  path: ['stack', 'stop'],
  summary: 'the brake: nothing is done in any cluster, and messages wait in their queues',
  interruption: 'orderly',
  configure: (command) => {
    command.option('--all', 'every function that takes messages, as for a restore of the registry');
  },
  run: async ({ options }, context) => {
    const { aws, name } = await context.openStack();
    const functions = options.all === true ? MAPPED_FUNCTIONS : (['reconcile'] as const);
    const control = openMappings(aws);
    try {
      const turn = { stackName: name, functions, to: 'Disabled' } as const;
      const mappings = await turnMappings(control, turn, context);
      return {
        document: { kind: 'StackStop', mappings },
        lines: [
          `Stopped: ${functions.join(', ')}. What runs ends within 30 s; messages wait in their queues, four days at most.`,
          'Go on with: rollcall stack resume',
        ],
      };
    } finally {
      control.close();
    }
  },
});
