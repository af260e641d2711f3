// The clients that the local AWS itself uses: one as whoever deploys, and one for each function's mappings.
//
// A mapping polls with the rights of its function, as Lambda does. Functions and watchers have clients of their own.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { functionCredentials, operatorCredentials, type LocalCredentials } from './principals.ts';
import type { ServiceDeclaration } from '../template/service.ts';

type RequestSigner = Exclude<
  NonNullable<SQSClientConfig['signer']>,
  (...parameters: never) => unknown
>;

/** Longer than a receive is parked; such receives hold a connection each, so there are far more than the SDK's 50. */
const REQUEST_MS_MAX = 30_000;
const AGENT = { keepAlive: true, maxSockets: 2048 };
const LIMITS = {
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 1000,
    requestTimeout: REQUEST_MS_MAX,
    throwOnRequestTimeout: true,
    socketTimeout: REQUEST_MS_MAX,
    httpAgent: AGENT,
  },
};

/** The SDK's clients over the local endpoints. */
export interface Clients {
  readonly operatorSqs: SQSClient;
  /** With the rights of a function. */
  readonly sqsOf: (functionName: string) => SQSClient;
  readonly dynamoDb: DynamoDBClient;
  readonly destroy: () => void;
}

/** Opens the clients; `destroy` closes all of them. */
export function createClients(
  { region, functions }: ServiceDeclaration,
  endpoints: { readonly sqs: string; readonly dynamoDb: string },
): Clients {
  const createSqs = (credentials: LocalCredentials): SQSClient =>
    // eslint-disable-next-line no-restricted-syntax -- limited above; the helper of src is not for stand-ins
    new SQSClient({
      ...LIMITS,
      region,
      endpoint: endpoints.sqs,
      credentials,
      signer: signWithoutSecret(credentials),
    });
  const operatorSqs = createSqs(operatorCredentials);
  const byFunction = new Map(
    functions.map(({ name }) => [name, createSqs(functionCredentials(name))]),
  );
  // eslint-disable-next-line no-restricted-syntax -- limited above
  const dynamoDb = new DynamoDBClient({
    ...LIMITS,
    region,
    endpoint: endpoints.dynamoDb,
    credentials: operatorCredentials,
  });
  return {
    operatorSqs,
    sqsOf: (functionName) => byFunction.get(functionName) ?? operatorSqs,
    dynamoDb,
    destroy: () => {
      for (const client of [operatorSqs, dynamoDb, ...byFunction.values()]) client.destroy();
    },
  };
}

/**
 * Names the access key and computes no signature: the local server checks none, and computing one is a fifth of the
 * processor time of a message. Only the mappings do without: functions and watchers use clients of their own, which
 * sign.
 */
function signWithoutSecret({ accessKeyId }: LocalCredentials): RequestSigner {
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/local/sqs/aws4_request`;
  return {
    sign: (request) => {
      request.headers['authorization'] = authorization;
      return Promise.resolve(request);
    },
  };
}
