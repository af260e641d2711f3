/**
 * The map: every cluster a tile, every node a cell.
 *
 * A tile's heading is a button that leaves this cluster alone, its text says what its cells show. While what is shown is as of before,
 * every cell is drawn as not known.
 */
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { cellCodes, cellRules } from '../model/cells.ts';
import type { CellRules, Paint } from '../model/cells.ts';
import type { MapCluster, NodeMap } from '../model/documents.ts';
import { layoutTiles } from '../model/layout-tiles.ts';
import type { Layout } from '../model/layout-tiles.ts';
import { LOOK_KINDS, countKinds, countsText, kindsOf } from '../model/looks.ts';
import type { KindCounts } from '../model/looks.ts';
import type { Found } from '../model/search-map.ts';
import { pathOf } from '../model/address.ts';
import { usePage } from '../live/page-context.ts';
import { KindMark } from '../parts/mark.tsx';
import { useTheme } from '../parts/theme.tsx';
import { Cells } from './cells.tsx';
import { lineOf, nodeWords } from './node-words.ts';
import { Sprites, readColours } from './sprites.ts';

/** Below it the smallest cells are used, however many. */
const HEIGHT = 620;

interface MapProps {
  readonly map: NodeMap;
  readonly found: readonly Found[];
  readonly paint: Paint;
  readonly onCluster: (id: string) => void;
}

interface Tip {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

export function FleetMap({ map, found, paint, onCluster }: MapProps): VNode {
  const { go } = usePage();
  const [ref, width] = useWidth();
  const [tip, setTip] = useState<Tip>();
  const sizes = found.map(({ cluster }) => cluster.names.length).join(' ');
  const layout = useMemo(() => {
    const nodes = sizes === '' ? [] : sizes.split(' ').map(Number);
    return layoutTiles(nodes, { width: Math.max(200, width), height: HEIGHT });
  }, [sizes, width]);
  const ratio = usePixelRatio();
  const theme = useTheme();
  const sprites = useMemo(() => {
    const colours = readColours(document.documentElement);
    return new Sprites({ pitch: layout.pitch, ratio, paint, colours });
    // The theme decides the colours.
  }, [layout.pitch, ratio, paint, theme]);
  const rules = useMemo(() => cellRules(map, kindsOf(map), paint), [map, paint]);
  const columns = { gridTemplateColumns: `repeat(${String(layout.tilesInRow)}, minmax(0, 1fr))` };
  return (
    <div class="tiles" ref={ref} style={columns}>
      {width === 0
        ? null
        : found.map(({ cluster, places }) => (
            <Tile
              key={cluster.id}
              {...{ map, cluster, places, rules, layout, sprites, ratio }}
              onCluster={onCluster}
              onOpen={(node) => {
                go(pathOf({ view: 'node', cluster: cluster.id, node }));
              }}
              onTip={setTip}
            />
          ))}
      {tip === undefined ? null : <TipBox {...tip} />}
    </div>
  );
}

interface TileProps {
  readonly map: NodeMap;
  readonly cluster: MapCluster;
  readonly places: Found['places'];
  readonly rules: CellRules;
  readonly layout: Layout;
  readonly sprites: Sprites;
  readonly ratio: number;
  readonly onCluster: (id: string) => void;
  readonly onOpen: (node: string) => void;
  readonly onTip: (tip: Tip | undefined) => void;
}

function Tile(props: TileProps): VNode {
  const { map, cluster, places, rules, layout, sprites, ratio, onCluster, onOpen, onTip } = props;
  const { id, names, state, isKnown } = cluster;
  const codes = useMemo(() => cellCodes(cluster, rules, places), [cluster, rules, places]);
  const counts = useMemo(() => countKinds(cluster, rules.kinds), [cluster, rules]);
  const describe = (place: number): string => lineOf(nodeWords(map, cluster, place, rules.kinds));
  const summary = isKnown ? countsText(counts) : (cluster.unknown ?? 'not known now');
  return (
    <section class={isKnown ? 'tile' : 'tile tile-unknown'} aria-label={`Cluster ${id}`}>
      <h3>
        <button
          type="button"
          class="tile-heading"
          title={`${id}: ${state}; ${summary}`}
          onClick={() => {
            onCluster(id);
          }}
        >
          <span class="tile-name">{id}</span>
          <TileCounts counts={counts} state={isKnown ? undefined : state} />
          <span class="unseen">
            : {state}; {summary}
          </span>
        </button>
      </h3>
      <Cells
        {...{ cluster, codes, layout, sprites, ratio, describe }}
        label={`Nodes of ${id}: ${summary}. Arrow keys move, Enter opens a node.`}
        onOpen={(place) => {
          onOpen(names[place] ?? '');
        }}
        onPoint={(place, point) => {
          onTip(place === undefined ? undefined : { text: describe(place), ...point });
        }}
      />
    </section>
  );
}

/** What is not well, with its shape; of a cluster that is not known its state. */
function TileCounts(props: {
  readonly counts: KindCounts;
  readonly state: string | undefined;
}): VNode {
  const { counts, state } = props;
  if (state !== undefined) return <span class="tile-counts">{state}</span>;
  const unwell = LOOK_KINDS.filter((kind) => ['failing', 'held', 'coming'].includes(kind)).filter(
    (kind) => counts[kind] > 0,
  );
  return (
    <span class="tile-counts" aria-hidden="true">
      {unwell.length === 0
        ? String(counts.serving)
        : unwell.map((kind) => (
            <span key={kind} class="tile-count">
              <KindMark kind={kind} />
              {counts[kind]}
            </span>
          ))}
    </span>
  );
}

/** Where the pointer is; its place is set by properties, which the content security policy allows. */
function TipBox({ text, x, y }: Tip): VNode {
  const isRight = x > window.innerWidth / 2;
  const style = {
    top: `${String(y + 14)}px`,
    left: isRight ? 'auto' : `${String(x + 10)}px`,
    right: isRight ? `${String(window.innerWidth - x + 10)}px` : 'auto',
  };
  return (
    <div class="tip" style={style} aria-hidden="true">
      {text}
    </div>
  );
}

/** The width of an element, 0 before it is laid out. */
function useWidth(): readonly [{ current: HTMLDivElement | null }, number] {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const measure = (): void => {
      setWidth(Math.floor(element.clientWidth));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      observer.disconnect();
    };
  }, []);
  return [ref, width];
}

/** Device pixels for a CSS pixel; it changes with the zoom. */
function usePixelRatio(): number {
  const [ratio, setRatio] = useState(window.devicePixelRatio);
  useEffect(() => {
    const query = window.matchMedia(`(resolution: ${String(ratio)}dppx)`);
    const update = (): void => {
      setRatio(window.devicePixelRatio);
    };
    query.addEventListener('change', update);
    return () => {
      query.removeEventListener('change', update);
    };
  }, [ratio]);
  return ratio;
}
