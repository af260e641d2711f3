/**
 * S12 with all parts together: whatever the registry says of a cluster, nothing is executed, and nobody chooses where
 * else we connect to. The checks of the adapters (schema, endpoint, egress) stand before the simulated API server; names
 * are resolved by a table, so that every address that would be connected to is seen.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRegistration } from '../../src/adapters/dynamodb/registration-schema.ts';
import { openEgress } from '../../src/adapters/kubernetes/egress/egress.ts';
import { parseEndpoint } from '../../src/adapters/kubernetes/egress/endpoint.ts';
import type { ClusterRegistration } from '../../src/core/model/registration.ts';
import type { ConnectRefusal } from '../../src/ports/cluster/cluster-access.ts';
import { podsOf } from '../support/simulation/look.ts';
import { World } from '../support/simulation/world.ts';

const HOME = 'https://api.example.com';
const HOME_ADDRESS = '93.184.215.14';
const ADDRESSES: Readonly<Record<string, string>> = {
  'api.example.com': HOME_ADDRESS,
  'inside.example.com': '10.0.0.7',
  'metadata.example.com': '169.254.169.254',
  'here.example.com': '127.0.0.1',
};

/** Registry data of somebody who may write there; `__proto__` and `exec` are no fields. */
const HOSTILE: Readonly<Record<string, object>> = {
  'a metadata address': { server: 'https://169.254.169.254' },
  'a name that leads to metadata': { server: 'https://metadata.example.com' },
  'a name that leads inside': { server: 'https://inside.example.com' },
  'a name that leads to this machine': { server: 'https://here.example.com' },
  'another scheme': { server: 'http://api.example.com' },
  'a file': { server: 'file:///etc/passwd' },
  'user information': { server: 'https://api.example.com@169.254.169.254' },
  'a port of mail': { server: 'https://api.example.com:25' },
  'a range that is not private': {
    server: 'https://metadata.example.com',
    egress: { privateRanges: ['169.254.0.0/16'] },
  },
  'a command to be run': {
    authentication: { kind: 'exec', command: 'sh', args: ['-c', 'touch /tmp/owned'] },
  },
  'a command beside a token': {
    authentication: { kind: 'bearer', token: 'x', exec: { command: 'sh' } },
  },
  'a proxy': { proxyUrl: 'https://169.254.169.254' },
};

class GuardedWorld {
  /** Every address that was connected to. */
  readonly connectedTo: string[] = [];
  readonly #world: World;
  #stored: object;

  constructor(world: World, stored: object) {
    this.#world = world;
    this.#stored = stored;
    world.site.admit = (registration) => this.#admit(registration);
    world.registry.hooks.before = ({ operation }) => {
      if (operation !== 'readCluster') return;
      const parsed = parseRegistration(this.#stored);
      if (parsed.kind === 'refused') throw new Error('injected: the item is no registration');
    };
  }

  /** Somebody writes these fields over the registration, past all checks of ours. */
  async overwrite(changes: object): Promise<void> {
    await this.#world.reconfigure(changes);
    this.#stored = (await this.#world.registration()) ?? {};
  }

  async #admit(registration: ClusterRegistration): Promise<ConnectRefusal | undefined> {
    const parsed = parseEndpoint(registration.server);
    if (parsed.kind === 'refused') {
      return { kind: 'egress-refused', field: 'server', reason: parsed.fault };
    }
    const { endpoint } = parsed;
    let refusal: ConnectRefusal | undefined;
    const opened = openEgress({
      endpoint,
      tokenIsFor: 'endpoint',
      ...(registration.egress === undefined ? {} : { permit: registration.egress }),
      policy: {
        resolve: (host) =>
          Promise.resolve([{ address: ADDRESSES[host] ?? HOME_ADDRESS, family: 4 }]),
      },
      onRefused: (found) => {
        refusal = found;
      },
    });
    if (opened.kind !== 'opened') return opened;
    const address = await new Promise<string | undefined>((resolve) => {
      opened.lookup(endpoint.host, {}, (error, found) => {
        resolve(error === null && typeof found === 'string' ? found : undefined);
      });
    });
    if (address !== undefined) this.connectedTo.push(address);
    return refusal;
  }
}

describe('S12: what the registry holds', () => {
  for (const [what, changes] of Object.entries(HOSTILE)) {
    it(`leads nowhere, and makes nothing run, with ${what} in it (row 66, row 67)`, async () => {
      const world = await World.start({ nodes: ['n1', 'n2'] });
      await world.reconfigure({ server: HOME });
      const guarded = new GuardedWorld(world, (await world.registration()) ?? {});
      world.addDaemonSet('agent');
      await world.settle();
      assert.deepEqual([...new Set(guarded.connectedTo)], [HOME_ADDRESS], 'it was there before');
      guarded.connectedTo.length = 0;
      const { writes } = world.observer;
      const kept = await world.registration();
      await guarded.overwrite(changes);
      world.addNode('n3');
      world.hint('agent');
      await world.advance(10 * 60_000);
      assert.deepEqual(guarded.connectedTo, []);
      assert.equal(world.observer.writes, writes, 'nothing was done anywhere');
      const { authentication, ...others } = kept ?? assert.fail('it was registered');
      world.register({ ...others, authentication, configVersion: others.configVersion + 2 });
      await guarded.overwrite({});
      await world.settle(6.5 * 3_600_000);
      assert.equal(podsOf(world, 'agent').length, 3, 'and all is done once it is right again');
    });
  }
});
