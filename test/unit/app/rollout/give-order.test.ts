/** Orders on the stored state: by compare-and-set, bounded, and the key is woken (issue 17). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defined } from '@rollcall/base/defined.ts';
import { createPolicyReader } from '../../../../src/adapters/policy/policy-reader.ts';
import { giveOrder, type OrderRequest } from '../../../../src/app/rollout/give-order.ts';
import { ORDER_WRITES_MAX } from '../../../../src/app/orders/keep-order.ts';
import type { RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import type { DaemonSetState, Memo } from '../../../../src/core/model/state.ts';
import { MemoryFreezeStore } from '../../../support/memory-freeze-store.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import { breachOf, recordOf, stepOf } from '../../../support/rollout-records.ts';
import { agentOf, agentRef, storeRollout } from '../../../support/rollout-stores.ts';
import type { StoredRollout } from '../../../support/rollout-stores.ts';
import { noHolder } from '../../../support/rollout-stores.ts';

const APPROVED_FIRST = 'approval: after-canary\nsoak: 10m';
const SOAKED_LONG_AGO = recordOf({ step: stepOf({ wellSinceMs: 1 }) });

class Theatre {
  readonly world = new CommandWorld();
  readonly stores = this.world.stores();
  /** Called before each write of a state: somebody else. */
  beforeWrite: () => Promise<unknown> = () => Promise.resolve();
  writes = 0;

  static async with(options: StoredRollout = {}): Promise<Theatre> {
    const theatre = new Theatre();
    await storeRollout(theatre.stores, options);
    return theatre;
  }

  give(
    ask: OrderRequest['ask'],
    by = 'ann',
    undoCommand?: OrderRequest['undoCommand'],
  ): ReturnType<typeof giveOrder> {
    const { registry, view, hints } = this.stores;
    const { clock, random } = this.world;
    const policies = createPolicyReader();
    const writing = {
      readMeta: view.readMeta.bind(view),
      readName: view.readName.bind(view),
      listNames: view.listNames.bind(view),
      readPosition: view.readPosition.bind(view),
      readDaemonSet: view.readDaemonSet.bind(view),
      readSlice: view.readSlice.bind(view),
      readOlderTombstones: view.readOlderTombstones.bind(view),
      readState: view.readState.bind(view),
      writeState: async (...write: Parameters<typeof view.writeState>) => {
        this.writes += 1;
        await this.beforeWrite();
        return view.writeState(...write);
      },
    };
    const request = { key: agentOf(), by, ask, ...defined({ undoCommand }) };
    const freezes = new MemoryFreezeStore();
    const readers = { registry, freezes, view: writing, policies, holderOf: noHolder };
    return giveOrder(request, { ...readers, hints, clock, random });
  }

  async state(): Promise<DaemonSetState> {
    const state = await this.stores.view.readState(agentRef());
    assert.ok(state !== undefined);
    return state;
  }

  /** Somebody else's write. */
  async change(change: (state: DaemonSetState) => DaemonSetState): Promise<void> {
    assert.equal(
      await this.stores.view.writeState(agentRef(), change(await this.state())),
      'written',
    );
  }

  get hintCount(): number {
    return this.stores.hints.hints.length;
  }
}

function withRecord(change: Partial<RolloutRecord>) {
  return (state: DaemonSetState): DaemonSetState => ({
    ...state,
    rollout: { ...(state.rollout ?? recordOf()), ...change },
  });
}

const code = (outcome: Awaited<ReturnType<typeof giveOrder>>): string =>
  outcome.kind === 'refused' ? outcome.code : outcome.kind;

describe('giving an order', () => {
  it('edits the record, drops the memo, and wakes the key', async () => {
    const memo = { era: 1 } as Memo;
    const theatre = await Theatre.with({ state: { memo } });
    assert.deepEqual(await theatre.give({ kind: 'pause' }), { kind: 'given' });
    const { rollout, memo: left } = await theatre.state();
    assert.equal(rollout?.orders.paused?.by, 'ann');
    assert.equal(left, undefined, 'the run that is woken would skip');
    const [hint] = theatre.stores.hints.hints;
    assert.deepEqual(hint?.key, agentOf());
    assert.equal(hint.reason, 'manual');
  });

  it('wakes the key also where it stood so already: who gave it may have died before', async () => {
    const theatre = await Theatre.with({
      record: recordOf({ orders: { paused: { by: 'bob', atMs: 5 } } }),
    });
    const outcome = await theatre.give({ kind: 'pause' });
    assert.deepEqual(outcome, { kind: 'unchanged', since: { by: 'bob', atMs: 5 } });
    assert.equal(theatre.writes, 0);
    assert.equal(theatre.hintCount, 1);
  });

  it('applies the order to what it finds when somebody else was faster', async () => {
    const theatre = await Theatre.with();
    theatre.beforeWrite = async () => {
      if (theatre.writes === 1) await theatre.change(withRecord({ restarts: 7 }));
    };
    assert.equal(code(await theatre.give({ kind: 'pause' })), 'given');
    const { rollout } = await theatre.state();
    assert.equal(rollout?.restarts, 7);
    assert.equal(rollout.orders.paused?.by, 'ann');
  });

  it('gives up after so many tries, having changed nothing', async () => {
    const theatre = await Theatre.with();
    theatre.beforeWrite = () => theatre.change((state) => state);
    assert.equal(code(await theatre.give({ kind: 'pause' })), 'busy');
    assert.equal(theatre.writes, ORDER_WRITES_MAX);
    assert.equal((await theatre.state()).rollout?.orders.paused, undefined);
    assert.equal(theatre.hintCount, 0);
  });

  it('overrules no breach that came while it was given', async () => {
    const theatre = await Theatre.with({ record: recordOf({ breach: breachOf() }) });
    theatre.beforeWrite = async () => {
      if (theatre.writes > 1) return;
      await theatre.change(withRecord({ breach: breachOf({ atMs: breachOf().atMs + 1 }) }));
    };
    assert.equal(code(await theatre.give({ kind: 'resume', overrules: 'seen' })), 'changed');
    assert.ok((await theatre.state()).rollout?.breach !== undefined);
  });

  it('takes back no undo that came while a pause was lifted', async () => {
    const paused = { by: 'bob', atMs: 5 };
    const theatre = await Theatre.with({ record: recordOf({ orders: { paused } }) });
    theatre.beforeWrite = async () => {
      if (theatre.writes === 1) await theatre.give({ kind: 'undo' }, 'bob');
    };
    assert.equal(code(await theatre.give({ kind: 'resume' })), 'changed');
    assert.equal((await theatre.state()).rollout?.orders.undo?.by, 'bob');
  });

  it('approves one step when two people approve at once', async () => {
    const theatre = await Theatre.with({ policy: APPROVED_FIRST, record: SOAKED_LONG_AGO });
    theatre.beforeWrite = async () => {
      if (theatre.writes === 1) await theatre.give({ kind: 'approve' }, 'bob');
    };
    assert.equal(code(await theatre.give({ kind: 'approve' })), 'unchanged');
    const { approved } = (await theatre.state()).rollout?.orders ?? {};
    assert.deepEqual([approved?.by, approved?.stepIndex], ['bob', 1]);
    assert.equal(code(await theatre.give({ kind: 'approve' })), 'unchanged');
  });
});

describe('confirming a mass removal', () => {
  const held = { token: 'x7', heldAtMs: 1, pods: 12, basePods: 50, cause: 'nodes lost a label' };
  const shrink = { placement: 1, held };

  it('names what was held at the first look, once, and needs no policy', async () => {
    const theatre = await Theatre.with({ policy: null, record: null, state: { shrink } });
    assert.equal(code(await theatre.give({ kind: 'confirm' })), 'given');
    const { order } = (await theatre.state()).shrink ?? {};
    assert.deepEqual([order?.token, order?.by], ['x7', 'ann']);
    assert.equal(theatre.hintCount, 1);
    assert.equal(code(await theatre.give({ kind: 'confirm' }, 'bob')), 'unchanged');
    assert.equal((await theatre.state()).shrink?.order?.by, 'ann');
  });

  it('confirms no other one that came meanwhile', async () => {
    const theatre = await Theatre.with({ state: { shrink } });
    theatre.beforeWrite = async () => {
      if (theatre.writes > 1) return;
      const other = { ...shrink, held: { ...held, token: 'y8' } };
      await theatre.change((state) => ({ ...state, shrink: other }));
    };
    assert.equal(code(await theatre.give({ kind: 'confirm' })), 'changed');
    assert.equal((await theatre.state()).shrink?.order, undefined);
  });

  it('is refused where Rollcall holds nothing, and only told of it', async () => {
    const registration = { mode: 'observe' } as const;
    const theatre = await Theatre.with({ registration, state: { shrink } });
    assert.equal(code(await theatre.give({ kind: 'confirm' })), 'nothing-held');
  });
});

describe('an order that cannot be given', () => {
  const refusals: readonly (readonly [string, OrderRequest['ask'], StoredRollout, string])[] = [
    ['no policy', { kind: 'pause' }, { policy: null, record: null }, 'no-policy'],
    ['a policy that went', { kind: 'pause' }, { policy: null }, 'no-policy'],
    ['no rollout yet', { kind: 'pause' }, { record: null }, 'no-rollout'],
    [
      'a cluster that is observed',
      { kind: 'pause' },
      { registration: { mode: 'observe' } },
      'observed',
    ],
    ['no step that needs approval', { kind: 'approve' }, {}, 'nothing-waits'],
    [
      'a soak that goes on',
      { kind: 'approve' },
      {
        policy: APPROVED_FIRST,
        record: recordOf({ step: stepOf({ wellSinceMs: Date.UTC(2100, 0) }) }),
      },
      'nothing-waits',
    ],
    [
      'a breach',
      { kind: 'approve' },
      { policy: APPROVED_FIRST, record: recordOf({ breach: breachOf() }) },
      'halted',
    ],
    ['a pause of the policy', { kind: 'resume' }, { policy: 'paused: true' }, 'paused-by-policy'],
    ['nothing that is held', { kind: 'resume' }, {}, 'not-held'],
    ['the good revision', { kind: 'undo' }, { record: recordOf({ hash: 'old' }) }, 'runs-good'],
    ['no mass removal', { kind: 'confirm' }, {}, 'nothing-held'],
  ];
  for (const [what, ask, options, expected] of refusals) {
    it(`is refused for ${what}, and changes nothing`, async () => {
      const theatre = await Theatre.with(options);
      const before = await theatre.state();
      const outcome = await theatre.give(ask);
      assert.equal(code(outcome), expected);
      assert.ok(outcome.kind === 'refused' && outcome.message !== '' && outcome.remedy !== '');
      assert.deepEqual(await theatre.state(), before);
      assert.equal(theatre.hintCount, 0);
    });
  }

  it('names the step that can be approved ahead of its soak', async () => {
    const record = recordOf({ step: stepOf({ wellSinceMs: Date.UTC(2100, 0) }) });
    const theatre = await Theatre.with({ policy: APPROVED_FIRST, record });
    const outcome = await theatre.give({ kind: 'approve' });
    assert.match(outcome.kind === 'refused' ? outcome.remedy : '', /--step 1$/);
    assert.equal(code(await theatre.give({ kind: 'approve', stepIndex: 1 })), 'given');
    assert.equal(code(await theatre.give({ kind: 'approve', stepIndex: 2 })), 'nothing-waits');
  });

  it('says the command where the way back is a person’s', async () => {
    const theatre = await Theatre.with({ registration: { mode: 'copilot' } });
    const command = (): Promise<string> => Promise.resolve('kubectl rollout undo');
    const outcome = await theatre.give({ kind: 'undo' }, 'ann', command);
    assert.equal(code(outcome), 'no-right');
    assert.equal(
      outcome.kind === 'refused' && outcome.remedy,
      'Go back with: kubectl rollout undo',
    );
  });
});
