/** A token that ends is replaced before it does, for the watcher and in the registration. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterId, clusterUid } from '../../../src/core/model/identifiers.ts';
import type { ClusterAuthentication } from '../../../src/core/model/registration.ts';
import { keepFresh } from '../../../src/engine/credential-renewal.ts';
import type { EngineCluster, FreshCredential } from '../../../src/engine/engine-options.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryRegistryStore } from '../../support/memory-registry-store.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const ID = clusterId('laptop');
const bearer = (token: string): ClusterAuthentication => ({ kind: 'bearer', token });

async function setUp(renew: () => Promise<FreshCredential>, functions = bearer('first')) {
  const clock = new VirtualClock();
  const registry = new MemoryRegistryStore();
  await registry.writeCluster(
    {
      id: ID,
      clusterUid: clusterUid('uid'),
      mode: 'takeover',
      isFrozen: false,
      configVersion: 0,
      senderRoleId: 'role',
      server: 'https://localhost',
      authentication: functions,
      labels: {},
    },
    0,
  );
  const cluster: EngineCluster = {
    id: ID,
    server: 'https://localhost',
    mode: 'takeover',
    watcher: bearer('first'),
    functions,
    probe: bearer('first'),
    renewal: { expiresAtMs: clock.nowMs() + 600_000, renew },
  };
  const renewed = keepFresh({ cluster, registry, clock, log: new MemoryLog() });
  const token = async (): Promise<string> => {
    assert.equal(renewed.credential.kind, 'bearer');
    return renewed.credential.token();
  };
  const registered = async (): Promise<ClusterAuthentication | undefined> =>
    (await registry.readCluster(ID))?.authentication;
  return { clock, renewed, token, registered };
}

describe('a credential that ends', () => {
  it('is replaced a minute before, for watcher and functions', async () => {
    const { clock, token, registered, renewed } = await setUp(() =>
      Promise.resolve({ authentication: bearer('second') }),
    );
    await clock.advance(539_000);
    assert.equal(await token(), 'first');
    await clock.advance(2000);
    assert.equal(await token(), 'second');
    assert.deepEqual(await registered(), bearer('second'));
    renewed.stop();
  });

  it('is asked for again when that failed', async () => {
    let tries = 0;
    const { clock, token, renewed } = await setUp(() => {
      tries += 1;
      if (tries < 3) return Promise.reject(new Error('plugin failed'));
      return Promise.resolve({ authentication: bearer('third') });
    });
    await clock.advance(600_000);
    assert.equal(await token(), 'third');
    renewed.stop();
  });

  it('never gives the functions of an observed cluster one', async () => {
    const { clock, registered, renewed } = await setUp(
      () => Promise.resolve({ authentication: bearer('second') }),
      { kind: 'none' },
    );
    await clock.advance(600_000);
    assert.deepEqual(await registered(), { kind: 'none' });
    renewed.stop();
  });
});
