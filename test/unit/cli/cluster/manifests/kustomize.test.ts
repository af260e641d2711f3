/** Rendering of kustomizations, as far as the shipped ones go; test/conformance/cli compares with kubectl. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  isObject,
  renderKustomization,
} from '../../../../../src/cli/cluster/manifests/kustomize.ts';

const BASE = `
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [objects.yaml]
`;
const OBJECTS = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: one, labels: { a: x, b: y } }
spec:
  containers:
    - { name: main, image: i, env: [{ name: A, value: '1' }], args: [x, y] }
    - { name: side, image: s }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: one }
`;

describe('rendering a kustomization', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-kustomize-'));
  const write = (name: string, text: string): void => {
    mkdirSync(path.join(directory, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(directory, name), text);
  };
  const render = (patches: string): ReturnType<typeof renderKustomization> => {
    const head = 'apiVersion: v1\nkind: Kustomization\nresources: [../base]\n';
    write('overlay/kustomization.yaml', `${head}${patches}`);
    return renderKustomization(path.join(directory, 'overlay'));
  };
  const patch = (target: string, lines: readonly string[]): string =>
    `patches:\n  - target: ${target}\n    patch: |-\n${lines.map((line) => `      ${line}`).join('\n')}\n`;

  before(() => {
    write('base/kustomization.yaml', BASE);
    write('base/objects.yaml', OBJECTS);
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });

  it('merges members, and containers and variables by name; other lists are replaced, null removes', () => {
    const [deployment] = render(
      patch('{ kind: Deployment, name: one }', [
        'metadata: { labels: { b: null, c: z } }',
        'spec:',
        '  containers:',
        '    - { name: main, args: [z], env: [{ name: B, value: "2" }] }',
      ]),
    );
    assert.deepEqual(deployment?.['metadata'], { name: 'one', labels: { a: 'x', c: 'z' } });
    const env = [
      { name: 'B', value: '2' },
      { name: 'A', value: '1' },
    ];
    assert.deepEqual(deployment?.['spec'], {
      containers: [
        { name: 'main', image: 'i', env, args: ['z'] },
        { name: 'side', image: 's' },
      ],
    });
  });

  it('adds and replaces by path, and deletes what a patch says to delete', () => {
    const added = render(
      patch('{ kind: Deployment, name: one }', [
        '- { op: add, path: /spec/containers/0/args/-, value: w }',
        '- { op: replace, path: /metadata/labels, value: {} }',
      ]),
    );
    assert.deepEqual(added[0]?.['metadata'], { name: 'one', labels: {} });
    assert.match(JSON.stringify(added[0]), /"args":\["x","y","w"\]/);
    const deleted = render(patch('{ kind: "Service.*", name: one }', ['$patch: delete']));
    assert.deepEqual(
      deleted.map(({ kind }) => kind),
      ['Deployment'],
    );
    assert.ok(isObject(deleted[0] ?? {}, { kind: 'Deployment', name: 'one' }));
  });

  it('refuses what it does not know, and a patch that finds nothing', () => {
    assert.throws(() => render('namePrefix: x-\n'), /not known here: namePrefix/);
    assert.throws(() => render(patch('{ kind: Secret, name: one }', ['a: b'])), /finds no Secret/);
    const removal = ['- { op: remove, path: /metadata/annotations/none }'];
    assert.throws(() => render(patch('{ kind: ServiceAccount, name: one }', removal)));
  });
});
