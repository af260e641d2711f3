/** What just happened and why, as the live table shows it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createActivity } from '../../../../src/cli/start/activity.ts';

function activity(onLine?: (line: string) => void) {
  return createActivity({
    linesMax: 2,
    nowText: () => '12:00:00',
    ...(onLine === undefined ? {} : { onLine }),
  });
}

describe('the activity', () => {
  it('says what a run did to pods, and nothing of what the engine does', () => {
    const { log, recent } = activity();
    const fields = { namespace: 'a', name: 'b', reason: 'changed' };
    log.info('announced a snapshot', { seq: 1 });
    log.info('reconcile', { ...fields, creates: 0, isStatusWritten: true, reason: 'due' });
    log.info('reconcile', { ...fields, creates: 3, deletes: 1, isStatusWritten: true });
    assert.deepEqual(recent(), ['12:00:00 a/b: 3 pods created, 1 pod deleted']);
  });

  it('names the cluster, and counts a sentence that repeats', () => {
    const { log, recent } = activity();
    const run = { namespace: 'a', name: 'b', creates: 1 };
    for (let count = 0; count < 3; count += 1) log.with({ cluster: 'c' }).info('reconcile', run);
    log.with({ cluster: 'd' }).info('reconcile', run);
    assert.deepEqual(recent(), [
      '12:00:00 c a/b: 1 pod created ×3',
      '12:00:00 d a/b: 1 pod created',
    ]);
  });

  it('keeps the newest lines, leaves debug out, and counts trouble', () => {
    const { log, recent, troubleCount } = activity();
    log.debug('not shown');
    log.info('a rollout goes on', { code: 'first' });
    log.warn('message refused', { code: 'wrong-sender' });
    log.info('a rollout goes on', { code: 'last' });
    assert.deepEqual(recent(), [
      '12:00:00 WARN message refused (code=wrong-sender)',
      '12:00:00 a rollout goes on (code=last)',
    ]);
    assert.equal(troubleCount(), 1);
  });

  it('gives every line with all fields to --verbose, the cause of a failure included', () => {
    const lines: string[] = [];
    const { log } = activity((line) => lines.push(line));
    log.with({ cluster: 'c' }).error('failed', { key: 'k' }, new Error('why'));
    assert.deepEqual(JSON.parse(lines[0] ?? '{}'), {
      at: '12:00:00',
      level: 'error',
      message: 'failed',
      cluster: 'c',
      key: 'k',
      cause: 'why',
    });
  });
});
