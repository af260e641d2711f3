/**
 * Runs test files in this one process: `shared-process.ts <counts file> <test file…>`.
 *
 * As `node --test --test-isolation=none` does, which loads node:test before it preloads anything, so that `untracked-promises.ts` would come
 * too late: with it the shared files take little more than half of the processor's time.
 */
import { createWriteStream } from 'node:fs';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import countTests from './test-count-reporter.ts';

const [countsFile = '', ...files] = process.argv.slice(2);
const events = run({ files, isolation: 'none' });
events.on('test:summary', ({ success }) => {
  if (!success) process.exitCode = 1;
});
events.compose(spec).pipe(process.stdout);
events.compose(countTests).pipe(createWriteStream(countsFile));
