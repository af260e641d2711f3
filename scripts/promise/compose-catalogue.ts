/**
 * The catalogue part of docs/promise.md: each row and each rule with the files whose tests name it.
 *
 * What is wrong with the mapping is answered beside the text. Nothing is read or written here, and whether a test proves
 * what its title says is not judged.
 */
import { numbersNamed, titlesIn } from '../testing/test-titles.ts';
import { ROWS, RULES } from './catalogue.ts';

/** A file of tests; the path is relative to the repository, with slashes. */
export interface TestFile {
  readonly path: string;
  readonly text: string;
}

/** The part of the page, and every entry that no test names. */
export interface ComposedCatalogue {
  readonly text: string;
  readonly findings: readonly string[];
}

/** Lines between which the page is generated. */
const CATALOGUE_BEGIN =
  '<!-- catalogue: written by scripts/promise.ts from the titles of the tests -->';
/** The end of what is generated. */
const CATALOGUE_END = '<!-- end of catalogue -->';

interface Part {
  readonly word: 'protocol' | 'row';
  readonly heading: string;
  readonly columns: readonly [string, string];
  readonly entries: readonly string[];
  /** Number of the first entry. */
  readonly first: number;
}

const FIRST_SCHEDULE = 71;

const PARTS: readonly Part[] = [
  {
    word: 'protocol',
    heading:
      '## Protocol rules\n\nEach was bought with a schedule that breaks a promise without it.',
    columns: ['rule', 'in short'],
    entries: RULES,
    first: 1,
  },
  {
    word: 'row',
    heading: '## Faults',
    columns: ['row', 'fault'],
    entries: ROWS.slice(0, FIRST_SCHEDULE - 1),
    first: 1,
  },
  {
    word: 'row',
    heading: '## Schedules found by review of the design',
    columns: ['row', 'schedule'],
    entries: ROWS.slice(FIRST_SCHEDULE - 1),
    first: FIRST_SCHEDULE,
  },
];

/** Composes the part of the page from all files of tests. */
export function composeCatalogue(files: readonly TestFile[]): ComposedCatalogue {
  const named = { row: indexOf(files, 'row'), protocol: indexOf(files, 'protocol') };
  const findings: string[] = [];
  const sections = PARTS.map((part) => {
    const lines = part.entries.map((entry, index) => {
      const number = part.first + index;
      const tests = [...(named[part.word].get(number) ?? [])].sort();
      if (tests.length === 0) findings.push(`${part.word} ${number} has no test`);
      const cell = tests.length === 0 ? '**none**' : tests.map((path) => `\`${path}\``).join(', ');
      return `| ${part.word} ${number} | ${entry} | ${cell} |`;
    });
    const [tag, text] = part.columns;
    return [part.heading, '', `| ${tag} | ${text} | tests |`, '|---|---|---|', ...lines].join('\n');
  });
  return { text: [CATALOGUE_BEGIN, ...sections, CATALOGUE_END].join('\n\n'), findings };
}

/** Files by the numbers that their titles name. */
function indexOf(
  files: readonly TestFile[],
  word: Part['word'],
): ReadonlyMap<number, ReadonlySet<string>> {
  const index = new Map<number, Set<string>>();
  for (const { path, text } of files) {
    for (const number of titlesIn(text).flatMap((title) => numbersNamed(title, word))) {
      index.set(number, (index.get(number) ?? new Set()).add(path));
    }
  }
  return index;
}

/** The page with its catalogue replaced; throws when the page has no place for it. */
export function withCatalogue(page: string, catalogue: string): string {
  const begin = page.indexOf(CATALOGUE_BEGIN);
  const end = page.indexOf(CATALOGUE_END);
  if (begin === -1 || end < begin)
    throw new Error('docs/promise.md has no place for the catalogue');
  return page.slice(0, begin) + catalogue + page.slice(end + CATALOGUE_END.length);
}
