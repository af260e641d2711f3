/**
 * The seal of the functions that open tokens: KMS, with the key that the deployment made.
 *
 * A module of its own, so that functions which connect to no cluster carry no client for it. The client is made at
 * the first use: a fleet without bound tokens never pays for it.
 */
import { KMSClient } from '@aws-sdk/client-kms';
import { CALL_LIMITS, createAwsClient } from '../src/adapters/aws/create-client.ts';
import { createKmsSeal } from '../src/adapters/kms/seal.ts';
import type { Seal } from '../src/ports/stores/credential-store.ts';
import type { SealSettings } from './middleware.ts';

/** A seal over the deployment's key. */
export function makeKmsSeal({ keyArn, credentials }: SealSettings): Seal {
  const make = (): Seal => {
    const options = credentials === undefined ? {} : { credentials };
    const client = createAwsClient(KMSClient, CALL_LIMITS.function, options);
    return createKmsSeal({ client, keyArn });
  };
  let made: Seal | undefined;
  const seal = (): Seal => (made ??= make());
  return {
    seal: (text, context) => seal().seal(text, context),
    open: (ciphertext, context) => seal().open(ciphertext, context),
  };
}
