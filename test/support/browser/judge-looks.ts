/**
 * A view in each look: a screenshot of it into dist/screenshots, which is output of the build, and what keeps people out of it.
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { findBarriers } from './axe.ts';
import { LOOKS, show, type Visit } from './visit.ts';

const DIRECTORY = new URL('../../../dist/screenshots/', import.meta.url).pathname;

/** What stands in place of what is not there yet. */
const PENDING = /Asking …|[Ww]aiting for the first look/;

/** The barriers of a view in both themes and widths, each with its look; leaves the tab in the last one. */
export async function judgeLooks({ page }: Visit, name: string): Promise<readonly string[]> {
  await mkdir(DIRECTORY, { recursive: true });
  // Nothing is judged before all of it is there.
  await page.waitForFunction(
    (pending) => !new RegExp(pending).test(document.body.innerText),
    {},
    PENDING.source,
  );
  const barriers: string[] = [];
  for (const look of LOOKS) {
    await show(page, look);
    const title = `${name}-${look.theme}-${String(look.width)}`;
    await page.screenshot({ path: path.join(DIRECTORY, `${title}.png`), fullPage: true });
    const found = await findBarriers(page);
    barriers.push(...found.map((barrier) => `${title}: ${barrier}`));
    if (await isWiderThanTab(page)) barriers.push(`${title}: it is wider than the tab`);
  }
  return barriers;
}

/** True if a reader has to scroll sideways. */
function isWiderThanTab(page: Visit['page']): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
}
