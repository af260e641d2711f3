/**
 * `rollcall stack resume`: every function is called again, whatever `rollcall stack stop` had stopped.
 *
 * Repeated without harm: a mapping that is enabled is only looked at. What waited is worked through in its order.
 */
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandModule } from '../command-line/command-module.ts';
import { MAPPED_FUNCTIONS, openMappings, turnMappings } from './mappings.ts';

/** The command. */
export const resumeStackCommand: CommandModule = defineCommand({
  path: ['stack', 'resume'],
  summary: 'go on after stack stop: every function takes its messages again',
  interruption: 'orderly',
  run: async (_invocation, context) => {
    const { aws, name } = await context.openStack();
    const control = openMappings(aws);
    try {
      const turn = { stackName: name, functions: MAPPED_FUNCTIONS, to: 'Enabled' } as const;
      const mappings = await turnMappings(control, turn, context);
      return {
        document: { kind: 'StackResume', mappings },
        lines: [`Every function takes its messages: ${MAPPED_FUNCTIONS.join(', ')}.`],
      };
    } finally {
      control.close();
    }
  },
});
