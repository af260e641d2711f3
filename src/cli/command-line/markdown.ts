/** Pieces of a comment for a pull request. What a cluster or a file said stays inside of code spans, and is cut. */
import { plainText } from './text-table.ts';

/** A digest and the name of its registry. */
const CODE_CHARACTERS_MAX = 120;

/** A row of a table. */
export function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** In a table, too, where a bar ends a cell even in a code span. */
export function code(text: string): string {
  const line = plainText(text).replaceAll('`', "'").replaceAll('|', '\\|');
  const { length } = line;
  return `\`${length <= CODE_CHARACTERS_MAX ? line : `${line.slice(0, CODE_CHARACTERS_MAX - 1)}…`}\``;
}
