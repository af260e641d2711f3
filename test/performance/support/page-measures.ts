/** Measures of a tab in Chromium: when it showed what was asked for, how many frames it draws, and what its heap holds. */
import type { CDPSession, Page } from 'puppeteer-core';

/** Frames of a while. */
export interface Frames {
  readonly perSecond: number;
  /** Of the slowest whole second. */
  readonly perSecondMin: number;
  readonly longestMs: number;
}

const SECOND_MS = 1000;

/** Has each document of the tab note when a text stood in it and was painted, by its own clock from the navigation on. */
export async function notePainted(page: Page, text: RegExp): Promise<void> {
  const install = (source: string): void => {
    const wanted = new RegExp(source);
    const noteAfterPaint = (): void => {
      // The frame that has it is on its way once the next one begins.
      requestAnimationFrame(() => {
        document.documentElement.dataset['paintedMs'] = String(performance.now());
      });
    };
    const look = (): void => {
      if (wanted.test(document.body.innerText)) noteAfterPaint();
      else requestAnimationFrame(look);
    };
    addEventListener('DOMContentLoaded', look);
  };
  await page.evaluateOnNewDocument(install, text.source);
}

/** What was noted, milliseconds from the navigation. */
export async function paintedMs(page: Page): Promise<number> {
  const noted = await page.waitForFunction(() => document.documentElement.dataset['paintedMs']);
  return Number(await noted.jsonValue());
}

/** Counts the frames of a while. */
export async function countFrames(page: Page, durationMs: number): Promise<Frames> {
  const times = await page.evaluate(
    (forMs) =>
      new Promise<readonly number[]>((resolve) => {
        const seen: number[] = [];
        const note = (atMs: number): void => {
          seen.push(atMs);
          if (atMs - (seen[0] ?? atMs) < forMs) requestAnimationFrame(note);
          else resolve(seen);
        };
        requestAnimationFrame(note);
      }),
    durationMs,
  );
  return framesOf(times);
}

function framesOf(times: readonly number[]): Frames {
  const [first = 0] = times;
  const seconds = Math.max(1, Math.floor(((times.at(-1) ?? first) - first) / SECOND_MS));
  const counts = Array.from({ length: seconds }, () => 0);
  const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] ?? atMs));
  for (const atMs of times.slice(1)) {
    const second = Math.floor((atMs - first) / SECOND_MS);
    if (second < seconds) counts[second] = (counts[second] ?? 0) + 1;
  }
  return {
    perSecond: counts.reduce((sum, count) => sum + count, 0) / seconds,
    perSecondMin: Math.min(...counts),
    longestMs: Math.max(0, ...gaps),
  };
}

/** Bytes of JavaScript's heap that are in use after a collection. */
export async function usedHeapBytes(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize;
}
