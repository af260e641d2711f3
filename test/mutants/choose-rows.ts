/**
 * What `npm run test:mutants` was asked for: all rows, those that are named, or a tenth. Pure; a wrong wish is a
 * UsageError, so that a misspelt name is never a run in which nothing survived.
 */
import { parseArgs } from 'node:util';

/** The command line asked for what does not exist. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Names of rows, in the order of the table or of the command line, and which tenth of them it is, if it is one. */
export interface ChosenRows {
  readonly names: readonly string[];
  readonly tenth: number | undefined;
}

const PARTS = 10;

function parse(parameters: readonly string[]) {
  try {
    return parseArgs({
      args: [...parameters],
      options: { tenth: { type: 'string' } },
      allowPositionals: true,
    });
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Which rows the parameters of the command line ask for. */
export function chooseRows(
  parameters: readonly string[],
  table: readonly string[],
): ChosenRows | 'help' {
  if (parameters.includes('--help')) return 'help';
  const { values, positionals } = parse(parameters);
  const unknown = positionals.filter((name) => !table.includes(name));
  if (unknown.length > 0) throw new UsageError(`there is no row ${unknown.join(', ')}`);
  if (values.tenth === undefined) {
    return { names: positionals.length > 0 ? positionals : table, tenth: undefined };
  }
  if (positionals.length > 0) throw new UsageError('either names or --tenth');
  if (!/^\d{1,15}$/.test(values.tenth)) throw new UsageError('--tenth wants a whole number');
  const tenth = Number(values.tenth) % PARTS;
  return { names: table.filter((_name, index) => index % PARTS === tenth), tenth };
}
