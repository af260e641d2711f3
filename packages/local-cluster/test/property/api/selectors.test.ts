/** Selectors select what their requirements say, and refuse every other text without throwing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseLabelSelector } from '../../../src/api/selectors/label-selector.ts';

interface Requirement {
  readonly key: string;
  readonly operator: '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | 'absent';
  readonly values: readonly [string, ...string[]];
}

const word = fc.constantFrom('a', 'b', 'in', 'x.y/z', 'A-1');
const value = fc.constantFrom('a', 'b', 'in', '', 'A_1');
const requirement: fc.Arbitrary<Requirement> = fc.record({
  key: word,
  operator: fc.constantFrom('=', '==', '!=', 'in', 'notin', 'exists', 'absent'),
  values: fc.tuple(value, value),
});

function textOf({ key, operator, values }: Requirement, space: string): string {
  switch (operator) {
    case 'exists':
      return key;
    case 'absent':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator}${space}(${values.join(`${space},`)})`;
    default:
      return `${key}${space}${operator}${space}${values[0]}`;
  }
}

/** What the documentation of selectors says, written down once more. */
function isMet(
  { key, operator, values }: Requirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const actual = labels[key];
  switch (operator) {
    case 'exists':
      return actual !== undefined;
    case 'absent':
      return actual === undefined;
    case 'in':
      return actual !== undefined && values.includes(actual);
    case 'notin':
      return actual === undefined || !values.includes(actual);
    case '!=':
      return actual !== values[0];
    default:
      return actual === values[0];
  }
}

describe('selectors', () => {
  it('select labels as their requirements say, all of them together', () => {
    fc.assert(
      fc.property(
        fc.array(requirement, { maxLength: 3 }),
        fc.dictionary(word, value),
        fc.constantFrom('', ' ', '  '),
        (requirements, labels, space) => {
          const text = requirements.map((it) => textOf(it, space)).join(`${space},${space}`);
          const outcome = parseLabelSelector(text);
          assert.ok(outcome.kind === 'selector', text);
          const expected = requirements.every((it) => isMet(it, labels));
          assert.equal(outcome.matches(labels), expected, text);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('never throw, whatever the text', () => {
    const text = fc.string({ unit: fc.constantFrom(...'a=!,() <>in\\-./'), maxLength: 12 });
    fc.assert(
      fc.property(text, (selector) => {
        parseLabelSelector(selector);
      }),
      { numRuns: 1000 },
    );
  });
});
