/**
 * Columns of text, as kubectl prints them: headings in capitals, two spaces between, no lines drawn.
 *
 * Cells may hold what a cluster said of itself, so control characters are taken out: no text steers a
 * terminal.
 */
import { textOf, type Line, type Piece } from './colour.ts';

const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** A text without what could steer a terminal. */
export function plainText(text: string): string {
  return text.replaceAll(CONTROL_CHARACTERS, ' ');
}

/** Lines of a table: the headings, then the rows; a cell may be marked. */
export function renderTextTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string[];
export function renderTextTable(
  headings: readonly string[],
  rows: readonly (readonly Piece[])[],
): Line[];
export function renderTextTable(
  headings: readonly string[],
  rows: readonly (readonly Piece[])[],
): Line[] {
  const plain = rows.map((row) => row.map(plainPiece));
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...plain.map((row) => textOf(row[column] ?? '').length)),
  );
  return [headings, ...plain].map((cells) => lineOf(cells, widths));
}

function plainPiece(piece: Piece): Piece {
  return typeof piece === 'string' ? plainText(piece) : { ...piece, text: plainText(piece.text) };
}

/** Text where no cell is marked. */
function lineOf(cells: readonly Piece[], widths: readonly number[]): Line {
  const pieces = cells.flatMap((cell, column): readonly Piece[] => {
    const text = textOf(cell);
    return [cell, ' '.repeat((widths[column] ?? text.length) - text.length), '  '];
  });
  const last = pieces.findLastIndex((piece) => textOf(piece).trim() !== '');
  const shown = pieces.slice(0, last + 1);
  if (shown.every((piece) => typeof piece === 'string')) return shown.join('').trimEnd();
  return shown;
}

/** Lines of `name: value`, the values in one column; none for a field without a value. */
export function renderFields(fields: readonly (readonly [string, string | undefined])[]): string[] {
  const shown = fields.filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...shown.map(([name]) => name.length)) + 1;
  return shown.map(([name, value = '']) =>
    `${`${name}:`.padEnd(width)}  ${plainText(value)}`.trimEnd(),
  );
}

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
];

/** How long ago, in its largest unit: `12s`, `5m`, `3h`, `2d`. */
export function renderAge(ageMs: number): string {
  const [unit, lengthMs] = UNITS.find(([, oneMs]) => ageMs >= oneMs) ?? ['s', 1000];
  return `${String(Math.max(0, Math.floor(ageMs / lengthMs)))}${unit}`;
}
