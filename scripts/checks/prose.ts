/**
 * Prose: pages and records are plain English, in lines that fit a screen, with links that lead somewhere (scripts/prose);
 * messages of the product use the same words.
 *
 * markdownlint parses the pages and carries our rules. Lines of tables and code, and lines that are one link or one long
 * word, may be longer than 100 characters. `scripts/prose/not-yet-clean.txt` lists pages and folders whose prose is not
 * judged yet (their links are); a listed page without a finding has to leave the list.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { lint } from 'markdownlint/promise';
import type { Configuration, LintError } from 'markdownlint';
import { findLostLinks } from '../prose/links.ts';
import { judgeMessages } from '../prose/messages.ts';
import { proseRules } from '../prose/rules.ts';
import type { Check } from './check.ts';

const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'docs/**/*.md'];
const NOT_YET_CLEAN = 'scripts/prose/not-yet-clean.txt';
const LINE_CHARACTERS_MAX = 100;

const configuration: Configuration = {
  default: false,
  'line-length': { line_length: LINE_CHARACTERS_MAX, tables: false, code_blocks: false },
  'no-reversed-links': true,
  'no-empty-links': true,
  'table-column-count': true,
  prose: true,
};

function readListed(directory: string): string[] {
  const file = path.join(directory, NOT_YET_CLEAN);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

function wordsOf(page: string, error: LintError): string {
  const name = error.ruleNames.at(-1) ?? '';
  const detail = error.errorDetail ?? error.ruleDescription;
  const context = error.errorContext === null ? '' : ` [${error.errorContext}]`;
  return `${page}:${error.lineNumber} ${name}: ${detail}${context}`;
}

/** Entries of the list that excuse nothing. */
function findVoid(listed: readonly string[], withFindings: readonly string[]): string[] {
  return listed
    .filter((entry) => !withFindings.some((page) => isUnder(page, entry)))
    .map((entry) => `${NOT_YET_CLEAN}: ${entry} has no finding left: take it off the list`);
}

function isUnder(page: string, entry: string): boolean {
  return entry.endsWith('/') ? page.startsWith(entry) : page === entry;
}

/** The check of prose. */
export const proseCheck: Check = {
  name: 'prose',
  run: async (directory) => {
    const pages = globSync(PAGES, { cwd: directory }).sort();
    if (pages.length === 0) return { passed: false, report: 'no page was read\n' };
    const texts = new Map(
      pages.map((page) => [page, readFileSync(path.join(directory, page), 'utf8')]),
    );
    const results = await lint({
      strings: Object.fromEntries(texts),
      config: configuration,
      customRules: proseRules,
    });
    const listed = readListed(directory);
    const withFindings = pages.filter((page) => (results[page] ?? []).length > 0);
    const prose = withFindings
      .filter((page) => !listed.some((entry) => isUnder(page, entry)))
      .flatMap((page) => (results[page] ?? []).map((error) => wordsOf(page, error)));
    const lost = [...texts].flatMap(([page, text]) =>
      findLostLinks(path.join(directory, page), text).map(
        ({ line, message }) => `${page}:${line} link: ${message}`,
      ),
    );
    const messages = judgeMessages(directory).map(
      (each) => `${each.path}:${each.line} message: ${each.message}`,
    );
    const report = [...prose, ...lost, ...messages, ...findVoid(listed, withFindings)];
    return { passed: report.length === 0, report: report.map((line) => `${line}\n`).join('') };
  },
};
