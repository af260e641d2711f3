/** The current revision where the built-in controller keeps history: found, never made. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isBuiltInCurrent, newestRevision } from '../../../../src/core/history/history-match.ts';
import { uid } from '../../../../src/core/model/identifiers.ts';
import { daemonSet, revision } from '../../../support/core-fixtures.ts';
import { storedRevision } from '../../../support/stored-revision.ts';

const other = daemonSet({ podSpec: { containers: [{ name: 'main', image: 'agent:2' }] } });

describe('history that the built-in controller keeps', () => {
  it('names the owned revision with the highest number, by name on a tie', () => {
    const seen = [revision(2), revision(9, { ownerUid: uid('other') }), revision(7), revision(3)];
    assert.equal(newestRevision(daemonSet(), seen)?.name, 'agent-7');
    const twins = [revision(7, { name: 'b' }), revision(7, { name: 'a' })];
    assert.equal(newestRevision(daemonSet(), twins)?.name, 'b');
    assert.equal(newestRevision(daemonSet(), []), undefined);
  });

  it('takes the newest for current only if it is ours, labelled, and holds the template', () => {
    const set = daemonSet();
    assert.equal(isBuiltInCurrent(set, storedRevision('a'), undefined), true);
    assert.equal(isBuiltInCurrent(set, storedRevision('a', { of: other }), undefined), false);
    const unlabelled = storedRevision('a', { metadata: { labels: { app: 'agent' } } });
    assert.equal(isBuiltInCurrent(set, unlabelled, undefined), false, 'no pod can be told by it');
    const foreign = storedRevision('a', { metadata: { ownerReferences: [] } });
    assert.equal(isBuiltInCurrent(set, foreign, undefined), false);
  });
});
