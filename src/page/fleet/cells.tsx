/**
 * The cells of one cluster on a canvas, and the same as a list for the keyboard and for screen readers.
 *
 * Only cells that changed are drawn again, all of them when their size or the theme changed; and some milliseconds in each frame, so
 * that a look that changes every tile holds up neither scrolling nor keys. The list has one option, the node at
 * which the cursor is: a screen reader hears it when an arrow key moves there.
 */
import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { MapCluster } from '../model/documents.ts';
import { placeAfter, placeAt, sizeOfCells } from '../model/layout-tiles.ts';
import type { Layout } from '../model/layout-tiles.ts';
import type { Sprites } from './sprites.ts';

export interface CellsProps {
  readonly cluster: MapCluster;
  readonly codes: Uint16Array;
  readonly layout: Layout;
  readonly sprites: Sprites;
  readonly ratio: number;
  /** What a screen reader hears first. */
  readonly label: string;
  /** A node in words. */
  readonly describe: (place: number) => string;
  readonly onOpen: (place: number) => void;
  /** The pointer is over a cell, or left; a point of the window. */
  readonly onPoint: (place: number | undefined, point: { x: number; y: number }) => void;
}

interface Drawn {
  readonly codes: Uint16Array;
  readonly sprites: Sprites;
  readonly layout: Layout;
}

export function Cells(props: CellsProps): VNode {
  const { cluster, codes, layout, sprites, ratio, label, describe, onOpen, onPoint } = props;
  const nodes = cluster.names.length;
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<Drawn | undefined>(undefined);
  const { cursor, ...keyboard } = useCursor(props, canvas);
  const { width, height } = sizeOfCells(nodes, layout);
  useLayoutEffect(() => {
    const { current } = canvas;
    if (current === null) return;
    const next = { codes, sprites, layout };
    const drawNext = (): void => {
      draw(current, next, { before: drawn.current, ratio });
      drawn.current = next;
    };
    // An empty canvas waits for no frame.
    if (drawn.current === undefined) drawNext();
    else drawInFrames(current, drawNext);
  }, [codes, sprites, layout, ratio]);
  const pointed = (event: MouseEvent): number | undefined =>
    placeAt({ x: event.offsetX, y: event.offsetY }, nodes, layout);
  const optionId = `node-of-${cluster.id}`;
  return (
    <div
      class="cells"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={cursor === undefined ? undefined : optionId}
      {...keyboard}
    >
      <canvas
        ref={canvas}
        aria-hidden="true"
        style={{ width: `${String(width)}px`, height: `${String(height)}px` }}
        onClick={(event: MouseEvent) => {
          const place = pointed(event);
          if (place !== undefined) onOpen(place);
        }}
        onMouseMove={(event: MouseEvent) => {
          onPoint(pointed(event), { x: event.clientX, y: event.clientY });
        }}
        onMouseLeave={() => {
          onPoint(undefined, { x: 0, y: 0 });
        }}
      />
      <div
        role="option"
        id={optionId}
        aria-selected="true"
        aria-posinset={(cursor ?? 0) + 1}
        aria-setsize={nodes}
        class="unseen"
      >
        {nodes === 0 ? 'no nodes' : describe(Math.min(cursor ?? 0, nodes - 1))}
      </div>
      {cursor === undefined || nodes === 0 ? null : <Cursor place={cursor} layout={layout} />}
    </div>
  );
}

interface Keyboard {
  readonly cursor: number | undefined;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onFocus: (event: FocusEvent) => void;
  readonly onBlur: () => void;
}

function useCursor(
  { cluster, layout, onOpen, onPoint }: CellsProps,
  canvas: { readonly current: HTMLCanvasElement | null },
): Keyboard {
  const nodes = cluster.names.length;
  const [cursor, setCursor] = useState<number>();
  /** The words of the node stand where its cell is, as they do for the pointer. */
  const moveTo = (place: number): void => {
    setCursor(place);
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined || nodes === 0) return;
    const { pitch, columns } = layout;
    const x = box.left + ((place % columns) + 1) * pitch;
    onPoint(place, { x, y: box.top + (Math.floor(place / columns) + 1) * pitch });
  };
  return {
    cursor,
    onKeyDown: (event) => {
      const at = Math.min(cursor ?? 0, nodes - 1);
      if (event.key === 'Enter' && nodes > 0) onOpen(at);
      const next = placeAfter(event.key, at, { nodes, columns: layout.columns });
      if (next === undefined) return;
      event.preventDefault();
      moveTo(next);
    },
    onFocus: ({ currentTarget }) => {
      // A press of the pointer opens a node, and leaves no cursor.
      const isKeyed = currentTarget instanceof Element && currentTarget.matches(':focus-visible');
      if (isKeyed) moveTo(0);
    },
    onBlur: () => {
      setCursor(undefined);
      onPoint(undefined, { x: 0, y: 0 });
    },
  };
}

function Cursor(props: { readonly place: number; readonly layout: Layout }): VNode {
  const { place, layout } = props;
  const { pitch, columns } = layout;
  const style = {
    left: `${String((place % columns) * pitch - 2)}px`,
    top: `${String(Math.floor(place / columns) * pitch - 2)}px`,
    width: `${String(pitch + 2)}px`,
    height: `${String(pitch + 2)}px`,
  };
  return <div class="cursor" aria-hidden="true" style={style} />;
}

function draw(
  canvas: HTMLCanvasElement,
  { codes, sprites, layout }: Drawn,
  { before, ratio }: { readonly before: Drawn | undefined; readonly ratio: number },
): void {
  const { width, height } = sizeOfCells(codes.length, layout);
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  const isAnew =
    before === undefined ||
    before.sprites !== sprites ||
    before.layout.columns !== layout.columns ||
    before.codes.length !== codes.length ||
    canvas.width !== wide ||
    canvas.height !== high;
  const context = canvas.getContext('2d');
  if (context === null) return;
  // A new size empties it, too.
  if (isAnew) {
    canvas.width = wide;
    canvas.height = high;
  }
  const step = layout.pitch * ratio;
  codes.forEach((code, place) => {
    if (!isAnew && before.codes[place] === code) return;
    const x = Math.round((place % layout.columns) * step);
    const y = Math.round(Math.floor(place / layout.columns) * step);
    if (!isAnew) context.clearRect(x, y, Math.ceil(step), Math.ceil(step));
    context.drawImage(sprites.of(code), x, y);
  });
}

/** The browser needs about twice as long to bring what was drawn to the screen: together they leave room in a frame of 16 ms. */
const SLICE_MS = 3;

const waiting = new Map<HTMLCanvasElement, () => void>();

/**
 * Draws in one of the next frames; what is drawn anew takes the place of what still waits for the same canvas.
 *
 * Each canvas costs the browser about a millisecond however little of it changes, and a fleet has a hundred.
 */
function drawInFrames(canvas: HTMLCanvasElement, drawNext: () => void): void {
  // The next frame has what else of the page the look changed.
  if (waiting.size === 0) requestAnimationFrame(() => requestAnimationFrame(drawSlice));
  waiting.set(canvas, drawNext);
}

function drawSlice(): void {
  const untilMs = performance.now() + SLICE_MS;
  for (const [canvas, drawNext] of waiting) {
    waiting.delete(canvas);
    drawNext();
    if (performance.now() > untilMs) break;
  }
  if (waiting.size > 0) requestAnimationFrame(drawSlice);
}
