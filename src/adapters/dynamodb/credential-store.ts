/**
 * Sealed tokens over DynamoDB, in the registry table: an item for each cluster and purpose. A
 * single conditional write keeps the newer of two, whatever order they arrive in. An item that does
 * not fit its schema is an error that quotes nothing of it (S11).
 */
import * as v from 'valibot';
import { clusterUid } from '../../core/model/identifiers.ts';
import type { CredentialStore, TokenPurpose } from '../../ports/stores/credential-store.ts';
import { storedAs } from './item-codec.ts';
import { credentialKey } from './item-keys.ts';
import { Table } from './table.ts';
import type { DynamoStoreOptions } from './table.ts';

const timeSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const sealedToken = storedAs(
  v.object({
    clusterUid: v.pipe(v.string(), v.regex(/^[A-Za-z0-9._:-]{1,128}$/), v.transform(clusterUid)),
    ciphertext: v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]{1,12000}={0,2}$/)),
    issuedAtMs: timeSchema,
    expiresAtMs: timeSchema,
  }),
  'is no sealed token',
);

/** The one for acting goes last: by it is seen that an earlier removal of a cluster was interrupted. */
const PURPOSES: readonly TokenPurpose[] = ['ask', 'act'];

/** The store of sealed tokens, over the registry table. */
export function createDynamoCredentialStore(options: DynamoStoreOptions): CredentialStore {
  const table = new Table(options);
  return {
    readToken: (id, purpose) => table.getAs(credentialKey(id, purpose), sealedToken),
    writeToken: async (id, purpose, token) => {
      const { clusterUid: uid, ciphertext, issuedAtMs, expiresAtMs } = token;
      const attributes = { clusterUid: uid, ciphertext, issuedAtMs, expiresAtMs };
      const written = await table.putIf(credentialKey(id, purpose), attributes, {
        // A cluster that was registered anew under its old name begins anew.
        expression: 'attribute_not_exists(pk) OR issuedAtMs < :issued OR clusterUid <> :uid',
        values: { ':issued': issuedAtMs, ':uid': uid },
      });
      return written === 'written' ? 'written' : 'older';
    },
    removeTokens: async (id) => {
      for (const purpose of PURPOSES) await table.remove(credentialKey(id, purpose));
    },
  };
}
