/**
 * Prose: pages and records are plain English, in lines that fit a screen, with links that lead somewhere (scripts/prose);
 * messages of the product use the same words.
 *
 * markdownlint parses the pages and carries our rules. Lines of tables and code, and lines that are one link or one long
 * word, may be longer than 100 characters.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { lint } from 'markdownlint/promise';
import type { Configuration, LintError } from 'markdownlint';
import { findLostLinks } from '../prose/links.ts';
import { judgeMessages } from '../prose/messages.ts';
import { proseRules } from '../prose/rules.ts';
import type { Check } from './check.ts';

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'docs/**/*.md',
  'examples/**/*.md',
  'packages/*/README.md',
  'test/**/README.md',
];
const LINE_CHARACTERS_MAX = 100;

const configuration: Configuration = {
  default: false,
  'line-length': { line_length: LINE_CHARACTERS_MAX, tables: false, code_blocks: false },
  'no-reversed-links': true,
  'no-empty-links': true,
  'table-column-count': true,
  prose: true,
};

function wordsOf(page: string, error: LintError): string {
  const name = error.ruleNames.at(-1) ?? '';
  const detail = error.errorDetail ?? error.ruleDescription;
  const context = error.errorContext === null ? '' : ` [${error.errorContext}]`;
  return `${page}:${error.lineNumber} ${name}: ${detail}${context}`;
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
    const prose = pages.flatMap((page) =>
      (results[page] ?? []).map((error) => wordsOf(page, error)),
    );
    const lost = [...texts].flatMap(([page, text]) =>
      findLostLinks(path.join(directory, page), text).map(
        ({ line, message }) => `${page}:${line} link: ${message}`,
      ),
    );
    const messages = judgeMessages(directory).map(
      (each) => `${each.path}:${each.line} message: ${each.message}`,
    );
    const report = [...prose, ...lost, ...messages];
    return { passed: report.length === 0, report: report.map((line) => `${line}\n`).join('') };
  },
};
