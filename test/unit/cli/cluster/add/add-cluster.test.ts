/** What `cluster add` says in the end, by what was done and what is left. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeAdded, nextSteps } from '../../../../../src/cli/cluster/add/add-cluster.ts';
import type { AddedCluster } from '../../../../../src/cli/cluster/add/add-steps.ts';
import { clusterId, clusterUid } from '../../../../../src/core/model/identifiers.ts';
import type { ClusterAuthentication } from '../../../../../src/core/model/registration.ts';

function added(
  change: Partial<AddedCluster> = {},
  authentication: ClusterAuthentication = { kind: 'none' },
): AddedCluster {
  return {
    id: 'a',
    registration: {
      id: clusterId('a'),
      clusterUid: clusterUid('u'),
      mode: 'observe',
      isFrozen: false,
      configVersion: 1,
      senderRoleId: 'AROA1',
      server: 'https://a.example',
      authentication,
      labels: {},
    },
    result: 'written',
    version: 'v1.36.3',
    credentials: 'irsa',
    hasImage: true,
    roles: { watcher: { roleId: 'AROA1' } },
    accessEntries: [],
    accessEntryCommands: [],
    warnings: [],
    manifests: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }],
    applied: [],
    ...change,
  };
}

const APPLIED = { isDryRun: false, isApplied: true };
const PRINTED = { isDryRun: false, isApplied: false };
const textOf = (...parts: Parameters<typeof nextSteps>): string => nextSteps(...parts).join('\n');

describe('what is left to do', () => {
  it('is the doctor, once everything is applied', () => {
    const lines = nextSteps(added(), APPLIED).filter((line) => line.startsWith('  '));
    assert.deepEqual(lines, ['  see that all is well:  rollcall cluster doctor a']);
  });

  it('names what the person has to do, in order', () => {
    const printed = textOf(added({ hasImage: false, credentials: 'static' }), PRINTED);
    assert.match(printed, /name the image.*make the Secret.*apply the manifests.*doctor/s);
    const failed = [{ object: 'x', result: 'failed' } as const];
    assert.match(textOf(added({ applied: failed }), APPLIED), /1 object was refused/);
    const eks: ClusterAuthentication = { kind: 'eks', clusterName: 'c', region: 'eu-west-1' };
    const commands = { accessEntryCommands: ['aws eks x'], credentials: 'pod-identity' as const };
    const entered = textOf(added(commands, eks), APPLIED);
    assert.match(entered, /aws eks x.*before takeover.*set a --mode takeover/s);
    const bound: ClusterAuthentication = { kind: 'bound-token', renewerRoleId: 'AROA2' };
    assert.match(textOf(added({}, bound), APPLIED), /rollcall-renewer-first.*--mode takeover/s);
  });

  it('is nothing after a dry run', () => {
    assert.deepEqual(nextSteps(added(), { isDryRun: true, isApplied: false }), [
      'Dry run: nothing was written.',
    ]);
  });
});

describe('the document', () => {
  it('shows of an authentication what it is, never what it holds (S11)', () => {
    const secret: ClusterAuthentication = { kind: 'bearer', token: 'sesame' };
    const document = describeAdded(added({}, secret), { withManifests: true });
    assert.equal(document['authentication'], 'bearer');
    assert.ok(!JSON.stringify(document).includes('sesame'));
    assert.deepEqual(document['objects'], ['Namespace n']);
    assert.equal('manifests' in describeAdded(added(), { withManifests: false }), false);
  });
});
