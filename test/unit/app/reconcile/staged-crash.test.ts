/**
 * A staged rollout whose runs die before or after any write: between the record of a step and its intents, between these and the
 * deletes, before what came of them is recorded. A step is open with the intents that it allows, or not at all (ADR 0055), so the
 * rollout ends as without a crash, and no second node is touched before the soak.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Crash, crashAt } from '../../../support/crash-at-write.ts';
import type { ReconcileWorld } from '../../../support/reconcile-world.ts';
import { HOURS_MS, imageIn, images, stagedSetWorld } from '../../../support/staged-set-world.ts';

const TWO = 'example/agent:2';
const MINUTE_MS = 60_000;
/** One canary, a soak of ten minutes, two at once. */
const POLICY = 'canary: {nodes: 1}\nsoak: 10m\nmaxUnavailable: 2';

type Moment = 'before' | 'after';

/** Settles, although one of the runs dies: its hint is delivered again. True if one did. */
async function settleOver(made: ReconcileWorld, withinMs: number): Promise<boolean> {
  let hasCrashed = false;
  for (;;) {
    try {
      await made.settle({ withinMs });
      return hasCrashed;
    } catch (cause) {
      if (!(cause instanceof Crash)) throw cause;
      hasCrashed = true;
    }
  }
}

const updated = (made: ReconcileWorld): number =>
  made.pods.filter((pod) => imageIn(pod['spec']) === TWO).length;

async function playCrash(
  index: number,
  moment: Moment,
  step: 'canary' | 'group',
): Promise<boolean> {
  const made = stagedSetWorld({ policy: POLICY });
  await made.settle();
  if (step === 'canary') crashAt(made, index, moment);
  made.setImage(TWO);
  const hasCrashed = await settleOver(made, 5 * MINUTE_MS);
  const where = `${step}, ${moment} write ${index}`;
  assert.equal(updated(made), 1, `${where}: beyond the canary before its soak`);
  if (step === 'group') crashAt(made, index, moment);
  const hasCrashedLater = await settleOver(made, 2 * HOURS_MS);
  made.view.hooks = {};
  made.cluster.hooks = {};
  await made.settle({ withinMs: HOURS_MS });
  assert.deepEqual(images(made), Array<string>(6).fill(TWO), where);
  assert.deepEqual(made.cluster.violations, [], where);
  return hasCrashed || hasCrashedLater;
}

describe('a run of a staged rollout that dies at any write', () => {
  for (const step of ['canary', 'group'] as const) {
    for (const moment of ['before', 'after'] as const) {
      it(`leaves a rollout that ends, and no node beyond the canary before its soak (${step}, ${moment})`, async () => {
        let crashes = 0;
        for (let index = 1; index <= 8; index += 1) {
          if (!(await playCrash(index, moment, step))) break;
          crashes += 1;
        }
        assert.ok(crashes >= 6, `only ${crashes} crashes`);
      });
    }
  }
});
