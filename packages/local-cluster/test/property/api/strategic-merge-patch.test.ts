/**
 * A patch that a client computes from two states, as kubectl does, leads from the one to the other.
 *
 * The reference differ here knows one struct's shape: scalars, a map, a list merged by key with `$setElementOrder` and
 * `$patch: delete`, a set of scalars with `$deleteFromPrimitiveList`. It shares nothing with the merger.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { applyStrategicMergePatch } from '@rollcall/base/patch/strategic-merge-patch.ts';
import { createSchema } from '../../../src/schema/create-schema.ts';

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
}

interface State {
  readonly labels: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly containers: readonly Container[];
}

const letter = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const container = fc.record({
  name: letter,
  image: letter,
  args: fc.array(letter, { maxLength: 2 }),
});
const state: fc.Arbitrary<State> = fc.record({
  labels: fc.dictionary(letter, letter, { noNullPrototype: true }),
  finalizers: fc.uniqueArray(letter, { maxLength: 4 }),
  containers: fc.uniqueArray(container, { selector: ({ name }) => name, maxLength: 4 }),
});

function podOf({ labels, finalizers, containers }: State): JsonObject {
  const items = containers.map(({ name, image, args }) => ({ name, image, args }));
  return { metadata: { labels, finalizers }, spec: { containers: items } };
}

function labelsPatch(from: State, to: State): JsonObject {
  const removed = Object.keys(from.labels).filter((key) => to.labels[key] === undefined);
  return { ...Object.fromEntries(removed.map((key) => [key, null])), ...to.labels };
}

function finalizersPatch(from: State, to: State): JsonObject {
  const gone = from.finalizers.filter((it) => !to.finalizers.includes(it));
  const added = to.finalizers.filter((it) => !from.finalizers.includes(it));
  return {
    ...(gone.length === 0 ? {} : { '$deleteFromPrimitiveList/finalizers': gone }),
    ...(added.length === 0 ? {} : { finalizers: added }),
  };
}

function containersPatch(from: State, to: State): JsonObject {
  const known = new Map(from.containers.map((it) => [it.name, it]));
  const kept = new Set(to.containers.map(({ name }) => name));
  const changed = to.containers.flatMap((after): JsonObject[] => {
    const before = known.get(after.name);
    if (before === undefined) return [{ name: after.name, image: after.image, args: after.args }];
    return JSON.stringify(before) === JSON.stringify(after)
      ? []
      : [{ name: after.name, image: after.image, args: after.args }];
  });
  const deleted = from.containers
    .filter(({ name }) => !kept.has(name))
    .map(({ name }) => ({ name, $patch: 'delete' }));
  return {
    '$setElementOrder/containers': to.containers.map(({ name }) => ({ name })),
    containers: [...changed, ...deleted],
  };
}

const schema = createSchema();
const struct = schema.structOf({ group: '', version: 'v1', kind: 'Pod' });

function applied(target: JsonObject, patch: Json): Json {
  const outcome = applyStrategicMergePatch(target, patch, { schema, struct });
  assert.equal(outcome.kind, 'patched', JSON.stringify(outcome));
  return outcome.kind === 'patched' ? outcome.value : null;
}

describe('strategic merge patch', () => {
  it('leads from one state to another, and again to the same', () => {
    fc.assert(
      fc.property(state, state, (from, to) => {
        const patch = {
          metadata: { labels: labelsPatch(from, to), ...finalizersPatch(from, to) },
          spec: containersPatch(from, to),
        };
        const target = podOf(from);
        const before = JSON.stringify(target);
        const result = applied(target, patch) as {
          metadata: { labels: Json; finalizers: readonly string[] };
          spec: { containers: Json };
        };
        assert.deepEqual(result.metadata.labels, to.labels);
        assert.deepEqual(new Set(result.metadata.finalizers), new Set(to.finalizers));
        assert.deepEqual(
          result.spec.containers,
          podOf(to)['spec'] && (podOf(to)['spec'] as { containers: Json }).containers,
        );
        assert.deepEqual(applied(result, patch), result, 'applied twice');
        assert.equal(JSON.stringify(target), before, 'the target is unchanged');
      }),
      { numRuns: 300 },
    );
  });
});
