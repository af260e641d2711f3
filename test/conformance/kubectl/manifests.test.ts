/**
 * What people apply to a local cluster beside their DaemonSets, with kubectl and without a flag.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { stringify } from 'yaml';
import { describeKubectl } from './on-local-cluster.ts';

const DIRECTORY = join(import.meta.dirname, 'manifests');
const KINDS = join(DIRECTORY, 'kinds.yaml');
const DAEMON_SETS = join(DIRECTORY, 'daemon-sets.yaml');
const NOT_ENFORCED = [
  'LimitRange',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'ResourceQuota',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
];
const BUNDLE_BYTES = 700_000;

describeKubectl('applies to a local cluster', ({ kubectl }) => {
  it('one of each kind, and is warned of those that nothing enforces', async () => {
    const created = await kubectl().run(['apply', '-f', KINDS]);
    assert.equal(created.code, 0, created.stderr);
    assert.ok(created.stdout.split('\n').every((line) => line === '' || / created$/.test(line)));
    assert.deepEqual(
      created.stderr.trim().split('\n').sort(),
      NOT_ENFORCED.map((kind) => `Warning: ${kind} is stored, not enforced, by a local cluster`),
    );
    await kubectl().succeed(['apply', '-f', KINDS]);
    await kubectl().succeed(['apply', '--server-side', '--force-conflicts', '-f', KINDS]);
    assert.match(await kubectl().succeed('get all'), /deployment.apps\/controller/);
    assert.match(await kubectl().succeed('explain deployment.spec.strategy'), /rollingUpdate/);
    await kubectl().succeed(['delete', '-f', KINDS]);
    assert.doesNotMatch(await kubectl().succeed('get all'), /controller/);
  });

  it('DaemonSets as network plug-ins, log collectors and device plug-ins have them', async () => {
    await kubectl().succeed(['apply', '-f', DAEMON_SETS]);
    const sets = await kubectl().succeed('get daemonsets -n shapes -o name');
    assert.equal(sets.trim().split('\n').length, 3);
  });

  it('the rest of a file with a kind that is not there, and leaves with 1', async () => {
    const unknown = {
      apiVersion: 'ghosts.example.com/v1',
      kind: 'Ghost',
      metadata: { name: 'g' },
    };
    const input = bundleOf([unknown, configMap('after')]);
    const outcome = await kubectl().run('apply -f -', { input });
    assert.equal(outcome.code, 1);
    assert.match(outcome.stderr, /no matches for kind "Ghost" in version "ghosts.example.com\/v1"/);
    assert.match(outcome.stdout, /configmap\/after created/);
  });

  it('a bundle of 700 kB, CRDs first and the DaemonSet last', async () => {
    const definitions = Array.from({ length: 20 }, (_, index) => definition(index));
    const daemonSet = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'last' },
      spec: {
        selector: { matchLabels: { app: 'last' } },
        template: {
          metadata: { labels: { app: 'last' } },
          spec: { containers: [{ name: 'last', image: 'last:1' }] },
        },
      },
    };
    const input = bundleOf([...definitions, daemonSet]);
    assert.ok(input.length > BUNDLE_BYTES, String(input.length));
    const lines = (await kubectl().succeed('apply -f -', { input })).trim().split('\n');
    assert.equal(lines.length, 21);
    assert.equal(lines.at(-1), 'daemonset.apps/last created');
  });
});

function bundleOf(objects: readonly object[]): string {
  return objects.map((object) => stringify(object)).join('---\n');
}

function configMap(name: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
}

function definition(index: number): object {
  const member = (number: number): readonly [string, object] => [
    `field${String(number)}`,
    { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
  ];
  const properties = Object.fromEntries(Array.from({ length: 330 }, (_, number) => member(number)));
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `parts${String(index)}.bundle.example.com` },
    spec: {
      group: 'bundle.example.com',
      scope: 'Cluster',
      names: { kind: `Part${String(index)}`, plural: `parts${String(index)}` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties } },
        },
      ],
    },
  };
}
