/** The manifests of a cluster: the shipped files with its values, and nothing left to fill in. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import {
  composeManifests,
  CREDENTIAL_KINDS,
  describeObject,
  releasedImage,
  writeManifests,
} from '../../../../../src/cli/cluster/manifests/manifests.ts';
import type { ManifestValues } from '../../../../../src/cli/cluster/manifests/manifests.ts';
import { jsonMember, type JsonObject } from '@rollcall/base/json.ts';

const VALUES: ManifestValues = {
  id: 'prod-1',
  image: 'registry.example/watcher@sha256:1',
  outputs: {
    EventsQueueArn: 'arn:aws:sqs:eu-west-1:1:events.fifo',
    EventsQueueUrl: 'https://sqs.eu-west-1.amazonaws.com/1/events.fifo',
    CredentialsQueueUrl: 'https://sqs.eu-west-1.amazonaws.com/1/credentials',
    CredentialsKeyArn: 'arn:aws:kms:eu-west-1:1:key/1',
  },
  credentials: 'irsa',
  watcherRoleArn: 'arn:aws:iam::1:role/rollcall/dev/watcher',
  renewerRoleArn: 'arn:aws:iam::1:role/rollcall/dev/renewer',
  authentication: 'none',
};

function find(objects: readonly JsonObject[], name: string): JsonObject {
  const found = objects.find((object) => describeObject(object) === name);
  assert.ok(found !== undefined, `no ${name} among ${objects.map(describeObject).join(', ')}`);
  return found;
}

describe('manifests of a cluster', () => {
  it('are the watcher only, in observe: nothing that gives the functions a right', () => {
    const kinds = composeManifests(VALUES).map(describeObject);
    assert.deepEqual(kinds, [
      'Namespace rollcall-system',
      'ServiceAccount rollcall-system/rollcall-watcher',
      'ClusterRole rollcall-watcher',
      'ClusterRoleBinding rollcall-watcher',
      'Role rollcall-system/rollcall-watcher',
      'RoleBinding rollcall-system/rollcall-watcher',
      'ResourceQuota rollcall-system/rollcall-critical-pods',
      'ConfigMap rollcall-system/rollcall-watcher',
      'Deployment rollcall-system/rollcall-watcher',
    ]);
  });

  it('hold the values of the cluster, and no other value changes', () => {
    const objects = composeManifests(VALUES);
    const data = find(objects, 'ConfigMap rollcall-system/rollcall-watcher')['data'];
    assert.equal(jsonMember(data, 'ROLLCALL_CLUSTER'), 'prod-1');
    assert.equal(jsonMember(data, 'ROLLCALL_EVENTS_QUEUE_URL'), VALUES.outputs.EventsQueueUrl);
    assert.equal(jsonMember(data, 'AWS_REGION'), 'eu-west-1');
    const account = find(objects, 'ServiceAccount rollcall-system/rollcall-watcher');
    const annotations = jsonMember(account['metadata'], 'annotations');
    assert.equal(jsonMember(annotations, 'eks.amazonaws.com/role-arn'), VALUES.watcherRoleArn);
    const images = JSON.stringify(objects).match(/"image":"[^"]*"/g);
    assert.deepEqual(images, [`"image":"${String(VALUES.image)}"`]);
  });

  it('bring the renewer with a bound token, at a minute of the cluster’s own', () => {
    const objects = composeManifests({
      ...VALUES,
      credentials: 'web-identity',
      authentication: 'bound-token',
    });
    const data = find(objects, 'ConfigMap rollcall-system/rollcall-renewer')['data'];
    assert.equal(jsonMember(data, 'AWS_ROLE_ARN'), VALUES.renewerRoleArn);
    assert.equal(
      jsonMember(data, 'ROLLCALL_CREDENTIALS_KEY_ARN'),
      VALUES.outputs.CredentialsKeyArn,
    );
    const job = find(objects, 'CronJob rollcall-system/rollcall-renewer');
    const schedule = jsonMember(job['spec'], 'schedule');
    assert.ok(typeof schedule === 'string');
    assert.match(schedule, /^([1-9]|[1-5][0-9]) \* \* \* \*$/);
    find(objects, 'ValidatingAdmissionPolicy rollcall-pods');
    find(objects, 'ClusterRole rollcall-functions');
    const names = objects.map(describeObject);
    assert.equal(new Set(names).size, names.length, 'each object once');
  });

  it('give the functions’ rights to the user of EKS access entries, whom the admission policy knows', () => {
    const objects = composeManifests({ ...VALUES, authentication: 'eks' });
    const accounts = objects.filter(({ kind }) => kind === 'ServiceAccount').map(describeObject);
    assert.deepEqual(accounts, ['ServiceAccount rollcall-system/rollcall-watcher']);
    for (const name of [
      'ClusterRoleBinding rollcall-functions',
      'RoleBinding rollcall-system/rollcall-functions',
    ]) {
      const subjects = JSON.stringify(find(objects, name)['subjects']);
      assert.match(subjects, /"kind":"User"[^}]*"name":"rollcall-functions"/);
    }
    for (const name of [
      'ClusterRoleBinding rollcall-requests',
      'RoleBinding rollcall-system/rollcall-requests',
    ]) {
      const subjects = JSON.stringify(find(objects, name)['subjects']);
      assert.match(subjects, /"kind":"User"[^}]*"name":"rollcall-requests"/);
    }
  });

  it('give the functions what copilot needs, and the policies that narrow it, by their mode', () => {
    for (const authentication of ['eks', 'bound-token'] as const) {
      const objects = composeManifests({ ...VALUES, authentication, mode: 'copilot' });
      const names = objects.map(describeObject);
      for (const rule of ['pods', 'listed', 'daemon-sets', 'revisions', 'events']) {
        assert.ok(names.includes(`ValidatingAdmissionPolicyBinding rollcall-copilot-${rule}`));
      }
      assert.ok(!names.some((name) => name.endsWith('rollcall-owner')), 'nothing of takeover');
      const [role] = objects.filter(
        (each) => describeObject(each) === 'ClusterRole rollcall-functions',
      );
      assert.doesNotMatch(JSON.stringify(role?.['rules']), /daemonsets\/status|"create","delete"/);
      const binding = find(objects, 'ClusterRoleBinding rollcall-functions');
      const kind = authentication === 'eks' ? 'User' : 'ServiceAccount';
      assert.equal((binding['subjects'] as readonly { readonly kind: string }[])[0]?.kind, kind);
    }
  });

  it('say to watcher and renewer alike where their AWS credentials come from', () => {
    const partsOf = (credentials: ManifestValues['credentials']) => {
      const values = { ...VALUES, credentials, authentication: 'bound-token' } as const;
      const objects = composeManifests(values);
      return (['watcher', 'renewer'] as const).map((part) => {
        const runs = part === 'watcher' ? 'Deployment' : 'CronJob';
        const [account, configuration, pods] = ['ServiceAccount', 'ConfigMap', runs].map((kind) =>
          JSON.stringify(find(objects, `${kind} rollcall-system/rollcall-${part}`)),
        );
        return { part, account, configuration, pods };
      });
    };
    for (const { account, configuration, pods } of partsOf('web-identity')) {
      assert.doesNotMatch(String(account), /role-arn/);
      assert.match(
        String(configuration),
        /"AWS_WEB_IDENTITY_TOKEN_FILE":"\/var\/run\/secrets\/rollcall.dev\/aws\/token"/,
      );
      assert.match(String(pods), /"mountPath":"\/var\/run\/secrets\/rollcall.dev\/aws"/);
      assert.match(String(pods), /"audience":"sts.amazonaws.com"/);
    }
    for (const { part, configuration, pods } of partsOf('static')) {
      assert.match(String(pods), new RegExp(`"secretRef":{"name":"rollcall-${part}-aws"}`));
      assert.match(String(pods), new RegExp(`"configMapRef":{"name":"rollcall-${part}"}`));
      assert.doesNotMatch(String(configuration), /AWS_ROLE_ARN/);
    }
    for (const { account, pods } of partsOf('irsa')) {
      assert.match(String(account), /"eks.amazonaws.com\/sts-regional-endpoints":"true"/);
      assert.doesNotMatch(String(pods), /aws-token|secretRef/);
    }
    for (const { account, pods } of partsOf('pod-identity')) {
      assert.doesNotMatch(String(account), /role-arn/);
      assert.doesNotMatch(String(pods), /aws-token|secretRef/);
    }
  });

  it('hold no key, and refuse to leave a role out where one is needed (S11)', () => {
    const objects = composeManifests({ ...VALUES, credentials: 'static' });
    assert.ok(objects.every(({ kind }) => kind !== 'Secret'));
    const { watcherRoleArn: _role, ...withoutRole } = VALUES;
    for (const credentials of ['irsa', 'web-identity'] as const) {
      assert.throws(() => composeManifests({ ...withoutRole, credentials }), /nothing was set/);
    }
  });

  it('name the image that a release put in, and none before', () => {
    assert.equal(releasedImage(), undefined);
    const image = 'registry.example.com/w:v1@sha256:1';
    assert.equal(releasedImage(`      - name: watcher\n        image: ${image}\n`), image);
  });

  it('are YAML that reads back as the same objects', () => {
    for (const credentials of CREDENTIAL_KINDS) {
      const objects = composeManifests({
        ...VALUES,
        credentials,
        authentication: 'bound-token',
      });
      const read = parseAllDocuments(writeManifests(objects)).map((one) => one.toJS() as unknown);
      assert.deepEqual(read, objects);
    }
  });
});
