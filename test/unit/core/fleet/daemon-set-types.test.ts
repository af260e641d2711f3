// The product's few types of a DaemonSet say what the table that is generated from Go's types says.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSchema } from '@rollcall/local-cluster/schema/create-schema.ts';
import { STRUCTS } from '@rollcall/local-cluster/schema/field-table.ts';
import {
  DAEMON_SET_STRUCT,
  DAEMON_SET_TYPES,
} from '../../../../src/core/fleet/daemon-set-types.ts';

const schema = createSchema();

/** What a patch does differently by one of the two tables, at any depth below two structs. */
function differences(
  ours: string | undefined,
  theirs: string,
  { path = '', seen = new Set<string>() } = {},
): readonly string[] {
  if (seen.has(theirs)) return [];
  seen.add(theirs);
  // A server's, and nobody else's to write.
  const names = [...(STRUCTS.get(theirs)?.keys() ?? [])].filter((name) => name !== 'managedFields');
  return names.flatMap((name) => {
    const at = `${path}.${name}`;
    const go = schema.field(theirs, name);
    const own = ours === undefined ? undefined : DAEMON_SET_TYPES.field(ours, name);
    const merge = (field: typeof own): string =>
      field?.patchStrategies.includes('merge') === true
        ? `merge ${String(field.patchMergeKey)}`
        : '';
    const replaces = go?.patchStrategies.includes('replace') === true || go?.shape === 'raw';
    return [
      ...(merge(go) === merge(own) && !replaces ? [] : [at]),
      ...(go?.struct === undefined
        ? []
        : differences(own?.struct, go.struct, { path: at, seen: new Set(seen) })),
    ];
  });
}

describe('DAEMON_SET_TYPES', () => {
  it('knows every list of a DaemonSet that merges, and its key', () => {
    const found = differences(DAEMON_SET_STRUCT, 'apps.v1.DaemonSet');
    // A status is nobody's to write here.
    assert.deepEqual(found, ['.status.conditions']);
  });

  it('takes inherited members for no fields', () => {
    assert.equal(DAEMON_SET_TYPES.field('PodSpec', 'constructor'), undefined);
    assert.equal(DAEMON_SET_TYPES.field('constructor', 'name'), undefined);
  });
});
