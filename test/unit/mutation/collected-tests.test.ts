/** Any collected test runs alone and again, with the hooks of its suites around it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as collector from '../../mutation/collected-tests.ts';

it('runs hooks around a collected test: those of a suite once, those of a test each time', async () => {
  const log: string[] = [];
  const note = (word: string) => () => {
    log.push(word);
  };
  collector.beginFile('a.test.ts');
  collector.describe('outer', () => {
    collector.before(note('begin'));
    collector.beforeEach(note('before'));
    collector.describe('inner', () => {
      collector.afterEach(note('after'));
      collector.it('first', note('first'));
    });
    collector.it('second', note('second'));
  });
  const tests = collector.collectedTests();
  assert.deepEqual(
    tests.map(({ title }) => title),
    ['outer > inner > first', 'outer > second'],
  );
  for (const { run } of [...tests, ...tests]) await run();
  const round = ['before', 'first', 'after', 'before', 'second'];
  assert.deepEqual(log, ['begin', ...round, ...round]);
});
