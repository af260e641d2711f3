/**
 * Drawing in slices: some milliseconds of each frame, so that a look that changes every tile holds up neither scrolling nor keys.
 *
 * Each canvas costs the browser about a millisecond however little of it changes, and a fleet has a hundred.
 */

/** The browser needs about twice as long to bring what was drawn to the screen: together they leave room in a frame of 16 ms. */
const SLICE_MS = 3;

const waiting = new Map<HTMLCanvasElement, () => void>();

/** Draws in one of the next frames; what is drawn anew takes the place of what still waits for the same canvas. */
export function drawInFrames(canvas: HTMLCanvasElement, draw: () => void): void {
  // The next frame has what else of the page the look changed.
  if (waiting.size === 0) requestAnimationFrame(() => requestAnimationFrame(drawSlice));
  waiting.set(canvas, draw);
}

function drawSlice(): void {
  const untilMs = performance.now() + SLICE_MS;
  for (const [canvas, draw] of waiting) {
    waiting.delete(canvas);
    draw();
    if (performance.now() > untilMs) break;
  }
  if (waiting.size > 0) requestAnimationFrame(drawSlice);
}
