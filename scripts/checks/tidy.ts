/**
 * Tidiness: the project's own rules, which no off-the-shelf tool knows (scripts/tidy/).
 *
 * Works on syntax trees and texts, not on types. A rule is a function from the repository to findings; the list below
 * is all of them. It refuses to pass when it found nothing to read.
 */
import { checkBudget } from '../tidy/budget.ts';
import { checkCitations } from '../tidy/citations.ts';
import { checkDocumentation } from '../tidy/documentation.ts';
import { checkFolders } from '../tidy/folders.ts';
import { checkManifest } from '../tidy/manifest.ts';
import { checkRecords } from '../tidy/records.ts';
import { readRepository } from '../tidy/repository.ts';
import { checkSize } from '../tidy/size.ts';
import { checkText } from '../tidy/text.ts';
import type { Check } from './check.ts';

const rules = [
  checkSize,
  checkBudget,
  checkFolders,
  checkDocumentation,
  checkText,
  checkRecords,
  checkManifest,
  checkCitations,
];

/** The check of the project's own rules. */
export const tidyCheck: Check = {
  name: 'tidy',
  run: async (directory) => {
    const repository = await readRepository(directory);
    if (repository.sources.length === 0) return { passed: false, report: 'no file was read\n' };
    const findings = rules.flatMap((rule) => rule(repository));
    const lines = findings.map((each) => `${each.path}:${each.line} ${each.rule}: ${each.message}`);
    return { passed: lines.length === 0, report: lines.map((line) => `${line}\n`).join('') };
  },
};
