/**
 * `node scripts/launch.mjs scripts/release-diff.ts OLD NEW`: which resources a release would make anew, remove, or fail at,
 * from two templates that `npm run package` wrote (docs/operations.md, upgrading).
 *
 * Asks AWS nothing. Exit code 1 if the deployment would be refused or something is made anew or removed, 2 for wrong usage.
 */
import { readFileSync } from 'node:fs';
import { compareTemplates } from './release-diff/compare-templates.ts';
import type { ComparedTemplate, ReleaseChange } from './release-diff/compare-templates.ts';

const EXIT_CHANGES = 1;
const EXIT_USAGE = 2;

const read = (file: string): ComparedTemplate =>
  JSON.parse(readFileSync(file, 'utf8')) as ComparedTemplate;

function said(change: ReleaseChange): string {
  const reason = change.kind === 'removed' ? change.type : change.because;
  return `${change.kind}  ${change.id}: ${reason}`;
}

const [before, next, ...rest] = process.argv.slice(2);
if (before === undefined || next === undefined || rest.length > 0) {
  console.error('usage: release-diff.ts OLD-TEMPLATE NEW-TEMPLATE');
  process.exitCode = EXIT_USAGE;
} else {
  const changes = compareTemplates(read(before), read(next));
  for (const change of changes) process.stdout.write(`${said(change)}\n`);
  if (changes.length > 0) process.exitCode = EXIT_CHANGES;
}
