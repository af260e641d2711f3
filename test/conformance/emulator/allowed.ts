/**
 * The published list of allowed differences: the table "Allowed differences" of docs/local-cluster.md.
 *
 * A cell `*` stands for any verb, resource, or end of a field. The list has at most 25 entries, none of them about a
 * status code; an entry that no longer occurs must go.
 */
import { readFileSync } from 'node:fs';
import { repositoryPath } from '../scenarios/repository.ts';
import type { Difference } from './compare.ts';

/** One entry. */
export interface AllowedDifference {
  readonly verb: string;
  readonly resource: string;
  readonly field: string;
  readonly reason: string;
}

/** How many there may be. */
export const ALLOWED_MAX = 25;

const HEADING = '## Allowed differences';

/** Reads the list. */
export function readAllowed(path = repositoryPath('docs/local-cluster.md')): AllowedDifference[] {
  const [, section = ''] = readFileSync(path, 'utf8').split(`${HEADING}\n`);
  const [table = ''] = section.split('\n## ');
  return table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map(parseRow);
}

/** The entry that covers a difference. */
export function findAllowed(
  allowed: readonly AllowedDifference[],
  { step, field }: Difference,
): AllowedDifference | undefined {
  return allowed.find(
    (one) =>
      field !== 'status' &&
      matches(one.verb, step.verb) &&
      matches(one.resource, step.resource) &&
      matches(one.field, field),
  );
}

function parseRow(line: string): AllowedDifference {
  const cells = line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('`', ''));
  const [verb = '', resource = '', field = '', reason = ''] = cells;
  return { verb, resource, field, reason };
}

function matches(pattern: string, text: string): boolean {
  if (!pattern.endsWith('*')) return pattern === text;
  return text.startsWith(pattern.slice(0, -1));
}
