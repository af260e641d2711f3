/**
 * What people do with kubectl to custom kinds of a local cluster: define, apply, look, explain, take away.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeKubectl } from './on-local-cluster.ts';

const DEFINITION = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: crontabs.stable.example.com
spec:
  group: stable.example.com
  scope: Namespaced
  names: { plural: crontabs, singular: crontab, kind: CronTab, shortNames: [ct] }
  versions:
  - name: v1
    served: true
    storage: true
    subresources: { status: {} }
    additionalPrinterColumns:
    - { name: Spec, type: string, jsonPath: .spec.cronSpec }
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            description: What is to run, and when.
            properties:
              cronSpec: { type: string }
              image: { type: string }
`;
const objectWith = (spec: string): string => `
apiVersion: stable.example.com/v1
kind: CronTab
metadata: { name: mine, namespace: default }
spec: { ${spec} }
`;

describeKubectl('custom kinds', ({ kubectl }) => {
  it('are defined, applied, looked at, explained and taken away', async () => {
    const apply = (input: string, how = ''): Promise<string> =>
      kubectl().succeed(`apply${how} -f -`, { input });
    assert.match(await apply(DEFINITION), /crontabs\.stable\.example\.com created/);
    const defined = 'crd/crontabs.stable.example.com';
    await kubectl().succeed(`wait --for=condition=Established ${defined} --timeout=10s`);
    assert.match(await apply(DEFINITION), /unchanged/);

    assert.match(
      await apply(objectWith('cronSpec: daily')),
      /crontab\.stable\.example\.com\/mine created/,
    );
    assert.match(await apply(objectWith('cronSpec: daily')), /mine unchanged/);
    assert.match(await apply(objectWith('cronSpec: weekly')), /mine configured/);
    const refused = await kubectl().run('apply -f -', { input: objectWith('cronSpek: daily') });
    assert.match(refused.stderr, /unknown field "spec\.cronSpek"/);
    const table = await kubectl().succeed('get ct');
    assert.match(table, /^NAME +SPEC\nmine +weekly\n$/);
    assert.match(
      await apply(objectWith('image: other'), ' --server-side --field-manager=second'),
      /mine serverside-applied/,
    );
    await kubectl().succeed([
      ...['patch', 'ct', 'mine', '--type=merge', '--subresource=status'],
      ...['-p', '{"status":{}}'],
    ]);
    const explained = await kubectl().succeed('explain crontab.spec');
    assert.match(explained, /What is to run, and when\./);
    assert.match(explained, /cronSpec\s+<string>/);
    assert.match(
      await kubectl().succeed('api-resources --api-group=stable.example.com'),
      /ct +stable/,
    );

    await kubectl().succeed(`delete ${defined} --timeout=30s`);
    // Unlike `get`, it asks what is there now.
    const left = await kubectl().succeed('api-resources --api-group=stable.example.com');
    assert.doesNotMatch(left, /crontabs/);
    const gone = await kubectl().run('get ct');
    assert.match(gone.stderr, /the server doesn't have a resource type "ct"/);
  });
});
