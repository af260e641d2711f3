/**
 * Where the live table goes: redrawn in place on a terminal. Elsewhere what happens is printed, line by line, and the table where
 * nothing is left to do.
 *
 * Everything here writes to stderr or stdout as told; with `--json` stdout stays free for the one document, which holds what a
 * table would say. No decision is made here.
 */
import type { WriteStream } from 'node:tty';
import { coloured, isColourWanted, uncoloured, type Line } from '../command-line/colour.ts';
import type { Room } from './fit-table.ts';

export interface Screen {
  /** The table as it is now, in place of what was shown before; on a terminal alone. */
  show(lines: readonly Line[]): void;
  /** Recent events, where no table shows them. */
  tell(line: string): void;
  /** The table where nothing is left to do, or time is up; once, where it is not shown anyway. */
  conclude(lines: readonly Line[]): void;
  /** Writes a line that stays, above the table on a terminal. */
  say(line: string): void;
  /** The room of a table; undefined: none is redrawn. */
  room(): Room | undefined;
}

const CLEAR_DOWN = '\u001b[0J';
const cursorUp = (rows: number): string => (rows === 0 ? '' : `\u001b[${String(rows)}A`);

/** A screen on stdout, or on stderr beside the one document of `--json`. */
export function createScreen({ isJson }: { readonly isJson: boolean }): Screen {
  const stream = isJson ? process.stderr : process.stdout;
  if (stream.isTTY) return createLiveScreen(stream);
  const screen = createPlainScreen(stream);
  return isJson ? { ...screen, conclude: () => undefined } : screen;
}

function createLiveScreen(stream: WriteStream): Screen {
  let shown: readonly Line[] = [];
  const { env: environment } = process;
  const paint = isColourWanted('auto', { isTerminal: true, environment }) ? coloured : uncoloured;
  const redraw = (lines: readonly Line[], above: readonly string[]): void => {
    const text = [...above, ...lines.map(paint)].map((line) => `${line}\n`).join('');
    stream.write(`${cursorUp(shown.length)}\r${CLEAR_DOWN}${text}`);
    shown = lines;
  };
  return {
    show: (lines) => {
      redraw(lines, []);
    },
    tell: () => undefined,
    conclude: () => undefined,
    say: (line) => {
      redraw(shown, wrapWords(line, stream.columns));
    },
    room: () => ({ rows: stream.rows, columns: stream.columns }),
  };
}

export function createPlainScreen(stream: Pick<NodeJS.WritableStream, 'write'>): Screen {
  let concluded = '';
  const say = (line: string): void => {
    stream.write(`${line}\n`);
  };
  return {
    show: () => undefined,
    tell: say,
    conclude: (lines) => {
      const text = lines.map(uncoloured).join('\n');
      if (text === concluded) return;
      concluded = text;
      say(text);
    },
    say,
    room: () => undefined,
  };
}

/** Breaks a sentence between words. What begins with a blank is to be copied, and stays in one piece. */
export function wrapWords(line: string, width: number): readonly string[] {
  if (line.length <= width || line.startsWith(' ')) return [line];
  const lines: string[] = [];
  let last = '';
  for (const word of line.split(' ')) {
    const longer = last === '' ? word : `${last} ${word}`;
    if (last !== '' && longer.length > width) {
      lines.push(last);
      last = `  ${word}`;
    } else {
      last = longer;
    }
  }
  return [...lines, last];
}
