// What no cluster can be given is told by its field.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { judgeManifest } from '../../../../src/core/fleet/judge-manifest.ts';
import { manifestOf } from '../../../support/fleet-samples.ts';

const KEY = { namespace: 'monitoring', name: 'agent' };
const SPEC = manifestOf()['spec'] as JsonObject;
const CONTAINER = { name: 'agent', image: 'a:1' };

function fieldsOf(manifest: JsonObject): readonly string[] {
  const judged = judgeManifest(manifest, KEY);
  return judged.kind === 'manifest' ? [] : judged.problems.map(({ field }) => field);
}

describe('judgeManifest', () => {
  it('takes a DaemonSet, and gives it the name of its fleet', () => {
    const judged = judgeManifest(manifestOf(), KEY);
    assert.equal(judged.kind, 'manifest');
    assert.deepEqual(judged.manifest.metadata, KEY);
  });

  const REFUSED: readonly (readonly [what: string, manifest: JsonObject, field: string])[] = [
    ['another kind', { ...manifestOf(), kind: 'Deployment' }, 'kind'],
    ['an old version', { ...manifestOf(), apiVersion: 'apps/v1beta2' }, 'apiVersion'],
    ['metadata that is none', { ...manifestOf(), metadata: 'agent' }, 'metadata'],
    ['another name', { ...manifestOf(), metadata: { name: 'other' } }, 'metadata.name'],
    [
      'an owner of one cluster',
      { ...manifestOf(), metadata: { ownerReferences: [] } },
      'metadata.ownerReferences',
    ],
    ['no selector', { ...manifestOf(), spec: { ...SPEC, selector: {} } }, 'spec.selector'],
    [
      'a selector with an unknown operator',
      {
        ...manifestOf(),
        spec: { ...SPEC, selector: { matchExpressions: [{ key: 'app', operator: 'Like' }] } },
      },
      'spec.selector',
    ],
    [
      'labels that do not match',
      { ...manifestOf(), spec: { ...SPEC, selector: { matchLabels: { app: 'other' } } } },
      'spec.template.metadata.labels',
    ],
    [
      'a strategy that nobody knows',
      { ...manifestOf(), spec: { ...SPEC, updateStrategy: { type: 'Recreate' } } },
      'spec.updateStrategy.type',
    ],
    ['no container', manifestOf({ containers: [] }), 'spec.template.spec.containers'],
    [
      'a container without an image',
      manifestOf({ containers: [{ name: 'agent' }] }),
      'spec.template.spec.containers[0].image',
    ],
    [
      'two containers of one name',
      manifestOf({ containers: [CONTAINER], initContainers: [CONTAINER] }),
      'spec.template.spec.initContainers[0].name',
    ],
    [
      'pods that end',
      manifestOf({ restartPolicy: 'OnFailure' }),
      'spec.template.spec.restartPolicy',
    ],
  ];
  for (const [what, manifest, field] of REFUSED) {
    it(`refuses ${what}`, () => {
      assert.deepEqual(fieldsOf(manifest), [field]);
    });
  }

  it('repeats no value', () => {
    const manifest = { ...manifestOf({ restartPolicy: 'hunter2' }), kind: 'hunter2' };
    assert.doesNotMatch(JSON.stringify(judgeManifest(manifest, KEY)), /hunter2/);
  });
});
