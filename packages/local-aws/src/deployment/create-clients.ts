// The clients that the local AWS itself uses to make its queues and tables, as whoever deploys.
//
// Over HTTP, as a deployment would. Functions and watchers have clients of their own; mappings need none
// (event-source-mapping/mapped-queue.ts).
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { LocalCredentials } from '../iam/authorizer.ts';

const REQUEST_MS_MAX = 30_000;
const LIMITS = {
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 1000,
    requestTimeout: REQUEST_MS_MAX,
    throwOnRequestTimeout: true,
    socketTimeout: REQUEST_MS_MAX,
  },
};

/** The SDK's clients over the local endpoints. */
export interface Clients {
  readonly sqs: SQSClient;
  readonly dynamoDb: DynamoDBClient;
  readonly destroy: () => void;
}

/** Opens the clients; `destroy` closes both. */
export function createClients(
  region: string,
  servers: Readonly<Record<'sqs' | 'dynamoDb', { readonly endpoint: string }>>,
  credentials: LocalCredentials,
): Clients {
  const common = { ...LIMITS, region, credentials };
  // eslint-disable-next-line no-restricted-syntax -- limited above; the helper of src is not for stand-ins
  const sqs = new SQSClient({ ...common, endpoint: servers.sqs.endpoint });
  // eslint-disable-next-line no-restricted-syntax -- limited above
  const dynamoDb = new DynamoDBClient({ ...common, endpoint: servers.dynamoDb.endpoint });
  return {
    sqs,
    dynamoDb,
    destroy: () => {
      sqs.destroy();
      dynamoDb.destroy();
    },
  };
}
