/** The layout of the map: every node has a place, a point leads back to it, and arrow keys move between them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  layoutTiles,
  placeAfter,
  placeAt,
  sizeOfCells,
} from '../../../src/page/model/layout-tiles.ts';

const WIDE = { width: 1240, height: 620 };
const NARROW = { width: 356, height: 620 };

describe('the layout of the map', () => {
  it('gives a few nodes large cells, and twenty thousand small ones', () => {
    const few = layoutTiles([20, 20], WIDE);
    const many = layoutTiles(
      Array.from({ length: 100 }, () => 200),
      WIDE,
    );
    assert.equal(few.pitch, 24);
    assert.equal(many.pitch, 7);
    assert.ok(many.tilesInRow >= 5);
  });

  for (const room of [WIDE, NARROW]) {
    it(`keeps the cells of a tile within ${String(room.width)} pixels`, () => {
      for (const nodes of [[1], [3, 400], [5000]]) {
        const layout = layoutTiles(nodes, room);
        const tileWidth = (room.width - (layout.tilesInRow - 1) * 8) / layout.tilesInRow;
        assert.ok(sizeOfCells(Math.max(...nodes), layout).width <= tileWidth - 16);
      }
    });
  }

  it('lays out a fleet without clusters, and a cluster without nodes', () => {
    assert.equal(layoutTiles([], WIDE).tilesInRow, 1);
    assert.equal(layoutTiles([0], WIDE).columns, 1);
  });

  it('finds the cell at a point, and none beside the last', () => {
    const layout = { pitch: 10, tilesInRow: 1, columns: 4 };
    assert.equal(placeAt({ x: 35, y: 12 }, 8, layout), 7);
    assert.equal(placeAt({ x: 35, y: 12 }, 7, layout), undefined);
    assert.equal(placeAt({ x: 41, y: 1 }, 8, layout), undefined);
  });
});

describe('an arrow key', () => {
  const at = (key: string, place: number): number | undefined =>
    placeAfter(key, place, { nodes: 10, columns: 4 });

  it('moves by a cell or a row, and stays at the edge', () => {
    assert.equal(at('ArrowRight', 3), 4);
    assert.equal(at('ArrowDown', 3), 7);
    assert.equal(at('ArrowDown', 7), 7);
    assert.equal(at('ArrowUp', 2), 2);
    assert.equal(at('ArrowLeft', 0), 0);
  });

  it('goes to both ends, and pages without leaving them', () => {
    assert.equal(at('End', 3), 9);
    assert.equal(at('Home', 3), 0);
    assert.equal(at('PageDown', 3), 9);
    assert.equal(at('PageUp', 3), 0);
  });

  it('leaves other keys to the browser', () => {
    assert.equal(at('Tab', 3), undefined);
  });
});
