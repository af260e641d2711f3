/**
 * Citations that lead somewhere: every `protocol 4`, `spec 2.9`, `row 21`, `S3` or `ADR 0030` names a document and a
 * number that exist in this repository.
 *
 * The table of docs/spec/README.md says which document a citation is in; it is read, not repeated here. A number
 * exists where it begins a heading, an item of a numbered list (`3.5`: item 5 in chapter 3; `4c`: its step c) or a row of
 * a table. `§4` means a chapter, never a row. Citations may break over lines of a comment. A list or range is judged by
 * the numbers that it names. Beside that, every named page below docs/ has to exist, and nothing may send a reader to a
 * folder of documents outside of the repository. Whether what is cited says what the comment means is not judged.
 */
import { lineOf, type Finding, type Repository, type TextFile } from './repository.ts';

/** How citations are read. */
const TABLE = 'docs/spec/README.md';

/** This rule, the canaries and its test hold citations of nothing on purpose; lists of packages hold no prose. */
const NOT_JUDGED =
  /^(scripts\/(tidy\/citations|checks\/canary-(tidy|prose))\.ts|test\/unit\/scripts\/.*)$|\.(json|sum)$/;

/** What may stand between two words where a comment breaks. */
const GAP = '(?:[ \\t]|\\n[ \\t]*(?:\\*(?!/)|//|#(?!\\d))?)+';
const NUMBER = '§?\\d+(?:\\.\\d+)*[a-i]?(?![\\w%])';
const NUMBERS = `${NUMBER}(?:(?:,${GAP}|${GAP}(?:and|or|to)${GAP}|–)${NUMBER})*`;

/** The numbers of one document. */
interface Anchors {
  readonly chapters: ReadonlySet<string>;
  readonly rows: ReadonlySet<string>;
}

/** One way of citing: what to look for, and where its numbers are. */
interface Citing {
  /** The first group holds the numbers. */
  readonly pattern: RegExp;
  readonly document: string;
  readonly anchors: Anchors;
}

interface Mention {
  readonly file: TextFile;
  readonly index: number;
}

function findingAt({ file, index }: Mention, message: string): Finding {
  return { rule: 'citation', path: file.path, line: lineOf(file, index), message };
}

/** A path in a document, relative to its folder, from the root of the repository. */
function resolveLink(from: string, link: string): string {
  return new URL(link, `file:///${from}`).pathname.slice(1);
}

/** Numbers of headings, of items in lists (under their chapter), and of lettered steps under an item. */
function chaptersOf(lines: readonly string[]): ReadonlySet<string> {
  const chapters = new Set<string>();
  let chapter = '';
  let item = '';
  for (const line of lines) {
    if (line.startsWith('## ')) chapter = '';
    const number = /^#+ (\d+(?:\.\d+)*)\.? /.exec(line)?.[1];
    if (number !== undefined) chapters.add((chapter = number));
    const listed = /^(\d+)\. /.exec(line)?.[1];
    if (listed !== undefined) chapters.add((item = [chapter, listed].filter(Boolean).join('.')));
    const step = /^\s+[-*] ([a-i])\. /.exec(line)?.[1];
    if (step !== undefined) chapters.add(item + step);
  }
  return chapters;
}

/** Every number that a citation may name. */
export function anchorsOf(text: string): Anchors {
  const lines = text.split('\n');
  const rows = lines.flatMap(
    (line) => /^\|\s*\**((?:\d+ )?[A-Z]?\.?\d+)\**\s/.exec(line)?.[1] ?? [],
  );
  return { chapters: chaptersOf(lines), rows: new Set(rows) };
}

/** The pattern for what an example of the table stands for; undefined: no citation is written so. */
function patternOf(example: string): RegExp | undefined {
  const word = /^([A-Za-z-]+) \d/.exec(example)?.[1];
  if (word === 'row') return new RegExp(`(?<![\\w-])rows?${GAP}(${NUMBERS})`, 'g');
  if (word !== undefined) {
    const between = `(?:\\.md)?,?${GAP}(?:(?:rows?|rule)${GAP})?`;
    return new RegExp(`(?<![\\w-])${word}${between}(${NUMBERS})`, 'g');
  }
  const letter = /^(?:\d+ )?([A-Z]\.?)\d/.exec(example)?.[1];
  if (letter === undefined) return undefined;
  const isDotted = letter.endsWith('.');
  const before = isDotted ? '(?:\\d+ )?' : '';
  return new RegExp(
    `(?<![\\w#./-])(${before}${letter.replace('.', '\\.')}\\d{1,2})(?![\\w.-]\\w)`,
    'g',
  );
}

function readTable(
  table: TextFile,
  repository: Repository,
): { ways: readonly Citing[]; findings: readonly Finding[] } {
  const ways = new Map<string, Citing>();
  const findings: Finding[] = [];
  for (const row of table.text.matchAll(/^\| (`[^|]*`) \| \[[^\]]*\]\(([^)#]+)[^)]*\) \|/gm)) {
    const document = resolveLink(table.path, row[2] ?? '');
    const text = repository.files.find(({ path }) => path === document)?.text;
    if (text === undefined) continue; // the check of prose reports the link
    const anchors = anchorsOf(text);
    for (const [, example = ''] of (row[1] ?? '').matchAll(/`([^`]+)`/g)) {
      const pattern = patternOf(example);
      if (pattern !== undefined) ways.set(pattern.source, { pattern, document, anchors });
      else findings.push(findingAt({ file: table, index: row.index }, `cannot read ${example}`));
    }
  }
  return { ways: [...ways.values()], findings };
}

function isThere(number: string, { chapters, rows }: Anchors): boolean {
  return number.startsWith('§')
    ? chapters.has(number.slice(1))
    : chapters.has(number) || rows.has(number);
}

function checkNumbers(file: TextFile, way: Citing): Finding[] {
  return [...file.text.matchAll(way.pattern)].flatMap(({ index, 1: list = '' }) => {
    const isOne = /^(?:\d+ )?[A-Z]/.test(list);
    const numbers = isOne ? [list] : (list.match(/§?\d+(?:\.\d+)*[a-i]?/g) ?? []);
    return numbers
      .filter((number) => !isThere(number, way.anchors))
      .map((number) => findingAt({ file, index }, `${way.document} has no ${number}`));
  });
}

/** Documents of the specification that no row of the table knows. */
const SPECIFIED = new RegExp(`(?<![\\w-])spec(?:${GAP}|/)([a-z]+(?:-[a-z]+)+)${GAP}${NUMBER}`, 'g');

function checkDocuments(file: TextFile, paths: ReadonlySet<string>): Finding[] {
  return [...file.text.matchAll(SPECIFIED)]
    .filter(([, name]) => !paths.has(`docs/spec/${name ?? ''}.md`))
    .map(({ 1: name = '', index }) =>
      findingAt({ file, index }, `there is no specification ${name}`),
    );
}

const OUTSIDE =
  /\.\.\/shared\b(?!\/[\w/.-]+\.ts\b)|(?<![\w./-])shared\/(?:design|protocol|style|spec)\b/g;
const PAGE = /(?<![\w./-])docs\/[\w/-]+\.md\b/g;

function checkPaths(file: TextFile, paths: ReadonlySet<string>): Finding[] {
  const outside = [...file.text.matchAll(OUTSIDE)].map(({ index }) =>
    findingAt({ file, index }, 'a document outside of the repository'),
  );
  const lost = [...file.text.matchAll(PAGE)]
    .filter(([page]) => !paths.has(page))
    .map(({ 0: page, index }) => findingAt({ file, index }, `${page} does not exist`));
  return [...outside, ...lost];
}

/** Finds citations that lead nowhere. */
export function checkCitations(repository: Repository): Finding[] {
  const table = repository.files.find(({ path }) => path === TABLE);
  const { ways, findings } =
    table === undefined ? { ways: [], findings: [] } : readTable(table, repository);
  const paths = new Set(repository.files.map(({ path }) => path));
  const judged = repository.files.filter(({ path }) => !NOT_JUDGED.test(path));
  return [
    ...findings,
    ...judged.flatMap((file) => [
      ...ways.flatMap((way) => checkNumbers(file, way)),
      ...checkDocuments(file, paths),
      ...checkPaths(file, paths),
    ]),
  ];
}
