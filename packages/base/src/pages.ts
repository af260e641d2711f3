/**
 * The pages of a list that is told a page at a time. A page is asked for once the one before was
 * worked through, and none after the last, which has no cursor.
 */
import { defined } from './defined.ts';

/** Where a page begins: at the start, or after what the one before ended with. */
interface From {
  readonly cursor?: string;
}

/** Every page, from the start or after `cursor`. Rejects as `list` does. */
export async function* pagesOf<Page extends From>(
  list: (from: From) => Promise<Page>,
  { cursor }: { readonly cursor?: string | undefined } = {},
): AsyncGenerator<Page, void, undefined> {
  let after = cursor;
  do {
    const page = await list(defined({ cursor: after }));
    yield page;
    after = page.cursor;
  } while (after !== undefined);
}
