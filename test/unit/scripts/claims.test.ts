/** Every row, item and sentence of a document can be drawn, and a seed draws the same again. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { claimsOf, drawClaims } from '../../../scripts/lib/claims.ts';

const DOCUMENT = `# A heading of a document that claims nothing

One sentence that goes on
over two lines. Another one that follows it here.

| head | of the table that says nothing |
|---|---|
| one row | with a claim of its own |
| another | row with a claim of its own |

* an item that is longer than a line
  and goes on
* another item, which is one line

\`\`\`sh
npm run something that is code and claims nothing
\`\`\`
`;

describe('the claims of a document', () => {
  const claims = claimsOf('docs/a.md', DOCUMENT);

  it('are its sentences, rows and items, with the lines where they begin', () => {
    assert.deepEqual(
      claims.map(({ line, text }) => [line, text]),
      [
        [3, 'One sentence that goes on over two lines.'],
        [3, 'Another one that follows it here.'],
        [8, '| one row | with a claim of its own |'],
        [9, '| another | row with a claim of its own |'],
        [11, '* an item that is longer than a line and goes on'],
        [13, '* another item, which is one line'],
      ],
    );
  });

  it('are drawn without repetition, the same by the same seed, another choice by another', () => {
    const drawn = drawClaims(claims, { seed: 7, count: 4 });
    assert.equal(new Set(drawn).size, 4);
    assert.deepEqual(drawClaims(claims, { seed: 7, count: 4 }), drawn);
    const others = [1, 2, 3].map((seed) => drawClaims(claims, { seed, count: 4 }));
    assert.ok(others.some((other) => other.some((claim, index) => claim !== drawn[index])));
    assert.equal(drawClaims(claims, { seed: 1, count: 100 }).length, claims.length);
  });
});
