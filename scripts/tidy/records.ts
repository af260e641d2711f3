/**
 * Records that must stay whole: the index of decisions, the list of promises, the lists of differences.
 *
 * Every ADR is linked in docs/adr/README.md and has the sections of the template. Every promise in docs/promise.md
 * names a test that exists. Every file with the tag `Differs from upstream:` (the built-in DaemonSet controller) is named
 * in docs/parity.md; that one and `Differs from Kubernetes:` (the local cluster) belong to parts of the sources. Promises
 * and differences are checked as soon as these documents exist. What they say is not judged.
 */
import type { Finding, Repository, TextFile } from './repository.ts';

/** A tag for differences, where it may stand, and the document that must name the file, if there is one. */
interface DifferenceRule {
  /** A line of a comment may break within the tag. */
  readonly tag: RegExp;
  readonly place: RegExp;
  readonly document?: string;
}

const DIFFERENCES: readonly DifferenceRule[] = [
  {
    tag: /Differs[\s*/]+from[\s*/]+upstream:/,
    place: /^(src|functions|packages\/base)\//,
    document: 'docs/parity.md',
  },
  {
    tag: /Differs[\s*/]+from[\s*/]+Kubernetes:/,
    place: /^packages\/local-cluster\/src\//,
  },
];
const sections = ['context', 'decision', 'consequences', 'rejected', 'guard'];

function findFile(repository: Repository, path: string): TextFile | undefined {
  return repository.files.find((file) => file.path === path);
}

function checkDecision(record: TextFile, index: string): Finding[] {
  const messages: string[] = [];
  const name = record.path.replace('docs/adr/', '');
  if (!index.includes(`(${name})`)) messages.push('not linked in docs/adr/README.md');
  for (const section of sections) {
    const isPresent = new RegExp(`^#+ .*${section}`, 'im').test(record.text);
    if (!isPresent) messages.push(`has no section "${section}" (see docs/adr/template.md)`);
  }
  return messages.map((message) => ({ rule: 'adr', path: record.path, line: 1, message }));
}

function checkDecisions(repository: Repository): Finding[] {
  const index = findFile(repository, 'docs/adr/README.md')?.text ?? '';
  const records = repository.files.filter((file) => /^docs\/adr\/\d{4}-.*\.md$/.test(file.path));
  const findings = records.flatMap((record) => checkDecision(record, index));
  const numbers = new Map<string, string>();
  for (const { path } of records) {
    const number = path.slice('docs/adr/'.length, 'docs/adr/'.length + 4);
    const other = numbers.get(number);
    if (other !== undefined) {
      findings.push({ rule: 'adr', path, line: 1, message: `has the number of ${other}` });
    }
    numbers.set(number, path);
  }
  return findings;
}

function checkPromises(repository: Repository): Finding[] {
  const document = findFile(repository, 'docs/promise.md');
  if (document === undefined) return [];
  const paths = new Set(repository.files.map((file) => file.path));
  return document.text.split('\n').flatMap((text, index) => {
    const promise = /^\|\s*\**([SLM]\d+)\**\s*\|/.exec(text)?.[1];
    if (promise === undefined) return [];
    const tests = text.match(/(?:packages\/[\w-]+\/)?test\/[\w./-]+\.ts/g) ?? [];
    const missing = tests.filter((path) => !paths.has(path));
    if (tests.length > 0 && missing.length === 0) return [];
    const message = `promise ${promise} names ${missing.join(', ') || 'no test'}: it must name an existing one`;
    return [{ rule: 'promise', path: document.path, line: index + 1, message }];
  });
}

function checkDifference(repository: Repository, rule: DifferenceRule): Finding[] {
  const page = rule.document === undefined ? undefined : findFile(repository, rule.document);
  return repository.files.flatMap(({ path, text }) => {
    const index = /^(src|functions|packages)\//.test(path) ? text.search(rule.tag) : -1;
    const isInPlace = rule.place.test(path);
    if (index === -1 || (isInPlace && (page === undefined || page.text.includes(path)))) return [];
    const line = text.slice(0, index).split('\n').length;
    const message = isInPlace
      ? `a difference in a file that ${rule.document ?? ''} does not name`
      : 'a difference with the tag of another part (see CONTRIBUTING.md)';
    return [{ rule: 'parity', path, line, message }];
  });
}

/** Finds records that are missing from their index. */
export function checkRecords(repository: Repository): Finding[] {
  return [
    ...checkDecisions(repository),
    ...checkPromises(repository),
    ...DIFFERENCES.flatMap((rule) => checkDifference(repository, rule)),
  ];
}
