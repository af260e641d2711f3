/** Names of a cluster's roles and of their stack: within bounds, and never shared by two clusters. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { clusterId, clusterUid } from '../../../../../src/core/model/identifiers.ts';
import {
  issuerName,
  roleName,
  rolesParameters,
  rolesStackName,
} from '../../../../../src/cli/cluster/roles/roles.ts';
import type { ClusterRolesRequest } from '../../../../../src/cli/cluster/roles/roles.ts';

const REQUEST: ClusterRolesRequest = {
  stage: 'dev',
  id: clusterId('prod-1'),
  clusterUid: clusterUid('uid-1'),
  outputs: {
    SenderRolePath: '/rollcall/dev/',
    EventsQueueArn: 'arn:aws:sqs:eu-west-1:111122223333:events.fifo',
    CredentialsQueueArn: 'arn:credentials',
    CredentialsKeyArn: 'arn:key',
  },
  hasRenewer: false,
  trust: { kind: 'pod-identity', clusterArn: 'arn:cluster', clusterName: 'prod' },
};

const idArbitrary = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/);

describe('names of roles', () => {
  it('are written plainly while they fit', () => {
    const name = roleName({ stage: 'dev', id: 'prod-1', part: 'watcher' });
    assert.equal(name, 'rollcall-dev-prod-1-watcher');
  });

  it('fit IAM and CloudFormation, and two ids never share one, even where case does not count (S6)', () => {
    fc.assert(
      fc.property(idArbitrary, idArbitrary, (left, right) => {
        const names = [left, right].map((id) => roleName({ stage: 'dev', id, part: 'watcher' }));
        const stacks = [left, right].map((id) => rolesStackName({ stage: 'dev', id }));
        for (const name of names) assert.match(name, /^[\w+=,.@-]{1,64}$/);
        for (const stack of stacks) assert.match(stack, /^[A-Za-z][A-Za-z0-9-]{0,127}$/);
        const isSame = left === right;
        const [first = '', second = ''] = names;
        assert.equal(first.toLowerCase() === second.toLowerCase(), isSame);
        assert.equal(stacks[0] === stacks[1], isSame);
      }),
      {
        examples: [
          ['a'.repeat(80), `${'a'.repeat(79)}b`],
          ['Prod', 'prod'],
          ['a.b', 'a-b'],
        ],
      },
    );
  });
});

describe('parameters of the roles', () => {
  it('name no renewer and no key without a bound token', () => {
    const parameters = rolesParameters(REQUEST);
    assert.equal(parameters['RenewerRoleName'], undefined);
    assert.equal(parameters['CredentialsKeyArn'], undefined);
    assert.equal(parameters['EksClusterArn'], 'arn:cluster');
  });

  it('name the issuer as IAM does', () => {
    assert.equal(issuerName('https://issuer.example/id/1/'), 'issuer.example/id/1');
    const parameters = rolesParameters({
      ...REQUEST,
      trust: {
        kind: 'web-identity',
        issuer: 'https://issuer.example/id/1',
        audience: 'sts.amazonaws.com',
        provider: 'missing',
      },
    });
    assert.equal(parameters['OidcIssuer'], 'issuer.example/id/1');
    assert.equal(parameters['CreateOidcProvider'], 'yes');
  });
});
