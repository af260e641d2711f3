/**
 * The first release of a DaemonSet: it is made on all nodes at once, and what there is to go back to once it runs.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import { node } from '../../../support/core-fixtures.ts';
import { StagedWorld, policy, type Behaviour } from '../../../support/staged-world.ts';

const MINUTE_MS = 60_000;
const FIRST = 'bbbb';
const FIX = 'cccc';

/** Eight nodes on which nothing ran. */
function firstCreate(mode: 'copilot' | 'takeover', behaviour: Behaviour): StagedWorld {
  const nodes = Array.from({ length: 8 }, (_each, index) => node(`n${String(index)}`));
  const staged = policy({ soakMs: 5 * MINUTE_MS, maxUnavailable: { kind: 'count', count: 2 } });
  const made = new StagedWorld({ nodes, policy: staged, mode });
  made.pods.clear();
  made.record = undefined;
  made.hash = FIRST;
  made.behaviours.set(FIRST, behaviour);
  made.tick(1000);
  return made;
}

const NO_PLACE: Behaviour = { hasNoPlace: () => true };

/** Eight seconds of each minute. */
function exitsAgain(startedMs: number): Behaviour {
  return {
    ready: (ageMs) => {
      const runMs = Math.floor(ageMs / MINUTE_MS) * MINUTE_MS;
      return { isReady: ageMs - runMs < 8000, sinceMs: startedMs + runMs };
    },
    trouble: (ageMs) => ({ restarts: Math.floor(ageMs / MINUTE_MS) }),
  };
}

const isNothing = ({ record }: StagedWorld): boolean =>
  record !== undefined && record.proven === undefined && record.good.length === 0;

for (const mode of ['copilot', 'takeover'] as const) {
  describe(`a first release (${mode})`, () => {
    it('is made on all nodes at once', () => {
      assert.equal(firstCreate(mode, {}).count(FIRST), 8);
    });

    it('is no baseline while none of its pods is available', () => {
      const made = firstCreate(mode, NO_PLACE);
      assert.ok(!made.until(() => !isNothing(made)));
    });

    it('is no baseline while its pods exit again and again', () => {
      const made = firstCreate(mode, {});
      made.behaviours.set(FIRST, exitsAgain(made.nowMs));
      assert.ok(!made.until(() => !isNothing(made), { stepMs: 4000 }));
    });

    it('is the baseline, and good, once its pods have been available for the soak', () => {
      const made = firstCreate(mode, {});
      made.tick(MINUTE_MS);
      assert.ok(isNothing(made));
      const lookMs = made.plan?.dueAtMs ?? 0;
      made.tick(lookMs - made.nowMs);
      const { proven, good } = made.record ?? {};
      assert.deepEqual([proven?.hash, proven?.isBaseline], [FIRST, true]);
      assert.deepEqual(
        good?.map(({ hash }) => hash),
        [FIRST],
      );
    });

    it('is proven by no view that is too old, and looked at again', () => {
      const made = firstCreate(mode, {});
      made.tick(MINUTE_MS);
      made.isViewFresh = false;
      made.tick(10 * MINUTE_MS);
      assert.ok(isNothing(made));
      made.isViewFresh = true;
      const lookMs = made.plan?.dueAtMs ?? 0;
      assert.ok(lookMs > made.nowMs);
      made.tick(lookMs - made.nowMs);
      assert.equal(made.record?.proven?.hash, FIRST);
    });

    it('is the baseline although two nodes have no place for it, and not where half have none', () => {
      const provenOn = (count: number): string | undefined => {
        const names = ['n0', 'n1', 'n2', 'n3'].slice(0, count).map(nodeName);
        const made = firstCreate(mode, { hasNoPlace: (name) => names.includes(name) });
        made.until(() => false, { maxMs: 20 * MINUTE_MS });
        return made.record?.proven?.hash;
      };
      assert.deepEqual([provenOn(2), provenOn(4)], [FIRST, undefined]);
    });

    it('is the baseline although nodes join for ever, and not by those that joined', () => {
      const provenBy = (joining: number, behaviour: Behaviour = {}): string | undefined => {
        const made = firstCreate(mode, behaviour);
        for (let minute = 0; minute < 60; minute += 1) {
          for (let each = 0; each < joining; each += 1) {
            const name = nodeName(`j${String(minute)}-${String(each)}`);
            made.setNode(name, { createdAtMs: made.nowMs });
          }
          made.tick(MINUTE_MS);
          if (made.record?.proven !== undefined) return `minute ${String(minute + 1)}`;
        }
        return undefined;
      };
      const only = (first: string): Behaviour => ({
        hasNoPlace: (name) => !name.startsWith(first),
      });
      assert.deepEqual([provenBy(1), provenBy(10)], ['minute 6', 'minute 6']);
      assert.deepEqual([provenBy(1, only('n')), provenBy(1, only('j'))], ['minute 6', undefined]);
    });

    it('is the baseline of a cluster whose nodes are all new', () => {
      const made = firstCreate(mode, {});
      for (const { name } of made.nodes.values()) made.setNode(name, { createdAtMs: made.nowMs });
      made.until(() => false, { maxMs: 7 * MINUTE_MS });
      assert.equal(made.record?.proven?.hash, FIRST);
    });

    it('is looked at again while its policy pauses it', () => {
      const made = firstCreate(mode, {});
      made.policy = { ...made.policy, isPaused: true };
      made.tick(MINUTE_MS);
      const lookMs = made.plan?.dueAtMs ?? 0;
      assert.ok(lookMs > made.nowMs);
      made.tick(lookMs - made.nowMs);
      assert.equal(made.record?.proven?.hash, FIRST);
    });

    for (const [how, ails] of [
      ['has no place anywhere', () => NO_PLACE],
      ['exits again and again', exitsAgain],
      ['never gets ready', () => ({ readyAfterMs: Infinity })],
    ] as const) {
      it(`that ${how} holds up no second one, and is never gone back to`, () => {
        const made = firstCreate(mode, {});
        made.behaviours.set(FIRST, ails(made.nowMs));
        made.until(() => false, { maxMs: 30 * MINUTE_MS });
        made.hash = FIX;
        made.tick(1000);
        assert.equal(made.record?.former, undefined);
        assert.ok(made.count(FIX) < 8, 'its canary comes first');
        assert.ok(made.until(() => made.record?.good[0]?.hash === FIX));
        assert.equal(made.count(FIX), 8);
        assert.deepEqual(made.made.filter((each) => each.endsWith(FIRST)).length, 8);
      });

      it(`that ${how} is not gone back to from a second one that is bad, and holds up no third one`, () => {
        const made = firstCreate(mode, {});
        made.behaviours.set(FIRST, ails(made.nowMs));
        made.until(() => false, { maxMs: 30 * MINUTE_MS });
        made.policy = { ...made.policy, onHalt: 'rollback' };
        made.behaviours.set(FIX, { trouble: () => ({ waiting: 'ImagePullBackOff' }) });
        made.hash = FIX;
        assert.ok(made.until(() => made.record?.breach !== undefined));
        made.until(() => false, { maxMs: 30 * MINUTE_MS });
        assert.deepEqual(made.made.filter((each) => each.endsWith(FIRST)).length, 8);
        made.hash = 'dddd';
        assert.ok(made.until(() => made.record?.good[0]?.hash === 'dddd'));
        assert.equal(made.count('dddd'), 8);
      });
    }
  });
}

describe('what runs when a policy is first seen', () => {
  it('is the baseline at once where it has run for the soak', () => {
    const nodes = [node('n0'), node('n1')];
    const made = new StagedWorld({ nodes, policy: policy({ soakMs: 5 * MINUTE_MS }) });
    assert.equal(made.record?.proven?.hash, 'aaaa');
  });
});
