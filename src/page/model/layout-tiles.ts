/**
 * The layout of the map: how large a cell is, how many tiles stand side by side, and where the cell at a point is.
 *
 * Cells are as large as the fleet allows, so that many clusters fit into one view and a few nodes can be read. All in CSS pixels.
 */

/** Distances of cells, with their gap. */
const PITCHES = [24, 18, 14, 11, 9, 7] as const;
const TILE_GAP = 8;
const TILE_PADDING = 8;
const TILE_HEADING = 30;
const TILE_WIDTH_MIN = 150;

/** How the map is laid out. */
export interface Layout {
  /** Distance of two cells. */
  readonly pitch: number;
  readonly tilesInRow: number;
  /** Cells side by side in a tile. */
  readonly columns: number;
}

/** The largest cells with which tiles of these sizes fit, else the smallest. */
export function layoutTiles(
  nodes: readonly number[],
  { width, height }: { readonly width: number; readonly height: number },
): Layout {
  const layouts = PITCHES.map((pitch) => layoutAt(pitch, nodes, width));
  const fitting = layouts.find((layout) => heightOf(layout, nodes) <= height);
  return fitting ?? layouts.at(-1) ?? { pitch: 7, tilesInRow: 1, columns: 1 };
}

function layoutAt(pitch: number, nodes: readonly number[], width: number): Layout {
  const largest = Math.max(1, ...nodes);
  // A tile twice as wide as high reads best.
  const wanted = Math.ceil(Math.sqrt(largest * 2)) * pitch + 2 * TILE_PADDING;
  const tileWidth = Math.min(width, Math.max(TILE_WIDTH_MIN, wanted));
  const room = Math.max(1, Math.floor((width + TILE_GAP) / (tileWidth + TILE_GAP)));
  const tilesInRow = Math.max(1, Math.min(room, Math.max(1, nodes.length)));
  const inner = (width - (tilesInRow - 1) * TILE_GAP) / tilesInRow - 2 * TILE_PADDING - 2;
  const columns = Math.max(1, Math.min(Math.floor(inner / pitch), Math.max(1, largest)));
  return { pitch, tilesInRow, columns };
}

function heightOf({ pitch, tilesInRow, columns }: Layout, nodes: readonly number[]): number {
  let height = 0;
  for (let first = 0; first < nodes.length; first += tilesInRow) {
    const largest = Math.max(...nodes.slice(first, first + tilesInRow));
    height += Math.ceil(largest / columns) * pitch + TILE_HEADING + 2 * TILE_PADDING + TILE_GAP;
  }
  return height;
}

/** Width and height of the cells of a tile. */
export function sizeOfCells(
  nodes: number,
  { pitch, columns }: Layout,
): { readonly width: number; readonly height: number } {
  return { width: columns * pitch, height: Math.max(1, Math.ceil(nodes / columns)) * pitch };
}

/** The place of the cell at a point; undefined: none is there. */
export function placeAt(
  point: { readonly x: number; readonly y: number },
  nodes: number,
  { pitch, columns }: Layout,
): number | undefined {
  const column = Math.floor(point.x / pitch);
  const row = Math.floor(point.y / pitch);
  if (column < 0 || column >= columns || row < 0) return undefined;
  const place = row * columns + column;
  return place < nodes ? place : undefined;
}

/** Where an arrow key leads from a place; the same place where there is nothing. Undefined: the key is none of them. */
export function placeAfter(
  key: string,
  place: number,
  { nodes, columns }: { readonly nodes: number; readonly columns: number },
): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ...{ ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns },
    ...{ Home: -place, End: nodes - 1 - place, PageUp: -columns * 5, PageDown: columns * 5 },
  };
  const step = steps[key];
  if (step === undefined) return undefined;
  const next = place + step;
  if (key.startsWith('Page')) return Math.min(nodes - 1, Math.max(0, next));
  return next < 0 || next >= nodes ? place : next;
}
