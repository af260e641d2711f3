/** The real stores over the registry's table in this process; test/integration/dynamodb has them over the SDK's client. */
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { settle } from '@rollcall/base/testing/virtual-clock.ts';
import { createDynamoFleetStore } from '../../src/adapters/dynamodb/fleet-stores.ts';
import {
  createDynamoCredentialStore,
  createDynamoFleetMirrorStore,
} from '../../src/adapters/dynamodb/single-item-stores.ts';
import type { CredentialStore } from '../../src/ports/stores/credential-store.ts';
import type { FleetStore } from '../../src/ports/stores/fleet-rollout-store.ts';
import type { FleetMirrorStore } from '../../src/ports/stores/freeze-store.ts';
import { createTablesInProcess } from './create-key-table.ts';
import { documentClientOf } from './document-client.ts';
import { hooked, type Hooked } from './store-hooks.ts';

const TABLE = 'registry';

/** An empty one. */
export class RegistryInProcess {
  readonly fleets: FleetStore & Hooked;
  readonly mirrors: FleetMirrorStore & Hooked;
  readonly credentials: CredentialStore & Hooked;
  #requests = 0;

  constructor() {
    const tables = createTablesInProcess(TABLE);
    const client = documentClientOf((name, fields) => {
      this.#requests += 1;
      return tables.perform(name, fields);
    });
    const options = { client, tableName: TABLE, random: seededRandom(1) };
    this.fleets = hooked(createDynamoFleetStore(options));
    this.mirrors = hooked(createDynamoFleetMirrorStore(options));
    this.credentials = hooked(createDynamoCredentialStore(options));
  }

  /** Until nothing that runs asks it for more: a request takes a turn of the event loop, and no time. */
  async idle(): Promise<void> {
    for (let seen = -1; seen !== this.#requests;) {
      seen = this.#requests;
      for (let turn = 0; turn < 2; turn += 1) await settle();
    }
  }
}
