/**
 * Turns of the function `fleet` in a function world: a fleet is begun, given, looked at, removed; one is torn; a mirror leads nowhere.
 *
 * What it finds is written with all rights. Of the items that it reads side by side each is read by itself at least once, where the
 * code ever does so.
 */
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { createDocumentClient } from '../../../src/adapters/aws/document-client.ts';
import { createDynamoFleetMirrorStore } from '../../../src/adapters/dynamodb/single-item-stores.ts';
import {
  createDynamoFleetRolloutStore,
  createDynamoFleetStore,
} from '../../../src/adapters/dynamodb/fleet-stores.ts';
import { createDynamoFreezeStore } from '../../../src/adapters/dynamodb/single-item-stores.ts';
import { clusterId } from '../../../src/core/model/identifiers.ts';
import type { FleetStore } from '../../../src/ports/stores/fleet-rollout-store.ts';
import { fleetDocument } from '../fleet-samples.ts';
import type { FunctionWorld, Invoked } from './function-world.ts';

const TORN = { namespace: 'ops', name: 'torn' };

/** Takes them; answers what came of each. */
export async function takeFleetTurns(
  world: FunctionWorld,
  prepared: () => void,
): Promise<readonly Invoked[]> {
  const client = createDocumentClient();
  const tableName = world.aws.tableNames['RegistryTable'] ?? '';
  const table = { client, tableName, random: createSystemRandom() };
  const fleets = createDynamoFleetStore(table);
  const rollouts = createDynamoFleetRolloutStore(table);
  await apply(fleets, 'agent');
  const torn = await apply(fleets, TORN.name);
  const pk = `FLEET#${TORN.namespace}/${TORN.name}`;
  const Key = { pk, sk: `DOCUMENT#${torn.documentId}` };
  await client.send(new DeleteCommand({ TableName: tableName, Key }));
  const nowhere = { version: 0, cluster: clusterId('nowhere'), setBy: 'somebody', setAtMs: 1 };
  await createDynamoFleetMirrorStore(table).writeMirror(nowhere);
  prepared();
  const turns = [await world.tick('fleet')];
  const key = { namespace: 'ops', name: 'agent' };
  const record = await rollouts.readRecord(key);
  // What it gave is looked at as if the time had come.
  if (record !== undefined) await rollouts.writeRecord({ ...record, dueAtMs: 0 });
  turns.push(await world.tick('fleet'));
  turns.push(...(await freezeAndThaw(world, table)));
  const stored = await fleets.readFleet(key);
  if (stored !== undefined) await fleets.removeFleet(stored.head);
  turns.push(await world.tick('fleet'));
  client.destroy();
  return turns;
}

/** A turn that finds it frozen, and one after the thaw, which reads the freeze by itself. */
async function freezeAndThaw(
  world: FunctionWorld,
  table: Parameters<typeof createDynamoFreezeStore>[0],
): Promise<readonly Invoked[]> {
  const freezes = createDynamoFreezeStore(table);
  const rollouts = createDynamoFleetRolloutStore(table);
  const key = { namespace: 'ops', name: 'agent' };
  const note = { by: 'somebody', why: 'a test', atMs: 1 };
  await freezes.writeFreeze({ ...(await freezes.readFreeze()), daemonSets: { 'ops/agent': note } });
  const record = await rollouts.readRecord(key);
  if (record !== undefined) await rollouts.writeRecord({ ...record, dueAtMs: 0 });
  const frozen = await world.tick('fleet');
  await freezes.writeFreeze({ ...(await freezes.readFreeze()), daemonSets: {} });
  return [frozen, await world.tick('fleet')];
}

async function apply(fleets: FleetStore, name: string): Promise<{ readonly documentId: string }> {
  const fleet = { namespace: 'ops', name, uid: `uid-of-${name}`, generation: 1 };
  const document = { ...fleetDocument(), metadata: { namespace: 'ops', name } };
  const head = { ...fleet, appliedAtMs: 1, appliedBy: 'somebody', contentHash: 'c', history: [] };
  await fleets.writeFleet({ ...head, document }, undefined);
  return (await fleets.readFleet(fleet))?.head ?? { documentId: '' };
}
