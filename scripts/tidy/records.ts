/**
 * Records that must stay whole: every ADR is linked in docs/adr/README.md and has the sections of the template, and the tags
 * `Differs from upstream:` (the built-in controller) and `Differs from Kubernetes:` (the local cluster) stand in their parts of
 * the sources. test/unit/docs holds docs/promise.md and docs/parity.md to tests and tags.
 */
import type { Finding, Repository, TextFile } from './repository.ts';

/** A tag for differences, which a line of a comment may break, and where it may stand. */
const DIFFERENCES: readonly { readonly tag: RegExp; readonly place: RegExp }[] = [
  { tag: /Differs[\s*/]+from[\s*/]+upstream:/, place: /^(src|functions|packages\/base)\// },
  { tag: /Differs[\s*/]+from[\s*/]+Kubernetes:/, place: /^packages\/local-cluster\/src\// },
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

function checkDifferences(repository: Repository): Finding[] {
  const sources = repository.files.filter(({ path }) => /^(src|functions|packages)\//.test(path));
  return DIFFERENCES.flatMap(({ tag, place }) =>
    sources
      .filter(({ path, text }) => !place.test(path) && tag.test(text))
      .map(({ path, text }) => {
        const line = text.slice(0, text.search(tag)).split('\n').length;
        const message = 'a difference with the tag of another part (see CONTRIBUTING.md)';
        return { rule: 'parity', path, line, message };
      }),
  );
}

/** Finds records that are not whole. */
export function checkRecords(repository: Repository): Finding[] {
  return [...checkDecisions(repository), ...checkDifferences(repository)];
}
