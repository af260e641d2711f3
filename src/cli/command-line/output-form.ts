/**
 * `-o`: in which form a table is printed, as kubectl takes it.
 *
 * `json` is `--json`: the frame prints the document, also of a failure. The other forms are lines of the command.
 */
import { stringify } from 'yaml';
import type { Line } from './colour.ts';
import { choiceOption, type OptionRow } from './command-module.ts';
import { plainText } from './text-table.ts';

const FORMS = ['table', 'wide', 'json', 'yaml', 'name'] as const;
const API_VERSION = 'rollcall.dev/v1alpha1';

export type OutputForm = (typeof FORMS)[number];

/** The option. */
export const OUTPUT_OPTION: OptionRow<OutputForm> = choiceOption(
  '-o, --output <form>',
  'table (default), wide, json, yaml, or name',
  FORMS,
);

const JSON_WORDS: ReadonlySet<string> = new Set(['--json', '-ojson', '--output=json']);
const OUTPUT_WORDS: ReadonlySet<string> = new Set(['-o', '--output']);

/** True if this command line asks for a document in place of lines. */
export function asksForJson(argv: readonly string[]): boolean {
  return argv.some(
    (word, index) => JSON_WORDS.has(word) || (OUTPUT_WORDS.has(word) && argv[index + 1] === 'json'),
  );
}

/** A document as it is printed. */
export function versioned(document: object): object {
  return { apiVersion: API_VERSION, ...document };
}

/** The output of a command. */
export interface Printable {
  readonly document: object;
  readonly table: (isWide: boolean) => readonly Line[];
  readonly names: readonly string[];
}

/** Its lines in that form. */
export function linesIn(
  form: OutputForm | undefined,
  { document, table, names }: Printable,
): readonly Line[] {
  switch (form) {
    case 'yaml': {
      const text = stringify(versioned(document), { aliasDuplicateObjects: false });
      return text.trimEnd().split('\n').map(plainText);
    }
    case 'name':
      return names.map(plainText);
    default:
      return table(form === 'wide');
  }
}
