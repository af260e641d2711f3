/**
 * The live table in the room that a terminal has: what is not well first and whole, of what is well as much as fits, the rest counted.
 *
 * No line is wider than the terminal, and there are no more than it has rows, since a redraw goes up no further than the screen.
 */
import { counted } from '@rollcall/base/counted.ts';
import { textOf, type Line } from '../command-line/colour.ts';

export interface Room {
  readonly rows: number;
  readonly columns: number;
}

/** A DaemonSet: its row, and what is told below it. */
export interface Block {
  readonly row: string;
  readonly below: readonly Line[];
  readonly isWell: boolean;
}

export interface ClusterPart {
  readonly headline: string;
  readonly outages: readonly Line[];
  readonly headings: string;
  /** Trouble first. */
  readonly blocks: readonly Block[];
  /** True where nothing but its DaemonSets could be not well. */
  readonly isWell: boolean;
}

interface Share {
  readonly rowsMax: number;
  readonly clustersMax: number;
  readonly activityMax: number;
}

const ALL: Share = {
  rowsMax: Number.POSITIVE_INFINITY,
  clustersMax: Number.POSITIVE_INFINITY,
  activityMax: Number.POSITIVE_INFINITY,
};
/** Recent events go before rows that are well. */
const ACTIVITY_MIN = 3;

export function wholeTable(parts: readonly ClusterPart[]): readonly Line[] {
  return linesOf(parts, [], ALL);
}

/** As much as fits, and the newest lines of what happened. */
export function fitTable(
  parts: readonly ClusterPart[],
  activity: readonly string[],
  room: Room,
): readonly Line[] {
  // The cursor stands below the last line.
  const rowsMax = Math.max(1, room.rows - 1);
  const fitting = shares(parts).map((share) => linesOf(parts, activity, share));
  const lines = fitting.find(({ length }) => length <= rowsMax) ?? fitting.at(-1) ?? [];
  return fitLines(lines, room);
}

export function fitLines(lines: readonly Line[], { rows, columns }: Room): readonly Line[] {
  const rowsMax = Math.max(1, rows - 1);
  const cut = lines.map((line) => cutLine(line, columns));
  if (cut.length <= rowsMax) return cut;
  const more = cut.length - rowsMax + 1;
  return [...cut.slice(0, rowsMax - 1), `… and ${counted(more, 'line')} more`];
}

/** From everything to the least. */
function shares(parts: readonly ClusterPart[]): readonly Share[] {
  const few = { ...ALL, activityMax: ACTIVITY_MIN };
  const most = Math.max(0, ...parts.map(({ blocks }) => blocks.length));
  const ofRows = downFrom(most).map((rowsMax) => ({ ...few, rowsMax }));
  const ofClusters = downFrom(parts.length).map((clustersMax) => ({
    ...few,
    rowsMax: 0,
    clustersMax,
  }));
  return [ALL, few, ...ofRows, ...ofClusters, { rowsMax: 0, clustersMax: 0, activityMax: 0 }];
}

function downFrom(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => count - 1 - at);
}

function linesOf(
  parts: readonly ClusterPart[],
  activity: readonly string[],
  { rowsMax, clustersMax, activityMax }: Share,
): readonly Line[] {
  const isFolded = clustersMax < Number.POSITIVE_INFINITY;
  const unwell = parts.filter((part) => !isWhollyWell(part));
  const well = parts.filter(isWhollyWell);
  // A table that fits keeps the order of its clusters.
  const shown = isFolded ? [...unwell, ...well.slice(0, clustersMax)] : parts;
  const more = parts.length - shown.length;
  return [
    ...shown.flatMap((part) => clusterLines(part, rowsMax)),
    ...(more === 0 ? [] : [`… and ${counted(more, 'cluster')} more, all well`]),
    ...(activityMax === 0 ? [] : activity.slice(-activityMax)),
  ];
}

function isWhollyWell({ isWell, blocks }: ClusterPart): boolean {
  return isWell && blocks.every((block) => block.isWell);
}

function clusterLines(part: ClusterPart, rowsMax: number): readonly Line[] {
  const { headline, outages, headings, blocks } = part;
  const unwell = blocks.filter(({ isWell }) => !isWell);
  const well = blocks.filter(({ isWell }) => isWell);
  const shown = [...unwell, ...well.slice(0, rowsMax)];
  const more = blocks.length - shown.length;
  return [
    headline,
    ...outages,
    ...(shown.length === 0 && more > 0 ? [] : [headings]),
    ...shown.flatMap(({ row, below }) => [row, ...below]),
    ...(more === 0 ? [] : [`… and ${String(more)} more, all well`]),
    ...(blocks.length === 0 ? ['(no DaemonSets yet)'] : []),
  ];
}

function cutLine(line: Line, columns: number): Line {
  if (typeof line === 'string') return cutText(line, columns);
  let left = columns;
  return line.map((piece) => {
    const text = cutText(textOf(piece), left);
    left -= text.length;
    return typeof piece === 'string' ? text : { ...piece, text };
  });
}

function cutText(text: string, columns: number): string {
  if (text.length <= columns) return text;
  return columns < 1 ? '' : `${text.slice(0, columns - 1)}…`;
}
