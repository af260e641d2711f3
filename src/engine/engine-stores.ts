/**
 * Registry, view and fleets of the embedded engine: the very adapters of a deployment, over the local tables.
 *
 * The AWS clients read the process's environment, so the opener has put the local AWS's
 * environment there.
 */
import { createDocumentClient } from '../adapters/aws/document-client.ts';
import {
  createDynamoFleetRolloutStore,
  createDynamoFleetStore,
} from '../adapters/dynamodb/fleet-stores.ts';
import { createDynamoFreezeStore } from '../adapters/dynamodb/single-item-stores.ts';
import { createDynamoRegistryStore } from '../adapters/dynamodb/registry-store.ts';
import { createDynamoViewStore } from '../adapters/dynamodb/view-store.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import type { FleetRolloutStore, FleetStore } from '../ports/stores/fleet-rollout-store.ts';
import type { FreezeStore } from '../ports/stores/freeze-store.ts';
import type { RegistryStore } from '../ports/stores/registry-store.ts';
import type { ViewStore } from '../ports/stores/view-store.ts';
import type { LocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';
import { packageFile } from './package-files.ts';

/** Stage of serverless.yml that the engine runs. */
export const STAGE = 'local';
export const SERVERLESS_FILE = packageFile('serverless.yml');
/** What a watcher may do in AWS; the same template is deployed for each cluster. */
export const WATCHER_SENDERS = {
  roleFile: packageFile('infra/cluster/roles.yml'),
  roleId: 'WatcherRole',
  queueParameter: 'EventsQueueArn',
  queueId: 'EventsQueue',
};

export interface EngineStores {
  readonly registry: RegistryStore;
  readonly freezes: FreezeStore;
  readonly fleets: FleetStore;
  readonly rollouts: FleetRolloutStore;
  readonly view: ViewStore;
  readonly destroy: () => void;
}

export function openStores(aws: LocalAws): EngineStores {
  const client = createDocumentClient();
  const random = createSystemRandom();
  const tableName = (id: string): string => {
    const name = aws.tableNames[id];
    if (name === undefined) throw new Error(`infra/tables.yml declares no ${id}`);
    return name;
  };
  const ofRegistry = { client, random, tableName: tableName('RegistryTable') };
  return {
    registry: createDynamoRegistryStore(ofRegistry),
    freezes: createDynamoFreezeStore(ofRegistry),
    fleets: createDynamoFleetStore(ofRegistry),
    rollouts: createDynamoFleetRolloutStore(ofRegistry),
    view: createDynamoViewStore({ client, random, tableName: tableName('ViewTable') }),
    destroy: () => {
      client.destroy();
    },
  };
}
