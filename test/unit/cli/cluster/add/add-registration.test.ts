/** The registration that adding makes: who may be added, and what is refused before it is written. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  composeRegistration,
  registerCluster,
  requireAddable,
  requireOwnRoles,
  requireReachable,
  requireSame,
  standingOf,
} from '../../../../../src/cli/cluster/add/add-registration.ts';
import { parseAddRequest } from '../../../../../src/cli/cluster/add/add-request.ts';
import type { EksCluster } from '../../../../../src/cli/cluster/add/eks-cluster.ts';
import { CommandError, EXIT } from '../../../../../src/cli/process/exit-codes.ts';
import { clusterUid } from '../../../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../../../src/core/model/registration.ts';
import { MemoryRegistryStore } from '../../../../support/memory-registry-store.ts';

const EKS: EksCluster = {
  name: 'prod',
  region: 'eu-west-1',
  arn: 'arn:aws:eks:eu-west-1:111122223333:cluster/prod',
  server: 'https://1.gr7.eu-west-1.eks.amazonaws.com',
  caPem: 'PEM',
  authenticationMode: 'API',
};

interface Parts {
  readonly fields?: object;
  readonly server?: string;
  readonly roleId?: string;
}

function compose({ fields = {}, server = 'https://a.example', roleId = 'AROA1' }: Parts = {}) {
  const given = { senderRoleId: 'AROA1', watcherRoleArn: 'arn:w' };
  return composeRegistration({
    request: parseAddRequest({ id: 'a', ...given, ...fields }),
    examined: { facts: { server, clusterUid: clusterUid('u'), version: 'v1' }, eks: EKS },
    roles: { watcher: roleId === '' ? {} : { roleId }, renewer: { roleId: 'AROA2' } },
  });
}

const RENEWED = { auth: 'bound-token', renewerRoleId: 'AROA2', renewerRoleArn: 'arn:r' };

const refusedWith = (exitCode: number, expected: RegExp) => (error: unknown) =>
  error instanceof CommandError && error.exitCode === exitCode && expected.test(error.message);

describe('a registration by cluster add', () => {
  it('is in observe and unfrozen, whatever the way in', () => {
    for (const fields of [{}, { auth: 'eks', eks: 'prod' }, RENEWED]) {
      const { mode, isFrozen, configVersion } = compose({ fields });
      assert.deepEqual(
        { mode, isFrozen, configVersion },
        {
          mode: 'observe',
          isFrozen: false,
          configVersion: 1,
        },
      );
    }
  });

  it('is in copilot where that was asked for', () => {
    const fields = { auth: 'eks', eks: 'prod', mode: 'copilot' };
    assert.equal(compose({ fields }).mode, 'copilot');
  });

  it('changes no mode: one that differs is refused, one that was entered since then stays', () => {
    const eks = { auth: 'eks', eks: 'prod' };
    const observing = compose({ fields: eks });
    const copilot = compose({ fields: { ...eks, mode: 'copilot' } });
    requireSame(copilot, observing);
    requireSame(copilot, copilot);
    assert.throws(
      () => {
        requireSame(observing, copilot);
      },
      refusedWith(EXIT.refused, /mode \(observe → copilot\)/),
    );
  });

  it('names a way in, never a credential (S11)', () => {
    assert.deepEqual(compose().authentication, { kind: 'none' });
    assert.deepEqual(compose({ fields: { auth: 'eks', eks: 'prod' } }).authentication, {
      kind: 'eks',
      clusterName: 'prod',
      region: 'eu-west-1',
    });
    assert.deepEqual(compose({ fields: RENEWED }).authentication, {
      kind: 'bound-token',
      renewerRoleId: 'AROA2',
    });
  });

  it('has an address of the one form that is connected to (S12)', () => {
    for (const server of ['http://a.example', 'https://u@a.example', 'ftp:x', '']) {
      assert.throws(() => compose({ server }), refusedWith(EXIT.usage, /cannot be registered/));
    }
  });

  it('is refused where no function could ever connect (S12)', () => {
    const judge =
      (parts: Parts, stage = 'dev') =>
      () => {
        requireReachable(compose(parts), stage);
      };
    const inner = 'https://10.1.2.3:6443';
    judge({ server: inner })();
    assert.throws(judge({ server: inner, fields: RENEWED }), /server, private/);
    judge({ server: inner, fields: { ...RENEWED, privateRanges: ['10.1.0.0/16'] } })();
    judge({ server: 'https://127.0.0.1:6443', fields: RENEWED }, 'local')();
    assert.throws(judge({ server: 'https://169.254.169.254', fields: RENEWED }), /metadata/);
    const eks = { auth: 'eks', eks: 'prod' };
    assert.throws(judge({ fields: eks }), /server, host/);
    judge({ server: EKS.server, fields: eks })();
  });
});

describe('a cluster that may be there already', () => {
  const stored = compose();
  const all = new Map<string, ClusterRegistration>([['a', stored]]);
  const standing = (id: string, uid: string) => standingOf({ id, clusterUid: uid }, all);

  it('is judged by id and UID (S6)', () => {
    assert.equal(standing('a', 'u').kind, 'registered');
    assert.equal(standing('a', 'v').kind, 'rebuilt');
    assert.equal(standing('b', 'u').kind, 'elsewhere');
    assert.equal(standing('b', 'v').kind, 'new');
    for (const [id, uid] of [
      ['a', 'v'],
      ['b', 'u'],
    ] as const) {
      assert.throws(
        () => {
          requireAddable(id, standing(id, uid));
        },
        refusedWith(EXIT.refused, /./),
      );
    }
  });

  it('never shares a role with another, as watcher or as renewer (S6)', () => {
    const other = { ...compose({ roleId: 'AROA9' }), id: 'b' as typeof stored.id };
    const judge =
      (change: Partial<ClusterRegistration>, stage = 'dev') =>
      () => {
        requireOwnRoles({ ...other, ...change }, all, stage);
      };
    judge({})();
    assert.throws(judge({ senderRoleId: 'AROA1' }), refusedWith(EXIT.refused, /speaks for a/));
    const authentication = { kind: 'bound-token', renewerRoleId: 'AROA1' } as const;
    assert.throws(judge({ authentication }), refusedWith(EXIT.refused, /speaks for a/));
    judge({ senderRoleId: 'AROA1' }, 'local')();
  });

  it('is kept as it is: mode, freeze and what the request leaves open are no difference', () => {
    const later: ClusterRegistration = {
      ...stored,
      mode: 'takeover',
      isFrozen: true,
      configVersion: 7,
      labels: { ring: '1' },
      egress: { privateRanges: ['10.0.0.0/8'] },
    };
    requireSame(later, compose());
    requireSame(later, compose({ roleId: '' }));
    assert.throws(
      () => {
        requireSame(later, compose({ fields: { labels: { ring: '2' } } }));
      },
      refusedWith(EXIT.refused, /label ring \(1 → 2\)/),
    );
    assert.throws(
      () => {
        requireSame(later, compose({ roleId: 'AROA3' }));
      },
      refusedWith(EXIT.refused, /senderRoleId/),
    );
  });

  it('is written once, and nothing is written over', async () => {
    const registry = new MemoryRegistryStore();
    assert.equal(await registerCluster(registry, stored), 'written');
    assert.equal(await registerCluster(registry, stored), 'present');
    const other = { ...stored, id: 'b' as typeof stored.id };
    await assert.rejects(registerCluster(registry, other), refusedWith(EXIT.refused, /another id/));
    const moved = { ...stored, server: 'https://b.example' };
    await assert.rejects(registerCluster(registry, moved), refusedWith(EXIT.refused, /server/));
    assert.equal((await registry.readCluster(stored.id))?.server, 'https://a.example');
  });
});
