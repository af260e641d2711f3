/** The page by keyboard alone: Tab from stop to stop, and where it stands. */
import type { Page } from 'puppeteer-core';

/** Where the keyboard stands. */
export interface Stop {
  /** As a screen reader says it: label, or text. */
  readonly name: string;
  readonly role: string;
  /** A reader sees that it stands there. */
  readonly isSeen: boolean;
}

const STOPS_MAX = 120;

/** Presses Tab until a stop has the name; resolves to all stops on the way. Rejects with them where there is none. */
export async function tabTo(page: Page, name: RegExp): Promise<readonly Stop[]> {
  const stops: Stop[] = [];
  while (stops.length < STOPS_MAX) {
    await page.keyboard.press('Tab');
    const stop = await stopOf(page);
    stops.push(stop);
    if (name.test(stop.name)) return stops;
  }
  throw new Error(
    `Tab does not reach ${String(name)}: ${stops.map((stop) => stop.name).join(', ')}`,
  );
}

/** The present one. */
function stopOf(page: Page): Promise<Stop> {
  return page.evaluate(() => {
    const element = document.activeElement ?? document.body;
    const label = element instanceof HTMLInputElement ? element.labels?.[0]?.innerText : undefined;
    const text = element instanceof HTMLElement ? element.innerText : '';
    const { outlineStyle, boxShadow } = getComputedStyle(element);
    return {
      name: element.getAttribute('aria-label') ?? label ?? text,
      role: element.getAttribute('role') ?? element.localName,
      isSeen: outlineStyle !== 'none' || boxShadow !== 'none',
    };
  });
}
