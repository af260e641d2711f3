// The fields that a manifest may have are those of the table that is generated from Go's types.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { STRUCTS } from '@rollcall/local-cluster/schema/field-table.ts';
import { KNOWN_FIELDS, unknownFields } from '../../../../src/adapters/policy/manifest-fields.ts';

describe('unknownFields', () => {
  it('knows the fields that Kubernetes has, and no others', () => {
    for (const [name, { fields }] of Object.entries(KNOWN_FIELDS)) {
      const [go] = [...STRUCTS].filter(([struct]) => struct.split('.').at(-1) === name);
      assert.deepEqual([...fields].sort(), [...(go?.[1].keys() ?? [])].sort(), name);
    }
  });

  it('names each by its path, with the one that was meant', () => {
    const container = { name: 'agent', imag: 'a' };
    const spec = { containers: [container], nodeselector: {} };
    const problems = unknownFields({ spec: { template: { spec } } });
    assert.deepEqual(
      problems.map(({ field, message }) => `${field} ${message}`),
      [
        'spec.template.spec.containers[0].imag is no field of Kubernetes: did you mean image?',
        'spec.template.spec.nodeselector is no field of Kubernetes: did you mean nodeSelector?',
      ],
    );
  });
});
