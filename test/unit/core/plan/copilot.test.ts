/** What is left of a plan beside the built-in controller: deletes of a rolling update under OnDelete, and Events. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { keepForCopilot } from '../../../../src/core/plan/copilot.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import type { DeleteReason, Plan, PlannedDelete } from '../../../../src/core/model/plan.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import {
  context,
  daemonSet,
  deleteIntent,
  failedPod,
  namedPod,
  node,
  NOW_MS,
  pod,
  revision,
  state,
  view,
} from '../../../support/core-fixtures.ts';
import type { ViewOptions } from '../../../support/core-fixtures.ts';

const annotations = { 'rollcall.dev/rollout': 'soak: 1m' };
const FOLLOWED = daemonSet({
  spec: { updateStrategy: { type: 'OnDelete' } },
  metadata: { annotations },
});
const ROLLING = daemonSet({ metadata: { annotations } });
const PLAIN = daemonSet({ spec: { updateStrategy: { type: 'OnDelete' } } });

const plan = (options: ViewOptions, change: Parameters<typeof context>[0] = {}): Plan =>
  planReconcile(view(options), context({ mode: 'copilot', ...change }));

/** A world in which a controller has everything to do. */
const BUSY: ViewOptions = {
  nodes: ['n1', 'n2', 'n3', 'n4'].map((name) => node(name)),
  pods: [
    failedPod('n1'),
    namedPod('n2', 'orphan', { ownerUid: null }),
    namedPod('n2', 'released', { labels: { app: 'other' } }),
    namedPod('n2', 'duplicate', { createdAtMs: NOW_MS }),
    pod('n4', { labels: { app: 'agent', 'controller-revision-hash': 'old' } }),
  ],
  revisions: [revision(1), revision(2)],
};

const deleteFor = (reason: DeleteReason, repeats?: PlannedDelete['repeats']): PlannedDelete => {
  const { name, uid, resourceVersion } = pod('n1');
  const again = repeats === undefined ? {} : { repeats };
  return { name, uid, resourceVersion, reason, isAvailable: true, ...again };
};

const NOTHING = { creates: [], adopts: [], releases: [], trims: [], status: undefined };

describe('a plan beside the built-in controller', () => {
  for (const set of [FOLLOWED, ROLLING, PLAIN]) {
    it('leaves pods, claims, history and status to it', () => {
      const made = plan({ ...BUSY, daemonSet: set });
      const { creates, adopts, releases, trims, status } = made;
      assert.deepEqual({ creates, adopts, releases, trims, status }, NOTHING);
      assert.deepEqual(made.deletes, []);
      assert.deepEqual(made.events, [], 'nothing is told of deletes that are not ours');
      assert.deepEqual(made.backoff, []);
      assert.equal(made.cappedCount, 0);
    });
  }

  it('says on each node what the built-in controller is to do', () => {
    const verdicts = plan({ ...BUSY, daemonSet: FOLLOWED }).verdicts();
    const codes = verdicts.map(({ code }) => code);
    assert.deepEqual(codes, ['LeftToBuiltIn', 'LeftToBuiltIn', 'LeftToBuiltIn', 'Outdated']);
    assert.match(verdicts[0]?.message ?? '', /built-in controller is to delete pod .* \(failed\)/);
    assert.match(verdicts[2]?.message ?? '', /built-in controller is to make its pod/);
  });

  it('says on each node that needs a change why Rollcall only observes', () => {
    const message = 'only observed';
    const guard = { kind: 'observe', code: 'rolling-update', message } as const;
    const old = pod('n1', { labels: { app: 'agent', 'controller-revision-hash': 'old' } });
    const made = plan({ daemonSet: ROLLING, nodes: [node('n1')], pods: [old] }, { guard });
    assert.match(made.verdicts()[0]?.message ?? '', /needs a change, which waits: only observed/);
    assert.equal(made.dueAtMs, undefined, 'no timer');
  });

  it('repeats no delete of a takeover before', () => {
    const victim = failedPod('n1');
    const intents = [deleteIntent(victim)];
    const made = plan(
      { daemonSet: FOLLOWED, nodes: [node('n1')], pods: [victim] },
      { state: state({ intents }) },
    );
    assert.deepEqual(made.deletes, []);
  });
});

describe('what is kept of deletes', () => {
  const whole = plan({ daemonSet: FOLLOWED });
  const kept = (deletes: readonly PlannedDelete[], of: DaemonSetObject): readonly unknown[] =>
    keepForCopilot({ ...whole, deletes }, of).deletes;

  it('is the rolling update of a DaemonSet that opted in under OnDelete, first time or again', () => {
    const wanted = [deleteFor('outdated'), deleteFor('repeat', 'outdated')];
    assert.deepEqual(kept(wanted, FOLLOWED), wanted);
    assert.deepEqual(kept(wanted, ROLLING), []);
    assert.deepEqual(kept(wanted, PLAIN), []);
  });

  it('is nothing else, for whatever reason', () => {
    const others = ['failed', 'succeeded', 'duplicate', 'not-wanted', 'node-gone'] as const;
    const surging = ['replaced', 'vacated'] as const;
    fc.assert(
      fc.property(fc.constantFrom(...others, ...surging), fc.boolean(), (reason, isRepeat) => {
        const one = isRepeat ? deleteFor('repeat', reason) : deleteFor(reason);
        assert.deepEqual(kept([one], FOLLOWED), []);
      }),
    );
  });

  it('leaves Events and the due time of one that is followed', () => {
    const event = { type: 'Warning', reason: 'RolloutHalted', message: 'x' } as const;
    const told = keepForCopilot({ ...whole, events: [event], dueAtMs: 5 }, FOLLOWED);
    assert.deepEqual(told.events, [event]);
    assert.equal(told.dueAtMs, 5);
    assert.equal(keepForCopilot({ ...whole, dueAtMs: 5 }, PLAIN).dueAtMs, undefined);
  });
});
