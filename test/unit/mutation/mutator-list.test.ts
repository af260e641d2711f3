/** A part of the mutants, drawn by a seed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawFrom, isDrawn, type Mutator, type NodePath } from '../../mutation/mutator-list.ts';

const PLACES = Array.from({ length: 1000 }, (_, start) => start);

function pathAt(start: number): NodePath {
  return { node: { start, end: start + 1 }, parent: {}, isNumericLiteral: () => true };
}

function drawnOf(sample: { percent: number; seed: number }): readonly unknown[] {
  const mutator: Mutator = {
    name: 'M',
    *mutate({ node }, ...more) {
      yield [node.start, ...more];
      yield [node.start, 'again', ...more];
    },
  };
  drawFrom([mutator], sample);
  return PLACES.flatMap((start) => [...mutator.mutate(pathAt(start), 'state')]);
}

describe('a sample of the mutants', () => {
  it('is about as large as asked', () => {
    const drawn = drawnOf({ percent: 20, seed: 14 }).length;
    assert.ok(drawn > 300 && drawn < 500, `${drawn} of 2,000`);
    assert.equal(drawnOf({ percent: 100, seed: 14 }).length, 2000);
  });

  it('is the same for the same seed, another one for another', () => {
    assert.deepEqual(drawnOf({ percent: 20, seed: 14 }), drawnOf({ percent: 20, seed: 14 }));
    assert.notDeepEqual(drawnOf({ percent: 20, seed: 14 }), drawnOf({ percent: 20, seed: 15 }));
  });

  it('of a larger part holds that of a smaller one', () => {
    const sample = { seed: 14, percent: 10 };
    const names = PLACES.map(String).filter((name) => isDrawn(name, sample));
    assert.ok(names.length > 0 && names.every((name) => isDrawn(name, { seed: 14, percent: 30 })));
  });
});
