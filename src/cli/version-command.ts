/** `rollcall version`: what `--version` prints, for whoever expects a command. */
import { RELEASE } from '../../functions/release.ts';
import { defineCommand } from './command-line/command-module.ts';
import type { CommandModule } from './command-line/command-module.ts';

/** The command. */
export const versionCommand: CommandModule = defineCommand<object>({
  path: ['version'],
  summary: 'print the version of this program',
  run: () => Promise.resolve({ document: { kind: 'Version', version: RELEASE }, lines: [RELEASE] }),
});
