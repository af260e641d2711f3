/**
 * A terminal's text, with its colours, as an SVG picture.
 *
 * It knows what `rollcall` prints: lines, and foreground colours by SGR codes. Lines that are wider than the picture wrap at a
 * space where there is one.
 */
const COLUMNS = 112;
/** Of rows that go on with a line. */
const HANGING = 4;
const LINE_PX = 19;
const CHARACTER_PX = 8.43;
const MARGIN_PX = 16;
const BAR_PX = 30;

/** Part of a line, and its colour: an SGR code, or absent. */
interface Span {
  readonly text: string;
  readonly code?: number;
}

const COLOURS: Readonly<Record<number, string>> = {
  1: '#ffffff',
  2: '#8b949e',
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
};
const TEXT = '#c9d1d9';

/** Splits a line at its SGR codes. */
function spansOf(line: string): readonly Span[] {
  let code: number | undefined;
  return line.split(/\u001b\[(\d*)m/).flatMap((part, index) => {
    if (index % 2 === 1) {
      code = Number(part) === 0 ? undefined : Number(part);
      return [];
    }
    if (part === '') return [];
    return [code === undefined ? { text: part } : { text: part, code }];
  });
}

/** The characters of a line, as rows that fit. */
function wrap(line: string): readonly (readonly Span[])[] {
  let rest: readonly Span[] = spansOf(line).flatMap((span) =>
    [...span.text].map((text) => ({ ...span, text })),
  );
  const rows: (readonly Span[])[] = [];
  while (rest.length > COLUMNS) {
    const space = rest.slice(0, COLUMNS).findLastIndex(({ text }) => text === ' ');
    const end = space > COLUMNS / 2 ? space + 1 : COLUMNS;
    rows.push(rest.slice(0, end));
    rest = [...Array.from({ length: HANGING }, () => ({ text: ' ' })), ...rest.slice(end)];
  }
  return [...rows, rest];
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Neighbours of one colour become one element. */
function rowElements(row: readonly Span[]): string {
  const parts: Span[] = [];
  for (const span of row) {
    const last = parts.at(-1);
    if (last !== undefined && last.code === span.code) {
      parts[parts.length - 1] = { ...last, text: last.text + span.text };
    } else parts.push(span);
  }
  return parts
    .map(({ text, code }) => {
      const colour = code === undefined ? undefined : COLOURS[code];
      return colour === undefined
        ? escaped(text)
        : `<tspan fill="${colour}">${escaped(text)}</tspan>`;
    })
    .join('');
}

/** The picture. `title` is read out by screen readers and shown in the window's bar. */
export function renderTerminal(title: string, lines: readonly string[]): string {
  const rows = lines.flatMap(wrap);
  const width = Math.ceil(COLUMNS * CHARACTER_PX + 2 * MARGIN_PX);
  const height = BAR_PX + rows.length * LINE_PX + 2 * MARGIN_PX;
  const texts = rows.map((row, index) => {
    const y = BAR_PX + MARGIN_PX + (index + 1) * LINE_PX - 5;
    return `<text x="${MARGIN_PX}" y="${y}">${rowElements(row)}</text>`;
  });
  const dots = ['#ff5f56', '#ffbd2e', '#27c93f'].map(
    (fill, index) => `<circle cx="${20 + index * 20}" cy="16" r="6" fill="${fill}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...dots,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${TEXT}" xml:space="preserve">`,
    ...texts.filter((text) => !text.endsWith('"></text>')),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}
