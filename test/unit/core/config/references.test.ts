/** Which references of a template count, and in which order (ADR 0061). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { findConfigReferences } from '../../../../src/core/config/references.ts';
import type { ConfigReferences } from '../../../../src/core/config/references.ts';
import type { ConfigSelection } from '../../../../src/core/policy/rollout-policy.ts';
import { daemonSet } from '../../../support/core-fixtures.ts';

function found(
  spec: JsonObject,
  selection: ConfigSelection = { kind: 'referenced' },
): ConfigReferences {
  return findConfigReferences(daemonSet({ spec: { template: { spec } } }), selection);
}

function namesOf(spec: JsonObject, selection?: ConfigSelection): readonly string[] {
  return found(spec, selection).references.map(
    ({ kind, name, isOptional }) => `${kind} ${name}${isOptional ? '?' : ''}`,
  );
}

const EVERYWHERE: JsonObject = {
  initContainers: [{ envFrom: [{ secretRef: { name: 'init' } }] }],
  containers: [
    {
      envFrom: [{ configMapRef: { name: 'from', optional: true } }],
      env: [
        { name: 'A', valueFrom: { configMapKeyRef: { name: 'key', key: 'a' } } },
        { name: 'B', valueFrom: { secretKeyRef: { name: 'token', key: 'b', optional: true } } },
        { name: 'C', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        { name: 'D', value: 'plain' },
      ],
    },
  ],
  volumes: [
    { name: 'a', configMap: { name: 'mounted' } },
    { name: 'b', secret: { secretName: 'mounted', optional: true } },
    {
      name: 'c',
      projected: {
        sources: [
          { configMap: { name: 'projected' } },
          { secret: { name: 'projected' } },
          { serviceAccountToken: { path: 'token' } },
        ],
      },
    },
    { name: 'd', hostPath: { path: '/' } },
  ],
  imagePullSecrets: [{ name: 'registry' }],
};

describe('references of a template', () => {
  it('are those of env, envFrom, volumes and projected volumes, sorted', () => {
    assert.deepEqual(namesOf(EVERYWHERE), [
      'ConfigMap from?',
      'ConfigMap key',
      'ConfigMap mounted',
      'ConfigMap projected',
      'Secret init',
      'Secret mounted?',
      'Secret projected',
      'Secret token?',
    ]);
  });

  it('one that some container needs is needed, in either order', () => {
    const needed = { configMapRef: { name: 'a' } };
    const optional = { configMapRef: { name: 'a', optional: true } };
    for (const envFrom of [
      [needed, optional],
      [optional, needed],
    ]) {
      assert.deepEqual(namesOf({ containers: [{ envFrom }] }), ['ConfigMap a']);
    }
    assert.deepEqual(namesOf({ containers: [{ envFrom: [optional, optional] }] }), [
      'ConfigMap a?',
    ]);
  });

  it('a list of names counts these alone, also those that the template does not name', () => {
    const selection = {
      kind: 'listed',
      configMaps: ['from', 'read-by-itself'],
      secrets: [],
    } as const;
    assert.deepEqual(namesOf(EVERYWHERE, selection), [
      'ConfigMap from?',
      'ConfigMap read-by-itself',
    ]);
  });

  it('more than the bound are counted', () => {
    const envFrom = Array.from({ length: 40 }, (_, index) => ({
      configMapRef: { name: `c${String(index).padStart(2, '0')}` },
    }));
    const { references, leftOutCount } = found({ containers: [{ envFrom }] });
    assert.deepEqual([references.length, references[31]?.name, leftOutCount], [32, 'c31', 8]);
  });

  it('what is not as documented is passed over', () => {
    const odd: readonly JsonObject[] = [
      {},
      { containers: 'none', volumes: { secret: 1 } },
      { containers: [null, 1, { envFrom: [{ configMapRef: null }, 'x'] }] },
      { containers: [{ envFrom: [{ configMapRef: { name: '../../nodes' } }] }] },
      { volumes: [{ secret: { secretName: 5 } }, { projected: { sources: 'all' } }] },
    ];
    for (const spec of odd) assert.deepEqual(namesOf(spec), []);
  });
});
