/**
 * Pictures of cells: each kind has a shape of its own, legible at six pixels, and a colour beside it.
 *
 * Each is drawn once for a size and a theme, then copied: twenty thousand copies take some milliseconds.
 */
import { lookOf } from '../model/cells.ts';
import type { CellLook, Paint } from '../model/cells.ts';
import type { LookKind } from '../model/looks.ts';

export interface Colours {
  readonly kinds: Readonly<Record<LookKind, string>>;
  readonly releases: readonly string[];
  readonly ground: string;
  readonly ink: string;
}

export interface SpriteStyle {
  /** Distance of cells in CSS pixels. */
  readonly pitch: number;
  /** Device pixels for each. */
  readonly ratio: number;
  readonly paint: Paint;
  readonly colours: Colours;
}

const DIM_ALPHA = 0.18;

export function readColours(element: Element): Colours {
  const style = getComputedStyle(element);
  const of = (name: string): string => style.getPropertyValue(name).trim();
  return {
    kinds: {
      failing: of('--failing'),
      held: of('--held'),
      coming: of('--coming'),
      unknown: of('--unknown'),
      serving: of('--serving'),
      'not-wanted': of('--not-wanted'),
    },
    releases: [0, 1, 2, 3, 4, 5].map((rank) => of(`--release-${String(rank)}`)),
    ground: of('--panel'),
    ink: of('--ink'),
  };
}

export class Sprites {
  readonly #style: SpriteStyle;
  readonly #byCode = new Map<number, HTMLCanvasElement>();

  constructor(style: SpriteStyle) {
    this.#style = style;
  }

  /** The picture of a code, as large as a cell with its gap. */
  of(code: number): HTMLCanvasElement {
    const known = this.#byCode.get(code);
    if (known !== undefined) return known;
    const { pitch, ratio } = this.#style;
    const canvas = document.createElement('canvas');
    canvas.width = Math.round(pitch * ratio);
    canvas.height = canvas.width;
    const context = canvas.getContext('2d');
    if (context !== null) drawCell(context, lookOf(code), this.#style);
    this.#byCode.set(code, canvas);
    return canvas;
  }
}

/** A square without its gap, in device pixels. */
interface Square {
  readonly context: CanvasRenderingContext2D;
  readonly size: number;
  readonly line: number;
  readonly colour: string;
  readonly ground: string;
}

function drawCell(
  context: CanvasRenderingContext2D,
  { kind, variant, isDim }: CellLook,
  { pitch, ratio, paint, colours }: SpriteStyle,
): void {
  const gap = Math.max(1, Math.round((pitch > 12 ? 2 : 1) * ratio));
  const size = Math.round(pitch * ratio) - gap;
  const line = Math.max(1, Math.round(size / 6));
  const hasRelease = kind !== 'unknown' && kind !== 'not-wanted';
  const isByRelease = paint === 'release' && hasRelease;
  const ofRelease = variant < 0 ? colours.kinds.unknown : (colours.releases[variant] ?? '');
  const colour = isByRelease ? ofRelease : colours.kinds[kind];
  context.globalAlpha = isDim ? DIM_ALPHA : 1;
  SHAPES[kind]({ context, size, line, colour, ground: colours.ground });
  if (isByRelease) markRelease({ context, size, line, colour, ground: colours.ground }, variant);
  else if (hasRelease && variant > 0)
    notch({ context, size, line, colour, ground: colours.ground });
}

const SHAPES: Readonly<Record<LookKind, (square: Square) => void>> = {
  serving: fill,
  // A cross in a full square.
  failing: (square) => {
    fill(square);
    const { context, size, line, ground } = square;
    const inset = Math.round(size / 5);
    strokeWith(context, ground, Math.max(line, size / 5));
    drawLine(context, [inset, inset, size - inset, size - inset]);
    drawLine(context, [size - inset, inset, inset, size - inset]);
  },
  // Two bars, as of a pause.
  held: ({ context, size, colour }) => {
    const bar = Math.max(1, Math.round(size * 0.36));
    context.fillStyle = colour;
    context.fillRect(0, 0, bar, size);
    context.fillRect(size - bar, 0, bar, size);
  },
  // A hollow square.
  coming: ({ context, size, line, colour }) => {
    strokeWith(context, colour, Math.max(1.5, line));
    const half = Math.max(1.5, line) / 2;
    context.strokeRect(half, half, size - 2 * half, size - 2 * half);
  },
  // Diagonals.
  unknown: ({ context, size, line, colour }) => {
    strokeWith(context, colour, Math.max(1, line * 0.8));
    const half = size / 2;
    drawLine(context, [0, half, half, 0]);
    drawLine(context, [0, size, size, 0]);
    drawLine(context, [half, size, size, half]);
  },
  // A dot.
  'not-wanted': ({ context, size, colour }) => {
    const dot = Math.max(2, Math.round(size / 4));
    context.fillStyle = colour;
    context.fillRect(Math.round((size - dot) / 2), Math.round((size - dot) / 2), dot, dot);
  },
};

function fill({ context, size, colour }: Square): void {
  context.fillStyle = colour;
  context.fillRect(0, 0, size, size);
}

/** The upper right corner is cut off: another release than most. */
function notch({ context, size, ground }: Square): void {
  const cut = Math.max(2, Math.round(size * 0.5));
  context.fillStyle = ground;
  context.beginPath();
  context.moveTo(size - cut, 0);
  context.lineTo(size + 1, 0);
  context.lineTo(size + 1, cut);
  context.fill();
}

/** Ranks differ by the cut of a corner too: 1 the upper right, 2 the lower right, 3 the lower left, 4 the upper left, 5 a hole. */
function markRelease(square: Square, rank: number): void {
  if (rank <= 0) return;
  const { context, size, ground } = square;
  if (rank === 5) {
    const hole = Math.max(2, Math.round(size / 3));
    context.fillStyle = ground;
    context.fillRect(Math.round((size - hole) / 2), Math.round((size - hole) / 2), hole, hole);
    return;
  }
  context.save();
  context.translate(size / 2, size / 2);
  context.rotate(((rank - 1) * Math.PI) / 2);
  context.translate(-size / 2, -size / 2);
  notch(square);
  context.restore();
}

function strokeWith(context: CanvasRenderingContext2D, colour: string, width: number): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
}

function drawLine(
  context: CanvasRenderingContext2D,
  [fromX, fromY, toX, toY]: readonly [number, number, number, number],
): void {
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
  context.stroke();
}
