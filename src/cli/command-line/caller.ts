/** Who is at the terminal, for records that people read. Who may do what is the AWS credential's business. */
import { userInfo } from 'node:os';
import type { CommandContext } from './command-module.ts';

/** The name of whoever runs the command: of the environment, else the system's user. */
export function callerOf({ environment }: Pick<CommandContext, 'environment'>): string {
  const named = [environment['USER'], environment['LOGNAME']].find((name) => (name ?? '') !== '');
  return named ?? systemUser() ?? 'unknown';
}

/** Undefined: the user has no entry in the system's table, as in some containers. */
function systemUser(): string | undefined {
  try {
    return userInfo().username;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
