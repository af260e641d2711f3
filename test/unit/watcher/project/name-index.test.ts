/** Objects by name and namespace: against a map by both, whatever comes and goes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { NameIndex } from '../../../../src/watcher/project/store.ts';

interface Named {
  readonly name: string;
  readonly namespace?: string;
  readonly value: number;
}

const names = fc.record(
  { name: fc.constantFrom('a', 'b', 'a/b'), namespace: fc.constantFrom('a', 'b') },
  { requiredKeys: ['name'] },
);
const steps = fc.array(
  fc.record({ names, value: fc.nat(9), does: fc.constantFrom('put' as const, 'delete' as const) }),
);

/** No name of Kubernetes has a line break. */
const keyOf = ({ name, namespace = '' }: Omit<Named, 'value'>): string => `${namespace}\n${name}`;

describe('an index by name', () => {
  it('holds of each namespace and name what was put there last', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const index = new NameIndex<Named>();
        const model = new Map<string, Named>();
        for (const { names: of, value, does } of all) {
          if (does === 'put') {
            const object = { ...of, value };
            index.put(object);
            model.set(keyOf(object), object);
          } else {
            index.delete(of);
            model.delete(keyOf(of));
          }
          assert.equal(index.size, model.size);
          assert.equal(index.get(of), model.get(keyOf(of)));
        }
        assert.deepEqual(new Set(index.values()), new Set(model.values()));
      }),
    );
  });
});
