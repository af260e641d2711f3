/** Which change wakes which waiting pod, and when. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WaitingPods } from '../../../../../src/local/kubernetes/scheduler/waiting-pods.ts';

const anywhere = { pinnedTo: undefined, waitsForRoom: true, nowMs: 0 };

describe('waiting pods', () => {
  it('come back after one second, doubling to ten', () => {
    const pods = new WaitingPods();
    for (const delayMs of [1000, 2000, 4000, 8000, 10_000, 10_000]) {
      assert.equal(pods.add('a', anywhere).delayMs, 300_000);
      assert.deepEqual(pods.onNode('n', 0), [{ key: 'a', delayMs }]);
    }
    pods.forget('a');
    assert.deepEqual(pods.onNode('n', 0), []);
    pods.add('a', anywhere);
    assert.deepEqual(pods.onNode('n', 400), [{ key: 'a', delayMs: 600 }]);
  });

  it('come back at once when their back-off is over', () => {
    const pods = new WaitingPods();
    pods.add('a', anywhere);
    assert.deepEqual(pods.onNode('n', 5000), [{ key: 'a', delayMs: 0 }]);
  });

  it('are left alone by nodes that they cannot go to', () => {
    const pods = new WaitingPods();
    pods.add('pinned', { ...anywhere, pinnedTo: new Set(['mine']) });
    assert.deepEqual(pods.onNode('other', 0), []);
    assert.equal(pods.onNode('mine', 0).length, 1);
    pods.add('pinned', { ...anywhere, pinnedTo: new Set(['new']) });
    assert.deepEqual(pods.onNode('mine', 0), []);
  });

  it('are woken by the end of a pod only if they want its room', () => {
    const pods = new WaitingPods();
    pods.add('tainted', { ...anywhere, waitsForRoom: false });
    pods.add('big', anywhere);
    assert.deepEqual(
      pods.onRoom('n', 0).map(({ key }) => key),
      ['big'],
    );
    assert.equal(pods.onNode('n', 0).length, 2);
  });
});
