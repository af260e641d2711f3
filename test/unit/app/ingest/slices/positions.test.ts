/** Positions in META and in items of their own (protocol 20, ADR 0076). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settlePositions } from '../../../../../src/app/ingest/slices/positions.ts';
import { defaultIngestOptions } from '../../../../../src/app/ingest/process/dependencies.ts';
import {
  clusterUid as asClusterUid,
  uid as asUid,
} from '../../../../../src/core/model/identifiers.ts';
import type { Epoch, Incarnation } from '../../../../../src/core/model/identifiers.ts';
import { ZERO_STAMP, stampOf, type Stamp } from '../../../../../src/core/model/position.ts';
import type { Positions } from '../../../../../src/core/model/view-items.ts';
import { IngestHarness } from '../../../../support/ingest-harness.ts';
import { MemoryViewStore } from '../../../../support/memory-view-store.ts';
import { ScriptedSender, daemonSetOf, nodeOf, podOf } from '../../../../support/scripted-sender.ts';

const clusterUid = asClusterUid('uid-of-c1');
const at = (seq: number): Stamp =>
  stampOf({ era: 1, epoch: '100' as Epoch, incarnation: 'i-100' as Incarnation, seq });
const pods = (name: string, seq: number) =>
  ({ set: `pods/${asUid(name)}`, stamp: at(seq) }) as const;
const positionAt = (podsSeq: number) => ({
  podsChanged: at(podsSeq),
  revisionsChanged: ZERO_STAMP,
});

function settle(
  { view, positionsMax = 2 }: { readonly view: MemoryViewStore; readonly positionsMax?: number },
  positions: Positions | undefined,
  slices: Parameters<typeof settlePositions>[1],
): Promise<Positions> {
  const options = { ...defaultIngestOptions, positionsMax };
  return settlePositions({ clusterUid, positions }, slices, { view, options });
}

const itemOf = (view: MemoryViewStore, name: string) =>
  view.readPosition({ clusterUid, uid: asUid(name) });

describe('the position of a DaemonSet', () => {
  it('enters META with the highest of its item and of what was touched, and leaves the item alone', async () => {
    const view = new MemoryViewStore();
    await view.raisePosition({ clusterUid, uid: asUid('a') }, { podsChanged: at(7) });
    const settled = await settle({ view }, undefined, [pods('a', 3), pods('b', 4), pods('b', 2)]);
    assert.deepEqual(settled, { a: positionAt(7), b: positionAt(4) });
    assert.deepEqual(await itemOf(view, 'a'), positionAt(7));
    assert.equal(await itemOf(view, 'b'), undefined);
  });

  it('never falls in META, whatever stands in the item by then', async () => {
    const view = new MemoryViewStore();
    const positions = { [asUid('a')]: positionAt(9) };
    assert.deepEqual(await settle({ view }, positions, [pods('a', 3)]), positions);
    assert.deepEqual(await settle({ view }, positions, [pods('a', 11)]), { a: positionAt(11) });
    assert.deepEqual(view.calls, [], 'and costs nothing');
  });

  it('has its own item, raised, where META has no room', async () => {
    const view = new MemoryViewStore();
    const full = { [asUid('a')]: positionAt(1), [asUid('b')]: positionAt(1) };
    const settled = await settle({ view }, full, [pods('c', 5), pods('a', 6)]);
    assert.deepEqual(settled, { a: positionAt(6) });
    assert.deepEqual(await itemOf(view, 'c'), positionAt(5));
    assert.deepEqual(await settle({ view, positionsMax: 0 }, {}, [pods('d', 5)]), {});
    assert.deepEqual(await itemOf(view, 'd'), positionAt(5));
  });

  it('is not made of nodes, nor of slices that do not exist', async () => {
    const view = new MemoryViewStore();
    const none = { set: `pods/${asUid('a')}`, stamp: ZERO_STAMP } as const;
    assert.deepEqual(await settle({ view }, {}, [{ set: 'nodes', stamp: at(5) }, none]), {});
  });

  it('counts as one of its own only: a UID that every object has a member of is no entry', async () => {
    const view = new MemoryViewStore();
    const settled = await settle({ view }, {}, [pods('constructor', 5)]);
    assert.deepEqual(Object.entries(settled), [['constructor', positionAt(5)]]);
  });
});

describe('positions in META', () => {
  it('leave with their DaemonSets at the next manifest, and make room', async () => {
    const harness = new IngestHarness();
    const sender = new ScriptedSender({ epoch: '100' });
    sender.know([daemonSetOf('logs'), nodeOf('n1'), podOf('p1', ['ds-logs'])]);
    await harness.ingestAll(sender.snapshot());
    await harness.ingest(sender.changes([daemonSetOf('mesh')]));
    const kept = async (): Promise<readonly string[]> =>
      Object.keys((await harness.meta()).positions ?? {}).sort();
    assert.deepEqual(await kept(), ['ds-logs', 'ds-mesh']);
    sender.forget('ds-mesh');
    await harness.ingestAll(sender.snapshot({ reason: 'periodic' }));
    assert.deepEqual(await kept(), ['ds-logs']);
  });
});
