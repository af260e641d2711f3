/** FleetDaemonSets over DynamoDB, on the local tables in this process (M4): the suite of the port, and what a death leaves behind. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { DeleteCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoFleetStore } from '../../../../src/adapters/dynamodb/fleet-stores.ts';
import type {
  FleetHead,
  FleetStore,
  FleetToWrite,
} from '../../../../src/ports/stores/fleet-rollout-store.ts';
import { freshName } from '../../../support/store-suite.ts';
import { useKeyTables } from '../../../support/key-tables.ts';

const FLEET = fleetOf('agent', { namespace: 'own' });

describe('the DynamoDB fleet store on the local tables (M4)', () => {
  const tables = useKeyTables('registry');
  let fleets: FleetStore | undefined;
  const store = (): FleetStore => fleets ?? assert.fail('set up by the hook');

  before(() => {
    fleets = createDynamoFleetStore(tables.of('registry'));
  });

  testFleetStore(store);

  async function documentsOf({ namespace, name }: FleetToWrite): Promise<readonly string[]> {
    const found = await tables.client().send(
      new QueryCommand({
        TableName: 'registry',
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': `FLEET#${namespace}/${name}` },
      }),
    );
    return (found.Items ?? []).map(({ sk }) => String(sk));
  }

  it('keeps one document of each, however often it is applied, and none when it is gone', async () => {
    await store().writeFleet(FLEET, undefined);
    for (let generation = 2; generation < 5; generation += 1) {
      const { head } = (await store().readFleet(FLEET)) ?? assert.fail();
      await store().writeFleet({ ...FLEET, generation }, head);
    }
    assert.equal((await documentsOf(FLEET)).length, 1);
    const { head } = (await store().readFleet(FLEET)) ?? assert.fail();
    assert.equal(await store().writeFleet(FLEET, { ...head, version: 1 }), 'lost');
    assert.equal((await documentsOf(FLEET)).length, 1, 'a writer that lost takes its own away');
    await store().removeFleet(head);
    assert.deepEqual(await documentsOf(FLEET), []);
  });

  it('replaces nothing that was made anew under its name since it was read', async () => {
    const fleet = { ...FLEET, name: 'anew' };
    await store().writeFleet(fleet, undefined);
    const { head } = (await store().readFleet(fleet)) ?? assert.fail();
    await store().removeFleet(head);
    await store().writeFleet({ ...fleet, uid: 'uid-2', document: { text: 'new' } }, undefined);
    // The same version, of another uid.
    assert.equal(await store().writeFleet({ ...fleet, generation: 2 }, head), 'lost');
    assert.equal(await store().removeFleet(head), 'lost');
    assert.deepEqual((await store().readFleet(fleet))?.document, { text: 'new' });
  });

  it('says that a document is missing instead of taking it for none', async () => {
    const fleet = { ...FLEET, name: 'torn' };
    await store().writeFleet(fleet, undefined);
    const [sk = ''] = await documentsOf(fleet);
    const Key = { pk: 'FLEET#own/torn', sk };
    await tables.client().send(new DeleteCommand({ TableName: 'registry', Key }));
    await assert.rejects(store().readFleet(fleet), { code: 'item-unreadable' });
  });

  it('refuses a head that it does not know', async () => {
    const fleet = { ...FLEET, name: 'odd' };
    await store().writeFleet(fleet, undefined);
    await tables.client().send(
      new UpdateCommand({
        TableName: 'registry',
        Key: { pk: 'FLEETS#00', sk: 'own/odd' },
        UpdateExpression: 'SET generation = :none',
        ExpressionAttributeValues: { ':none': 0 },
      }),
    );
    await assert.rejects(store().readFleet(fleet), { code: 'item-unreadable' });
  });
});

function fleetOf(name: string, changes: Partial<FleetToWrite> = {}): FleetToWrite {
  return {
    namespace: 'suite',
    name,
    uid: `uid-of-${name}`,
    generation: 1,
    appliedAtMs: 1000,
    appliedBy: 'somebody',
    contentHash: `content-of-${name}`,
    history: [],
    document: { spec: { text: name } },
    ...changes,
  };
}

async function headOf(store: FleetStore, fleet: FleetToWrite): Promise<FleetHead> {
  const stored = await store.readFleet(fleet);
  assert.ok(stored !== undefined);
  return stored.head;
}

function testFleetStore(store: () => FleetStore): void {
  it('gives back what was written, head and document', async () => {
    const fleet = fleetOf(freshName('fleet'));
    assert.equal(await store().readFleet(fleet), undefined);
    assert.equal(await store().writeFleet(fleet, undefined), 'written');
    const { head, document } = (await store().readFleet(fleet)) ?? assert.fail();
    const { documentId: _id, ...rest } = head;
    const { document: given, ...expected } = fleet;
    assert.deepEqual(rest, { ...expected, version: 1 });
    assert.deepEqual(document, given);
  });

  it('writes only over the head that was read, and of two at once lets one', async () => {
    const fleet = fleetOf(freshName('fleet'));
    await store().writeFleet(fleet, undefined);
    assert.equal(await store().writeFleet(fleet, undefined), 'lost');
    const head = await headOf(store(), fleet);
    const outcomes = await Promise.all(
      ['a', 'b', 'c'].map((text) =>
        store().writeFleet({ ...fleet, generation: 2, document: { text } }, head),
      ),
    );
    assert.deepEqual([...outcomes].sort(), ['lost', 'lost', 'written']);
    const winner = ['a', 'b', 'c'][outcomes.indexOf('written')] ?? '';
    const stored = await store().readFleet(fleet);
    // The document is the winner's, whoever wrote last.
    assert.deepEqual([stored?.head.generation, stored?.document], [2, { text: winner }]);
  });

  testHistory(store);
  testRemoval(store);
  testBounds(store);
}

function testHistory(store: () => FleetStore): void {
  it('keeps the documents that its head names, and removes those that it names no more', async () => {
    const fleet = fleetOf(freshName('fleet'));
    const apply = async (generation: number, kept: readonly FleetHead[]): Promise<FleetHead> => {
      const former = generation === 1 ? undefined : await headOf(store(), fleet);
      const document = { generation };
      const history = kept.map(({ documentId, contentHash, generation: of }) => ({
        ...{ documentId, generation: of, contentHash: contentHash ?? '' },
        ...{ appliedAtMs: 1, appliedBy: 'somebody' },
      }));
      const written = await store().writeFleet({ ...fleet, generation, document, history }, former);
      assert.equal(written, 'written');
      return headOf(store(), fleet);
    };
    const first = await apply(1, []);
    const second = await apply(2, [first]);
    assert.deepEqual(
      second.history.map(({ generation, documentId }) => [generation, documentId]),
      [[1, first.documentId]],
    );
    const third = await apply(3, [first]);
    const read = [first, second, third].map(({ documentId }) =>
      store().readDocument(fleet, documentId),
    );
    assert.deepEqual(await Promise.all(read), [{ generation: 1 }, undefined, { generation: 3 }]);
    const elsewhere = { ...fleet, name: 'another' };
    assert.equal(await store().readDocument(elsewhere, first.documentId), undefined);
    await store().removeFleet(third);
    assert.equal(await store().readDocument(fleet, first.documentId), undefined);
  });
}

function testRemoval(store: () => FleetStore): void {
  it('removes only what was read, and not what has its name now', async () => {
    const fleet = fleetOf(freshName('fleet'));
    await store().writeFleet(fleet, undefined);
    const head = await headOf(store(), fleet);
    await store().writeFleet({ ...fleet, generation: 2 }, head);
    assert.equal(await store().removeFleet(head), 'lost');
    assert.equal(await store().removeFleet(await headOf(store(), fleet)), 'written');
    assert.equal(await store().readFleet(fleet), undefined);
    assert.equal(await store().removeFleet(head), 'written', 'it is gone');
    const other = { ...fleet, uid: 'another', document: { other: true } };
    await store().writeFleet(other, undefined);
    assert.equal(await store().removeFleet(head), 'lost');
    assert.equal(await store().writeFleet(fleet, head), 'lost');
    assert.deepEqual((await store().readFleet(fleet))?.document, { other: true });
  });
}

function testBounds(store: () => FleetStore): void {
  it('refuses what is too large, and changes nothing', async () => {
    const fleet = fleetOf(freshName('fleet'));
    await store().writeFleet(fleet, undefined);
    const head = await headOf(store(), fleet);
    let text = '';
    // Of no pattern that could be compressed.
    for (let state = 1; text.length < 900_000; state = (state * 48_271) % 2_147_483_647) {
      text += state.toString(36);
    }
    const large = { ...fleet, document: { text } };
    assert.equal(await store().writeFleet(large, head), 'too-large');
    assert.deepEqual((await store().readFleet(fleet))?.document, fleet.document);
  });

  it('lists heads in the order of their names, page by page', async () => {
    const names = Array.from({ length: 5 }, () => freshName('listed'));
    for (const name of names) await store().writeFleet(fleetOf(name), undefined);
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store().listFleets({
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      });
      assert.ok(page.fleets.length <= 2);
      found.push(...page.fleets.map(({ name }) => name));
      ({ cursor } = page);
    } while (cursor !== undefined);
    assert.deepEqual(found, [...found].sort());
    assert.deepEqual(
      found.filter((name) => names.includes(name)),
      [...names].sort(),
    );
  });
}
