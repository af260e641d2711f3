/** The view table over DynamoDB (being written). */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Random } from '../../ports/random.ts';
import type { ViewStore } from '../../ports/view-store.ts';

/** Options of a store over one table. */
export interface DynamoStoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  /** For writer tokens. */
  readonly random: Random;
}

/** The view table. */
export function createDynamoViewStore(_options: DynamoStoreOptions): ViewStore {
  throw new Error('createDynamoViewStore is being written');
}
