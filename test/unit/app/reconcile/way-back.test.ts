/**
 * The way back through whole runs: a release passed all its steps and is found bad afterwards, with a person and a window before each step.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { applyOrder } from '../../../../src/core/stages/apply-order.ts';
import type { RolloutOrder } from '../../../../src/core/rollout/orders.ts';
import type { ReconcileWorld } from '../../../support/reconcile-world.ts';
import { images, ready, stagedSetWorld } from '../../../support/staged-set-world.ts';

const OPEN = 'canary: {nodes: 1}\nsoak: 10m\nmaxUnavailable: 2';
const GOOD = 'example/agent:1';
const BAD = 'example/agent:2';
const MODES = ['takeover', 'copilot'] as const;

function setPolicy(made: ReconcileWorld, policy: string): void {
  made.change(({ metadata }) => ({
    metadata: { ...metadata, annotations: { 'rollcall.dev/rollout': policy } },
  }));
}

/** No window of this policy is open now, or tomorrow. */
function closed(made: ReconcileWorld): string {
  const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
  const day = days[(new Date(made.clock.nowMs()).getUTCDay() + 3) % 7] ?? 'sun';
  return `${OPEN}\napproval: each-step\nwindow: {days: [${day}], timeZone: UTC}`;
}

/** All six nodes run the bad release; what comes next needs approvals, and a window that is closed. */
async function allBad(mode: (typeof MODES)[number], more = ''): Promise<ReconcileWorld> {
  const made = stagedSetWorld({ mode, policy: `${OPEN}${more}` });
  await made.settle();
  made.setImage(BAD);
  await made.settle({ withinMs: 3_600_000 });
  assert.deepEqual(new Set(images(made)), new Set([BAD]));
  setPolicy(made, `${closed(made)}${more}`);
  await made.settle();
  return made;
}

async function order(made: ReconcileWorld, given: RolloutOrder): Promise<void> {
  const state = await made.view.readState(made.ref);
  assert.ok(state?.rollout);
  const note = { by: 'mira', atMs: made.clock.nowMs() };
  const result = applyOrder(state.rollout, given, note);
  assert.equal(result.kind, 'changed', JSON.stringify(result));
  const { memo: _void, ...rest } = state;
  if (result.kind === 'changed') {
    await made.view.writeState(made.ref, { ...rest, rollout: result.record });
  }
}

async function undo(made: ReconcileWorld): Promise<void> {
  const { hash, former } = await made.rollout();
  const undo = { kind: 'undo', release: hash, to: former?.hash ?? '' } as const;
  const isForPerson = made.registration.mode !== 'takeover';
  await order(made, isForPerson ? { ...undo, via: 'template' } : undo);
}

const count = (made: ReconcileWorld, image: string): number =>
  images(made).filter((each) => each === image).length;

async function join(made: ReconcileWorld, name: string): Promise<void> {
  made.addNode(name);
  ready(made, name);
  await made.step();
  made.runKubelets();
}

for (const mode of MODES) {
  describe(`the way back in ${mode}`, () => {
    it('takes a revert to all nodes at once, whatever approval and window say', async () => {
      const made = await allBad(mode);
      made.setImage(GOOD);
      await made.settle({ withinMs: 120_000 });
      assert.equal(count(made, GOOD), 6);
      assert.equal((await made.rollout()).isReturn, true);
    });

    it('gives a node that joins in the middle the good release', async () => {
      const made = await allBad(mode);
      made.setImage(GOOD);
      await made.step();
      await join(made, 'node-0007');
      await made.settle({ withinMs: 120_000 });
      assert.equal(count(made, GOOD), 7);
    });

    it('goes on to all nodes when a revert follows an undo', async () => {
      const made = await allBad(mode);
      await undo(made);
      await made.step();
      made.setImage(GOOD);
      await made.step();
      await join(made, 'node-0007');
      await made.settle({ withinMs: 120_000 });
      assert.equal(count(made, GOOD), 7);
    });

    it('holds the release that was undone when it is applied again', async () => {
      const made = await allBad(mode);
      await undo(made);
      made.setImage(GOOD);
      await made.settle({ withinMs: 120_000 });
      made.setImage(BAD);
      await made.settle({ withinMs: 7_200_000 });
      const { breach } = await made.rollout();
      assert.equal(breach?.cause, 'KnownBad');
      assert.match(breach.message, /was undone before/);
      assert.equal(count(made, GOOD), 6);
    });

    it('tries a release that was left for an older good one on a canary: A, B, A, B', async () => {
      const made = await allBad(mode);
      made.setImage(GOOD);
      await made.settle({ withinMs: 120_000 });
      made.setImage(BAD);
      await made.settle({ withinMs: 7_200_000 });
      assert.equal(count(made, BAD), mode === 'takeover' ? 0 : 0);
      setPolicy(made, OPEN);
      await made.settle({ withinMs: 60_000 });
      assert.equal(count(made, BAD), 1);
      assert.equal((await made.rollout()).step.kind, 'canary');
    });

    it('is held by a pause, and keeps its gates where the policy says returns: staged', async () => {
      const made = await allBad(mode);
      setPolicy(made, `${closed(made)}\npaused: true`);
      made.setImage(GOOD);
      await made.settle({ withinMs: 120_000 });
      assert.equal(count(made, GOOD), 0);
      const staged = await allBad(mode, '\nreturns: staged');
      staged.setImage(GOOD);
      await staged.settle({ withinMs: 7_200_000 });
      assert.ok(count(staged, GOOD) <= 1);
      if (mode === 'copilot') return;
      await join(staged, 'node-0007');
      await staged.settle({ withinMs: 120_000 });
      assert.ok(count(staged, GOOD) > 0, 'a joining node gets what the template says');
    });

    it('is a return also where the revision of the good template was trimmed and came again', async () => {
      const made = await allBad(mode);
      const { former } = await made.rollout();
      const trimmed = made.cluster
        .list('controllerrevisions')
        .filter(({ metadata }) => metadata.labels?.['controller-revision-hash'] === former?.hash);
      assert.equal(trimmed.length, 1);
      for (const { metadata } of trimmed) {
        made.cluster.remove('controllerrevisions', metadata.name, 'system');
      }
      await made.step();
      made.setImage(GOOD);
      await made.settle({ withinMs: 120_000 });
      assert.equal(count(made, GOOD), 6);
    });
  });
}
