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
        // A copy is read: the browser warns of a canvas that is drawn and read.
        const copy = new OffscreenCanvas(width, height).getContext('2d');
        copy?.drawImage(canvas, 0, 0);
        const { data } = copy?.getImageData(0, 0, width, height) ?? { data: [] };
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

/** The shapes of the cells of the first tile without their colours: for each the pixels that differ from the ground, as a text of bits. */
export function cellShapes(page: Page, cells: number): Promise<readonly string[]> {
  return page.evaluate((count) => {
    const canvas = document.querySelector('canvas');
    const context = canvas?.getContext('2d');
    if (canvas === null || context === null || context === undefined) throw new Error('no map');
    const size = Math.floor(canvas.width / count);
    return Array.from({ length: count }, (_, cell) => {
      const { data } = context.getImageData(cell * size, 0, size, size);
      // The ground of a tile is light, and each colour far from it.
      const bits = Array.from({ length: size * size }, (__, pixel) => {
        const [red = 0, green = 0, blue = 0, alpha = 0] = data.slice(pixel * 4, pixel * 4 + 4);
        return alpha > 127 && Math.min(red, green, blue) < 220 ? '1' : '0';
      });
      return bits.join('');
    });
  }, cells);
}
