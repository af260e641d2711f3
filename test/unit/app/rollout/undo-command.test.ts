/** The command back, out of a view that others write at that moment (issue 17). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPolicyReader } from '../../../../src/adapters/policy/policy-reader.ts';
import { findRollout } from '../../../../src/app/rollout/find-rollout.ts';
import { undoCommand } from '../../../../src/app/rollout/undo-command.ts';
import { defaultReconcileOptions } from '../../../../src/app/reconcile/process/dependencies.ts';
import { createProcessCache } from '../../../../src/app/reconcile/process/process-cache.ts';
import type { Slice } from '../../../../src/core/model/view-items.ts';
import { MemoryFreezeStore } from '../../../support/memory-freeze-store.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import { revision } from '../../../support/core-fixtures.ts';
import { recordOf } from '../../../support/rollout-records.ts';
import { agentOf, agentRef, storeRollout, noHolder } from '../../../support/rollout-stores.ts';
import { stampAt } from '../../../support/store-suite.ts';

const BACK = 'kubectl --namespace ops rollout undo daemonset/agent --to-revision=7';
const PROVEN = recordOf().proven?.hash ?? recordOf().former?.hash ?? '';

/** The command, where so many reads of the revisions meet a slice that is newer than what was known before it was read. */
async function commandAfter(movingReads: number): Promise<{ command?: string; reads: number }> {
  const { registry, view } = new CommandWorld().stores();
  await storeRollout({ registry, view }, { registration: { mode: 'copilot' } });
  const { clusterUid, uid } = agentRef();
  const labels = { 'controller-revision-hash': PROVEN };
  const object = revision(7, { ownerUid: uid, labels });
  const set = `revisions/${uid}` as const;
  await view.writeSlice(
    { clusterUid, set, index: 0 },
    { stamp: stampAt(1), objects: [{ object, hash: 1 }] },
    undefined,
  );
  await view.writeSlice(
    { clusterUid, set: `pods/${uid}`, index: 0 },
    { stamp: stampAt(1), objects: [] },
    undefined,
  );
  await view.raisePosition(agentRef(), { podsChanged: stampAt(1), revisionsChanged: stampAt(1) });
  const meta = await view.readMeta(clusterUid);
  assert.ok(meta !== undefined);
  await view.writeMeta({ ...meta, seq: 9, nodesChanged: stampAt(1) });
  let reads = 0;
  const ahead = (slice: Slice | undefined): Slice | undefined =>
    slice && { ...slice, stamp: stampAt(2) };
  const read: typeof view.readSlice = async (ref) => {
    const slice = await view.readSlice(ref);
    if (ref.set !== set) return slice;
    reads += 1;
    return reads <= movingReads ? ahead(slice) : slice;
  };
  const moving = new Proxy(view, {
    get: (target, key): unknown => {
      if (key === 'readSlice') return read;
      const member: unknown = Reflect.get(target, key);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  const policies = createPolicyReader();
  const sources = {
    registry,
    freezes: new MemoryFreezeStore(),
    view: moving,
    policies,
    holderOf: noHolder,
  };
  const found = await findRollout(agentOf(), sources);
  assert.equal(found.kind, 'found');
  const command = await undoCommand(found, {
    ...sources,
    cache: createProcessCache(),
    options: defaultReconcileOptions,
    nowMs: 0,
  });
  return { ...(command === undefined ? {} : { command }), reads };
}

describe('undoCommand', () => {
  it('names the number of the good revision', async () => {
    assert.deepEqual(await commandAfter(0), { command: BACK, reads: 1 });
  });

  it('reads a view again that is being written', async () => {
    assert.deepEqual(await commandAfter(3), { command: BACK, reads: 4 });
  });

  it('gives up on one that does not hold still', async () => {
    assert.deepEqual(await commandAfter(100), { reads: 4 });
  });
});
