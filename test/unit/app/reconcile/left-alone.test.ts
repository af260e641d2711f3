/** L5: an API server that answers 429 says when to come again; no look of the key comes sooner, whatever was asked of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

const ASKED_MS = 20_000;
const REFUSED = {
  kind: 'unavailable',
  message: '429',
  isRefused: false,
  retryAfterMs: ASKED_MS,
} as const;

describe('a key whose request is refused with Retry-After', () => {
  for (const what of ['LIST daemonsets', 'LIST pods', 'LIST controllerrevisions']) {
    it(`L5: is not looked at before, when it was ${what}`, async () => {
      const world = new ReconcileWorld({ nodes: 2 });
      await world.mirror.sync();
      let refusals = 0;
      world.cluster.hooks.onRead = (asked) => {
        if (asked !== what) return undefined;
        refusals += 1;
        return REFUSED;
      };
      const result = await world.run();
      assert.ok(refusals > 0, 'nothing was refused');
      assert.ok(result.kind === 'deferred', result.kind);
      assert.ok(result.nextLookAtMs >= world.clock.nowMs() + ASKED_MS, String(result.nextLookAtMs));
      const due = world.queue.timers.map(({ dueAtMs }) => dueAtMs);
      assert.ok(due.length > 0 && due.every((atMs) => atMs >= world.clock.nowMs() + ASKED_MS));
    });
  }
});
