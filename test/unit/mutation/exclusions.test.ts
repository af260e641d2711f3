/** Exclusions from mutation testing: one form, always with a reason. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findUnreasoned, unreasonedIn } from '../../mutation/exclusions.ts';

/** Put together here, so that no search for directives finds this file. */
const DIRECTIVE = ['Stryker', 'disable'].join(' ');

describe('exclusions from mutation testing', () => {
  it('name the mutator and say why, for the next line only', () => {
    const fine = `// ${DIRECTIVE} next-line ConditionalExpression: a cache that forgets more is only slower`;
    assert.deepEqual(unreasonedIn(`const a = 1;\n${fine}\n`), []);
  });

  it('are refused without a reason, without a mutator, or for a whole file', () => {
    const text = [
      `// ${DIRECTIVE} next-line ConditionalExpression`,
      `// ${DIRECTIVE} next-line ConditionalExpression: because`,
      `// ${DIRECTIVE} next-line all: no test can tell it from the code`,
      `// ${DIRECTIVE} StringLiteral: no test can tell it from the code`,
    ].join('\n');
    assert.deepEqual(unreasonedIn(text), [1, 2, 3, 4]);
  });

  it('of the core are all of this form', () => {
    assert.deepEqual(findUnreasoned('src/core'), []);
  });
});
