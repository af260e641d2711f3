/** Pages of a list: each is asked for after the one before, and none after the last. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pagesOf } from '../../src/pages.ts';

interface Page {
  readonly items: readonly number[];
  readonly cursor?: string;
}

const PAGES: Readonly<Record<string, Page>> = {
  '': { items: [1, 2], cursor: 'b' },
  b: { items: [], cursor: 'c' },
  c: { items: [3] },
};

/** Lists PAGES, and notes what is asked for. */
function lister(): {
  readonly asked: object[];
  readonly list: (from: { readonly cursor?: string }) => Promise<Page>;
} {
  const asked: object[] = [];
  const list = (from: { readonly cursor?: string }): Promise<Page> => {
    asked.push(from);
    return Promise.resolve(PAGES[from.cursor ?? ''] ?? { items: [] });
  };
  return { asked, list };
}

describe('pages of a list', () => {
  it('are all of them, an empty one in the middle too', async () => {
    const { asked, list } = lister();
    const items: number[] = [];
    for await (const page of pagesOf(list)) items.push(...page.items);
    assert.deepEqual(items, [1, 2, 3]);
    assert.deepEqual(asked, [{}, { cursor: 'b' }, { cursor: 'c' }]);
  });

  it('begin after a cursor', async () => {
    const { asked, list } = lister();
    for await (const page of pagesOf(list, { cursor: 'c' })) assert.deepEqual(page.items, [3]);
    assert.deepEqual(asked, [{ cursor: 'c' }]);
  });

  it('are asked for no further than somebody reads', async () => {
    const { asked, list } = lister();
    for await (const page of pagesOf(list)) if (page.cursor === 'b') break;
    assert.deepEqual(asked, [{}]);
  });
});
