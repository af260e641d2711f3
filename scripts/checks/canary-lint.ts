/**
 * Canaries for the linter: one small file for each rule on which the design leans.
 *
 * Among them: promises that are never awaited, time and randomness in layers that are to be simulated, forgotten cases of
 * a union, and the size limits. Rules that come with the recommended set are not all repeated.
 */
import type { Canary } from './check.ts';

const longBody = '  total += 1;\n'.repeat(75);
const manyBranches = Array.from(
  { length: 14 },
  (_, index) => `  if (n === ${index}) return 'n';\n`,
);

const files: Readonly<Record<string, string>> = {
  'src/adapters/system/floating.ts':
    'async function work(): Promise<void> {\n  await Promise.resolve();\n}\n' +
    'export function start(): void {\n  work();\n}\n',
  'src/core/date-now.ts': 'export function nowMs(): number {\n  return Date.now();\n}\n',
  'src/app/new-date.ts': 'export function now(): Date {\n  return new Date();\n}\n',
  'src/app/crypto-import.ts':
    "import { randomUUID } from 'node:crypto';\nexport const id: string = randomUUID();\n",
  'src/watcher/timer.ts': 'export function later(): void {\n  setTimeout(() => undefined, 1);\n}\n',
  'src/watcher/timer-import.ts':
    "import { setTimeout as delay } from 'node:timers/promises';\n" +
    'export async function rest(): Promise<void> {\n  await delay(1);\n}\n',
  'src/watcher/random.ts': 'export function draw(): number {\n  return Math.random();\n}\n',
  'src/cli/no-limits.ts':
    "import { SQSClient } from './sqs-client.ts';\nexport const client = new SQSClient();\n",
  'src/watcher/no-limits.ts':
    "import { SQSClient } from '../cli/sqs-client.ts';\nexport const client = new SQSClient();\n",
  'src/cli/sqs-client.ts': 'export class SQSClient {\n  readonly size = 1;\n}\n',
  'src/core/any.ts': 'export function loose(value: any): void {\n  void value;\n}\n',
  'src/core/non-null.ts':
    'export function first(list: string[]): string {\n  return list[0]!;\n}\n',
  'src/core/switch.ts':
    "export function size(kind: 'a' | 'b'): number {\n  switch (kind) {\n    case 'a':\n" +
    '      return 1;\n  }\n  return 0;\n}\n',
  'src/core/import-type.ts':
    "import { Box } from './box.ts';\nexport function open(box: Box): number {\n  return box.size;\n}\n",
  'src/core/box.ts': 'export interface Box {\n  readonly size: number;\n}\n',
  'src/core/default.ts': 'const value = 1;\nexport default value;\n',
  'src/core/enum.ts': "export enum Kind {\n  A = 'a',\n}\n",
  'src/core/parameters.ts':
    'export function add(a: number, b: number, c: number, d: number, e: number): number {\n' +
    '  return a + b + c + d;\n}\n',
  'src/core/long.ts': `export function long(): number {\n  let total = 0;\n${longBody}  return total;\n}\n`,
  'src/core/branches.ts': `export function branches(n: number): string {\n${manyBranches.join('')}  return '';\n}\n`,
  'src/core/empty-catch.ts':
    'export function swallow(work: () => void): void {\n  try {\n    work();\n  } catch {}\n}\n',
  'src/core/lost-cause.ts':
    'export function wrap(work: () => void): void {\n  try {\n    work();\n  } catch (error) {\n' +
    "    throw new Error('failed');\n  }\n}\n",
  'src/core/useless-suppression.ts':
    '// eslint-disable-next-line no-eval -- nothing to suppress here\nexport const value = 1;\n',
  'src/core/too-long-file.ts': 'export {};\n'.padEnd(600, '\n'),
};

const rules: Readonly<Record<string, string>> = {
  'src/adapters/system/floating.ts': 'no-floating-promises',
  'src/core/date-now.ts': 'no-restricted-properties',
  'src/app/new-date.ts': 'no-restricted-syntax',
  'src/app/crypto-import.ts': 'no-restricted-imports',
  'src/watcher/timer.ts': 'no-restricted-globals',
  'src/watcher/timer-import.ts': 'no-restricted-imports',
  'src/watcher/random.ts': 'no-restricted-properties',
  'src/cli/no-limits.ts': 'no-restricted-syntax',
  'src/watcher/no-limits.ts': 'no-restricted-syntax',
  'src/core/any.ts': 'no-explicit-any',
  'src/core/non-null.ts': 'no-non-null-assertion',
  'src/core/switch.ts': 'switch-exhaustiveness-check',
  'src/core/import-type.ts': 'consistent-type-imports',
  'src/core/default.ts': 'no-restricted-syntax',
  'src/core/enum.ts': 'no-restricted-syntax',
  'src/core/parameters.ts': 'max-params',
  'src/core/long.ts': 'max-lines-per-function',
  'src/core/branches.ts': 'complexity',
  'src/core/empty-catch.ts': 'no-empty',
  'src/core/lost-cause.ts': 'preserve-caught-error',
  'src/core/useless-suppression.ts': 'Unused eslint-disable',
  'src/core/too-long-file.ts': 'max-lines',
};

/** Matches a rule's name inside the section of eslint's report that belongs to a file. */
function findingIn(path: string, rule: string): RegExp {
  const escaped = path.replaceAll('.', '\\.');
  return new RegExp(`${escaped}\\n(?:[ \\t]+\\S.*\\n)*[ \\t]+\\S.*${rule}`);
}

/** Violations for the check lint. */
export const lintCanaries: readonly Canary[] = [
  {
    check: 'lint',
    files,
    expected: Object.entries(rules).map(([path, rule]) => findingIn(path, rule)),
  },
];
