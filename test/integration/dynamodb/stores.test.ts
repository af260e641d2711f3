/** The DynamoDB adapters keep the semantics of the ports, on the local tables in this process (M4). */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoCredentialStore } from '../../../src/adapters/dynamodb/single-item-stores.ts';
import { createDynamoRegistryStore } from '../../../src/adapters/dynamodb/registry-store.ts';
import { createDynamoViewStore } from '../../../src/adapters/dynamodb/view-store.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { clusterId, clusterUid, nodeName, uid } from '../../../src/core/model/identifiers.ts';
import { emptyState } from '../../../src/core/model/state.ts';
import type { CredentialStore, SealedToken } from '../../../src/ports/stores/credential-store.ts';
import type { ViewStore } from '../../../src/ports/stores/view-store.ts';
import { testFreezeNotes } from '../../support/freeze-store-suite.ts';
import {
  freshName,
  metaOf,
  registrationOf,
  sliceOf,
  stampAt,
  testRegistryStore,
  testViewStore,
} from '../../support/store-suite.ts';
import { testSliceStore } from '../../support/slice-store-suite.ts';
import { useKeyTables } from '../../support/key-tables.ts';

/** As the adapter counts them. */
const random = createSystemRandom();
const present = <T>(value: T | undefined): T => {
  assert.ok(value !== undefined, 'set up by the hook');
  return value;
};

describe('the DynamoDB stores on the local tables (M4, row 62)', () => {
  const tables = useKeyTables('view', 'registry');
  let view: ViewStore | undefined;
  let registry: ReturnType<typeof createDynamoRegistryStore> | undefined;
  let credentials: CredentialStore | undefined;

  before(() => {
    view = createDynamoViewStore(tables.of('view'));
    registry = createDynamoRegistryStore(tables.of('registry'));
    credentials = createDynamoCredentialStore(tables.of('registry'));
  });

  testViewStore(() => present(view));
  testSliceStore(() => present(view));
  testRegistryStore(() => present(registry));
  testFreezeNotes(() => present(registry));
  testCredentialStore(() => present(credentials));

  it('names an item that holds no entries of the log, and gives the others', async () => {
    const cluster = clusterUid(freshName('unlogged'));
    const atMs = Date.UTC(2026, 10, 28, 3);
    const item = { subject: { kind: 'cluster' }, atMs, token: 'd', entries: [] } as const;
    await present(view).putLogItem(cluster, item);
    const Item = {
      pk: `LOG#${cluster}#2026-11-28`,
      sk: 'x',
      expiresAt: 9e9,
      body: new Uint8Array([9]),
    };
    await tables.client().send(new PutCommand({ TableName: 'view', Item }));
    const page = await present(view).listLogItems(cluster, { day: '2026-11-28', nowMs: atMs });
    assert.deepEqual(page.items, [item]);
    assert.match(page.unreadable.join(), /format 9 is unknown/);
  });

  it('names an item that is no note of a refusal, and leaves none out', async () => {
    const id = clusterId(freshName('unnoted'));
    const Item = { pk: `REFUSED#${id}`, sk: 'ingest/invalid/AROA', code: 'invalid' };
    await tables.client().send(new PutCommand({ TableName: 'registry', Item }));
    await assert.rejects(present(registry).listRefusals(id, 'verified'), {
      name: 'ItemUnreadableError',
    });
  });

  it('refuses an item that is no sealed token, without quoting it (S11)', async () => {
    const id = clusterId(freshName('unsealed'));
    const Item = { pk: `CREDENTIAL#${id}`, sk: 'TOKEN', clusterUid: 'u', ciphertext: 'hunter2 !' };
    await tables.client().send(new PutCommand({ TableName: 'registry', Item }));
    await assert.rejects(present(credentials).readToken(id, 'act'), (error: Error) => {
      assert.equal(error.name, 'ItemUnreadableError');
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    });
  });

  it('leaves attributes of META that other functions own', async () => {
    const meta = metaOf(freshName('shared'));
    const Key = { pk: `CLUSTER#${meta.clusterUid}`, sk: 'META' };
    await present(view).writeMeta(meta);
    await tables.client().send(
      new UpdateCommand({
        TableName: 'view',
        Key,
        UpdateExpression: 'SET breaker = :b',
        ExpressionAttributeValues: { ':b': 'open' },
      }),
    );
    await present(view).writeMeta({ ...meta, version: 1 });
    const stored = await tables
      .client()
      .send(new UpdateCommand({ TableName: 'view', Key, ReturnValues: 'ALL_NEW' }));
    assert.equal(stored.Attributes?.['breaker'], 'open');
    assert.equal(stored.Attributes['version'], 2);
  });

  it('refuses a format that a newer release wrote, and names the item', async () => {
    const ref = { clusterUid: clusterUid(freshName('newer')), set: 'nodes', index: 0 } as const;
    const pk = `NODES#${ref.clusterUid}#00`;
    await tables.client().send(
      new PutCommand({
        TableName: 'view',
        Item: { pk, sk: 'SLICE', stamp: stampAt(1), body: Uint8Array.of(0x7f, 1, 2) },
      }),
    );
    await assert.rejects(present(view).readSlice(ref), {
      name: 'ItemUnreadableError',
      item: `${pk} SLICE`,
      message: /format 127 is unknown to this release/,
    });
  });

  it('refuses a registration that holds more than the schema, without quoting it (S11, S12)', async () => {
    const registration = registrationOf(freshName('open'));
    await tables.client().send(
      new PutCommand({
        TableName: 'registry',
        Item: {
          pk: `CLUSTER#${registration.id}`,
          sk: 'CLUSTER',
          configVersion: 1,
          registration: {
            ...registration,
            authentication: { kind: 'exec', command: 'hunter2' },
          },
        },
      }),
    );
    await assert.rejects(present(registry).readCluster(registration.id), (error: Error) => {
      assert.equal(error.name, 'ItemUnreadableError');
      assert.match(error.message, /authentication/);
      assert.doesNotMatch(JSON.stringify([error.message, error.stack]), /hunter2/);
      return true;
    });
  });

  it('stores 15,000 nodes in back-off far below 400 KB, and refuses beyond 300 KB unsent', async () => {
    const ref = { clusterUid: clusterUid(freshName('large')), uid: uid('u1') };
    const backoff = Array.from({ length: 15_000 }, (_, index) => ({
      node: nodeName(`ip-10-${index % 64}-${(index * 7) % 251}-${(index * 13) % 253}.internal`),
      generation: 3,
      delayMs: 1000 * 2 ** (index % 10),
      advancedAtMs: 1_767_225_600_000 + ((index * 7919) % 900_000),
    }));
    assert.equal(await present(view).writeState(ref, { ...emptyState(1), backoff }), 'written');
    assert.equal((await present(view).readState(ref))?.backoff.length, 15_000);
    const slice = sliceOf(stampAt(1), 1);
    const noise = Array.from({ length: 30_000 }, () => random.uniqueId()).join('');
    const first = present(slice.objects[0]);
    const objects = [{ ...first, object: { ...first.object, name: noise as never } }];
    const sliceRef = { ...ref, set: 'nodes', index: 0 } as const;
    const written = present(view).writeSlice(sliceRef, { ...slice, objects }, undefined);
    await assert.rejects(written, { name: 'ItemTooLargeError', code: 'item-too-large' });
  });

  it('A.7: tells an item that the table itself finds too large from every other refusal', async () => {
    const cluster = clusterUid(freshName('crowded'));
    const formerUids = Array.from({ length: 12_000 }, (_, index) =>
      uid(`0d1f2c3b-4a59-4687-8765-${String(index).padStart(12, '0')}`),
    );
    const name = { namespace: 'ops', name: 'logs', uid: null, formerUids, stamp: stampAt(1) };
    const tooLarge = { name: 'ItemTooLargeError', code: 'item-too-large' };
    await assert.rejects(present(view).writeName(cluster, name), tooLarge);
    const meta = { ...metaOf(freshName('crowded')), incompleteReason: 'x'.repeat(10) };
    assert.equal(await present(view).writeMeta(meta), 'written');
    const open = { untilMs: 1, delayMs: 1, noise: 'x'.repeat(420_000) };
    const breaker = { version: 0, failures: 0, openings: 0, open };
    await assert.rejects(present(view).writeBreaker(meta.clusterUid, breaker), tooLarge);
  });
});

function sealedAt(issuedAtMs: number, changes: Partial<SealedToken> = {}): SealedToken {
  return {
    clusterUid: clusterUid('u-1'),
    ciphertext: Buffer.from(`sealed-${issuedAtMs}`).toString('base64'),
    issuedAtMs,
    expiresAtMs: issuedAtMs + 14_400_000,
    ...changes,
  };
}

function testCredentialStore(store: () => CredentialStore): void {
  it('keeps the newer of two sealed tokens, whatever order they come in', async () => {
    const id = clusterId(freshName('credential'));
    assert.equal(await store().readToken(id, 'act'), undefined);
    assert.equal(await store().writeToken(id, 'act', sealedAt(2000)), 'written');
    assert.deepEqual(await store().readToken(id, 'act'), sealedAt(2000));
    assert.equal(await store().writeToken(id, 'act', sealedAt(1000)), 'older');
    const again = sealedAt(2000, { ciphertext: 'b3RoZXI=' });
    assert.equal(
      await store().writeToken(id, 'act', again),
      'older',
      'a redelivery changes nothing',
    );
    assert.deepEqual(await store().readToken(id, 'act'), sealedAt(2000));
    assert.equal(await store().writeToken(id, 'act', sealedAt(3000)), 'written');
    assert.deepEqual(await store().readToken(id, 'act'), sealedAt(3000));
  });

  it('begins anew with the token of another cluster UID, however old (row 90)', async () => {
    const id = clusterId(freshName('credential'));
    await store().writeToken(id, 'act', sealedAt(2000));
    const rebuilt = sealedAt(1000, { clusterUid: clusterUid('u-2') });
    assert.equal(await store().writeToken(id, 'act', rebuilt), 'written');
    assert.deepEqual(await store().readToken(id, 'act'), rebuilt);
  });

  it('keeps the token of each purpose apart, and forgets both', async () => {
    const id = clusterId(freshName('credential'));
    await store().writeToken(id, 'act', sealedAt(3000));
    assert.equal(await store().readToken(id, 'ask'), undefined);
    assert.equal(await store().writeToken(id, 'ask', sealedAt(2000)), 'written');
    assert.deepEqual(await store().readToken(id, 'ask'), sealedAt(2000));
    assert.deepEqual(await store().readToken(id, 'act'), sealedAt(3000));
    await store().removeTokens(id);
    assert.equal(await store().readToken(id, 'ask'), undefined);
    assert.equal(await store().readToken(id, 'act'), undefined);
  });

  it('forgets a token, and keeps the others', async () => {
    const [id, other] = [clusterId(freshName('credential')), clusterId(freshName('credential'))];
    await store().writeToken(id, 'act', sealedAt(2000));
    await store().writeToken(other, 'act', sealedAt(2000));
    await store().removeTokens(id);
    await store().removeTokens(id);
    assert.equal(await store().readToken(id, 'act'), undefined);
    assert.deepEqual(await store().readToken(other, 'act'), sealedAt(2000));
    assert.equal(await store().writeToken(id, 'act', sealedAt(1000)), 'written');
  });
}
