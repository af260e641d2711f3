/** Who is at the terminal, for records that people read. Who may do what is the AWS credential's business. */
import type { CommandContext } from './command-module.ts';

/** The name of whoever runs the command. */
export function callerOf({ environment }: Pick<CommandContext, 'environment'>): string {
  return environment['USER'] ?? environment['LOGNAME'] ?? 'unknown';
}
