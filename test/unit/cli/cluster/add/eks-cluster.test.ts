/** EKS clusters and their access entries, by scripted answers of AWS. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CreateAccessEntryCommand,
  DescribeAccessEntryCommand,
  ResourceInUseException,
  ResourceNotFoundException,
} from '@aws-sdk/client-eks';
import {
  accessEntryCommands,
  describeEksCluster,
  ensureAccessEntries,
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
const inUse = () => new ResourceInUseException({ message: '', $metadata: {} });

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

describe('access entries', () => {
  const identity = { username: 'rollcall-functions', kubernetesGroups: ['rollcall-functions'] };

  it('are made where they are missing, with one user and one group', async () => {
    const sent: unknown[] = [];
    const client = scripted((command) => {
      sent.push((command as CreateAccessEntryCommand).input);
      return {};
    });
    const results = await ensureAccessEntries(client, 'prod', ['arn:a', 'arn:b']);
    assert.deepEqual(results, [
      { principalArn: 'arn:a', result: 'created' },
      { principalArn: 'arn:b', result: 'created' },
    ]);
    assert.deepEqual(sent[0], {
      clusterName: 'prod',
      principalArn: 'arn:a',
      type: 'STANDARD',
      ...identity,
    });
  });

  it('are left as they are, or put right', async () => {
    const found = async (accessEntry: object): Promise<string | undefined> => {
      const client = scripted((command) => {
        if (command instanceof CreateAccessEntryCommand) return inUse();
        return command instanceof DescribeAccessEntryCommand ? { accessEntry } : {};
      });
      return (await ensureAccessEntries(client, 'prod', ['arn:a']))[0]?.result;
    };
    assert.equal(await found(identity), 'present');
    assert.equal(await found({ ...identity, kubernetesGroups: ['system:masters'] }), 'updated');
    assert.equal(await found({ ...identity, username: 'other' }), 'updated');
  });

  it('can be made by hand', () => {
    const [command] = accessEntryCommands(WHICH, ['arn:a']);
    assert.match(command ?? '', /--principal-arn arn:a --username rollcall-functions/);
  });
});
