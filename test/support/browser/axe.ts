/** Asks axe-core what keeps people out of a page: only what it calls serious or critical, as text that names the element. */
import axe from 'axe-core';
import type { Page } from 'puppeteer-core';

const HELD_AGAINST: ReadonlySet<string | null | undefined> = new Set(['serious', 'critical']);

/** The violations of what the tab shows now; empty where there are none. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  // The driver's way in is no script of the page: the content security policy stays as strict as it is.
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { violations } = await (window as unknown as { readonly axe: typeof axe }).axe.run(); // axe put itself there
    return violations.map(({ id, impact, help, nodes }) => ({
      impact,
      line: `${id}: ${help}: ${nodes.map(({ target, any }) => `${target.join(' ')} ${any[0]?.message ?? ''}`).join(' | ')}`,
    }));
  });
  return found.filter(({ impact }) => HELD_AGAINST.has(impact)).map(({ line }) => line);
}
