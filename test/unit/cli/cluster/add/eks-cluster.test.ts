/** EKS clusters, by scripted answers of AWS. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ResourceNotFoundException } from '@aws-sdk/client-eks';
import {
  describeEksCluster,
  reachWarning,
  requireAccessEntries,
} from '../../../../../src/cli/cluster/add/eks-cluster.ts';

/** A client that gives what the script returns, or throws it. */
function scripted(script: (command: object) => unknown) {
  return {
    send: (command: object): Promise<never> => {
      const answer = script(command);
      // Each command has an answer of its own type; the test gives the members that are read.
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as never);
    },
  };
}

const WHICH = { name: 'prod', region: 'eu-west-1' };
const CLUSTER = {
  arn: 'arn:aws:eks:eu-west-1:111122223333:cluster/prod',
  endpoint: 'https://1.gr7.eu-west-1.eks.amazonaws.com',
  certificateAuthority: { data: Buffer.from('PEM').toString('base64') },
  identity: { oidc: { issuer: 'https://oidc.eks.eu-west-1.amazonaws.com/id/1' } },
  accessConfig: { authenticationMode: 'API' },
};
const missing = () => new ResourceNotFoundException({ message: '', $metadata: {} });

describe('an EKS cluster', () => {
  it('is known by its address, authority, issuer and ARN', async () => {
    const described = await describeEksCluster(
      scripted(() => ({ cluster: CLUSTER })),
      WHICH,
    );
    assert.deepEqual(described, {
      ...WHICH,
      arn: CLUSTER.arn,
      server: CLUSTER.endpoint,
      caPem: 'PEM',
      issuer: CLUSTER.identity.oidc.issuer,
      authenticationMode: 'API',
    });
  });

  it('that is missing, or not made yet, is an error that says so', async () => {
    await assert.rejects(describeEksCluster(scripted(missing), WHICH), /There is no EKS cluster/);
    const { endpoint: _endpoint, ...unmade } = { ...CLUSTER, status: 'CREATING' };
    const client = scripted(() => ({ cluster: unmade }));
    await assert.rejects(describeEksCluster(client, WHICH), /it is CREATING/);
  });

  it('must take access entries', async () => {
    const { accessConfig: _config, ...old } = CLUSTER;
    const described = await describeEksCluster(
      scripted(() => ({ cluster: old })),
      WHICH,
    );
    assert.throws(() => {
      requireAccessEntries(described);
    }, /CONFIG_MAP/);
  });
});

describe('an endpoint that functions outside a VPC may not reach (F15)', () => {
  const warningOf = async (resourcesVpcConfig?: object): Promise<string | undefined> => {
    const client = scripted(() => ({ cluster: { ...CLUSTER, resourcesVpcConfig } }));
    return reachWarning(await describeEksCluster(client, WHICH));
  };

  it('is warned of: a list of addresses, or no public endpoint', async () => {
    const listed = { endpointPublicAccess: true, publicAccessCidrs: ['203.0.113.0/24'] };
    assert.match((await warningOf(listed)) ?? '', /203\.0\.113\.0\/24 alone.*no fixed address/);
    assert.match((await warningOf({ endpointPublicAccess: false })) ?? '', /no public endpoint/);
  });

  it('is not where anybody may connect, or AWS does not say', async () => {
    const open = { endpointPublicAccess: true, publicAccessCidrs: ['203.0.113.9/32', '0.0.0.0/0'] };
    assert.equal(await warningOf(open), undefined);
    assert.equal(await warningOf({ endpointPublicAccess: true }), undefined);
    assert.equal(await warningOf(), undefined);
  });
});
