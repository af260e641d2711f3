/**
 * Records that must stay whole: the index of decisions, the list of promises, the list of differences from upstream.
 *
 * Every ADR is linked in docs/adr/README.md and has the sections of the template. Every promise in docs/promise.md
 * names a test that exists. Every file with the tag `Differs from upstream:` is named in docs/parity.md. The last two
 * are checked as soon as these documents exist. What they say is not judged.
 */
import type { Finding, Repository, TextFile } from './repository.ts';

const DIFFERENCE_TAG = /Differs from upstream:/;
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
    const tests = text.match(/test\/[\w./-]+\.ts/g) ?? [];
    const missing = tests.filter((path) => !paths.has(path));
    if (tests.length > 0 && missing.length === 0) return [];
    const message = `promise ${promise} names ${missing.join(', ') || 'no test'}: it must name an existing one`;
    return [{ rule: 'promise', path: document.path, line: index + 1, message }];
  });
}

function checkDifferences(repository: Repository): Finding[] {
  const document = findFile(repository, 'docs/parity.md');
  if (document === undefined) return [];
  return repository.files
    .filter((file) => /^(src|functions)\//.test(file.path) && DIFFERENCE_TAG.test(file.text))
    .filter((file) => !document.text.includes(file.path))
    .map((file) => ({
      rule: 'parity',
      path: file.path,
      line: file.text.split('\n').findIndex((text) => DIFFERENCE_TAG.test(text)) + 1,
      message: 'a difference from upstream in a file that docs/parity.md does not name',
    }));
}

/** Finds records that are missing from their index. */
export function checkRecords(repository: Repository): Finding[] {
  return [
    ...checkDecisions(repository),
    ...checkPromises(repository),
    ...checkDifferences(repository),
  ];
}
