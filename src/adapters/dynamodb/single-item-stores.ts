/**
 * Stores of the registry's table that are an item or two each (records.ts): the freeze of the stack,
 * the note of its stop, where fleets are mirrored, and the sealed tokens of clusters. What cannot be
 * read is an error that quotes nothing of it (S11); of a freeze that counts as frozen (protocol 13).
 */
import { NO_MIRROR } from '../../core/fleet/told/fleet-mirror.ts';
import { NO_FREEZE } from '../../core/may-act/freeze.ts';
import type { CredentialStore, TokenPurpose } from '../../ports/stores/credential-store.ts';
import type { FleetMirrorStore, FreezeStore } from '../../ports/stores/freeze-store.ts';
import { at } from './item-codec.ts';
import { FREEZE, MIRROR, STOP, STOPS, TOKEN } from './records.ts';
import { Table, type DynamoStoreOptions } from './table.ts';

/** The freeze of a registry's table. */
export function createDynamoFreezeStore(options: DynamoStoreOptions): FreezeStore {
  const table = new Table(options);
  return {
    readFreeze: async () => (await table.read(FREEZE)) ?? NO_FREEZE,
    writeFreeze: (freeze) => table.writeNext(at(FREEZE), freeze),
    readStop: () => table.read(STOP),
    // Emptied, not removed: the right to freeze is a right to put.
    writeStop: (note) => table.write(at(STOP), note),
    readStops: async () => (await table.read(STOPS)) ?? [],
    writeStops: (stops) => table.write(at(STOPS), stops),
  };
}

/** The mirror of a registry's table. */
export function createDynamoFleetMirrorStore(options: DynamoStoreOptions): FleetMirrorStore {
  const table = new Table(options);
  return {
    readMirror: async () => (await table.read(MIRROR)) ?? NO_MIRROR,
    writeMirror: (mirror) => table.writeNext(at(MIRROR), mirror),
  };
}

/** The one for acting goes last: by it is seen that an earlier removal of a cluster was interrupted. */
const PURPOSES: readonly TokenPurpose[] = ['ask', 'act'];

/** The store of sealed tokens: a single conditional write keeps the newer of two, in whatever order they come. */
export function createDynamoCredentialStore(options: DynamoStoreOptions): CredentialStore {
  const table = new Table(options);
  return {
    readToken: (id, purpose) => table.read(TOKEN, id, purpose),
    writeToken: async (id, purpose, token) => {
      const written = await table.writeIf(at(TOKEN, id, purpose), token, {
        // A cluster that was registered anew under its old name begins anew.
        expression: 'attribute_not_exists(pk) OR issuedAtMs < :issued OR clusterUid <> :uid',
        values: { ':issued': token.issuedAtMs, ':uid': token.clusterUid },
      });
      return written === 'written' ? 'written' : 'older';
    },
    removeTokens: async (id) => {
      for (const purpose of PURPOSES) await table.remove(TOKEN.keyOf(id, purpose));
    },
  };
}
