/** The registry over DynamoDB (being written). */
import type { RegistryStore } from '../../ports/registry-store.ts';
import type { DynamoStoreOptions } from './view-store.ts';

/** The registry table. */
export function createDynamoRegistryStore(_options: DynamoStoreOptions): RegistryStore {
  throw new Error('createDynamoRegistryStore is being written');
}
