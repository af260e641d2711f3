/** How many cells of the map are painted in a colour of the page's sheet, told from the pixels themselves. */
import type { Page } from 'puppeteer-core';

/** Pixels of the map that have the colour of a kind: `serving`, `failing`, `unknown` … */
export function paintedPixels(page: Page, kind: string): Promise<number> {
  return page.evaluate((name) => {
    const colour = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    const probe = new OffscreenCanvas(1, 1).getContext('2d');
    if (probe === null || colour === '') throw new Error(`there is no colour --${name}`);
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
    let count = 0;
    for (const canvas of document.querySelectorAll('canvas')) {
      const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {
        data: [],
      };
      for (let at = 0; at < data.length; at += 4) {
        const isIt = data[at] === red && data[at + 1] === green && data[at + 2] === blue;
        if (isIt && data[at + 3] === 255) count += 1;
      }
    }
    return count;
  }, kind);
}
