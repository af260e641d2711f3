/**
 * How many cells of the map are painted in a colour of the page's sheet, told from the pixels themselves.
 *
 * The page draws a look over some frames: it is told once a few frames in a row have the same.
 */
import type { Page } from 'puppeteer-core';

/** Pixels of the map that have the colour of a kind: `serving`, `failing`, `unknown` … */
export function paintedPixels(page: Page, kind: string): Promise<number> {
  return page.evaluate(async (name) => {
    const colour = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    const probe = new OffscreenCanvas(1, 1).getContext('2d');
    if (probe === null || colour === '') throw new Error(`there is no colour --${name}`);
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
    const count = (): number => {
      let found = 0;
      for (const canvas of document.querySelectorAll('canvas')) {
        const { width, height } = canvas;
        const { data } = canvas.getContext('2d')?.getImageData(0, 0, width, height) ?? { data: [] };
        for (let at = 0; at < data.length; at += 4) {
          const isIt = data[at] === red && data[at + 1] === green && data[at + 2] === blue;
          if (isIt && data[at + 3] === 255) found += 1;
        }
      }
      return found;
    };
    const framesAlike = 4;
    const counts: number[] = [];
    while (new Set(counts.slice(-framesAlike)).size !== 1 || counts.length < framesAlike) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      counts.push(count());
    }
    return counts.at(-1) ?? 0;
  }, kind);
}
