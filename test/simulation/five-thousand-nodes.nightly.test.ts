/**
 * Five thousand nodes on virtual time: a DaemonSet comes, and is rolled out once (14 A.8).
 *
 * `npm test` plays three hundred (row 60). At five thousand the view of the nodes has sixteen slices, each list of the
 * watcher ten pages, and a budget of a tenth is more than a burst.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageOf, podsOf, setImage } from '../support/simulation/look.ts';
import { WideObserver } from '../support/simulation/wide-observer.ts';
import { World } from '../support/simulation/world.ts';

const NODES = 5000;
const SETTLES_WITHIN_MS = 60 * 60_000;
/** Beside one create for each node, and in a rollout one delete: revisions and statuses, whatever the number of nodes. */
const STATUSES_MAX = 250;

test('S1, S3, S9, L1: five thousand nodes are served and rolled out, each by one create and one delete', async () => {
  const observer = new WideObserver();
  const nodes = Array.from({ length: NODES }, (_, index) => `n${String(index)}`);
  const world = await World.start({ nodes, observer });
  world.addDaemonSet('agent', {
    spec: {
      updateStrategy: {
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: '10%', maxSurge: 0 },
      },
    },
  });
  await world.settle(SETTLES_WITHIN_MS);
  assert.deepEqual([observer.made, observer.deleted], [NODES, 0]);
  assert.ok(observer.writes <= NODES + STATUSES_MAX, `${String(observer.writes)} writes`);

  const writes = observer.writes;
  observer.unavailableMax = NODES / 10;
  setImage(world, 'agent', 2);
  await world.settle(SETTLES_WITHIN_MS);
  assert.ok(podsOf(world, 'agent').every((pod) => imageOf(pod) === 'agent:2'));
  assert.deepEqual([observer.made, observer.deleted], [2 * NODES, NODES]);
  const more = observer.writes - writes;
  assert.ok(more <= 2 * NODES + STATUSES_MAX, `${String(more)} writes`);
  // The budget is used: a rollout that goes one by one would keep S3, and take a day.
  assert.ok(observer.mostUnavailable > NODES / 20, String(observer.mostUnavailable));
});
