/**
 * Where the live table goes: redrawn in place on a terminal, appended when it changed elsewhere.
 *
 * Everything here writes to stderr or stdout as told; with `--json` stdout stays free for the one
 * document. No decision is made here.
 */
import type { WriteStream } from 'node:tty';

/** A place to show a table that changes. */
export interface Screen {
  /** Shows these lines, replacing what was shown before. */
  show(lines: readonly string[]): void;
  /** Writes a line that stays, above the table on a terminal. */
  say(line: string): void;
}

const CLEAR_DOWN = '\u001b[0J';
const cursorUp = (rows: number): string => (rows === 0 ? '' : `\u001b[${String(rows)}A`);

/** A screen on this stream. */
export function createScreen(stream: WriteStream | NodeJS.WritableStream): Screen {
  const isTerminal = 'isTTY' in stream && stream.isTTY;
  return isTerminal ? createLiveScreen(stream) : createPlainScreen(stream);
}

function createLiveScreen(stream: WriteStream): Screen {
  let shown: readonly string[] = [];
  const redraw = (lines: readonly string[], above: readonly string[]): void => {
    const width = stream.columns;
    const cut = (line: string): string => (line.length > width ? line.slice(0, width - 1) : line);
    const text = [...above, ...lines.map(cut)].map((line) => `${line}\n`).join('');
    stream.write(`${cursorUp(shown.length)}\r${CLEAR_DOWN}${text}`);
    shown = lines;
  };
  return {
    show: (lines) => {
      redraw(lines, []);
    },
    say: (line) => {
      redraw(shown, [line]);
    },
  };
}

function createPlainScreen(stream: NodeJS.WritableStream): Screen {
  let shown = '';
  return {
    show: (lines) => {
      const text = lines.join('\n');
      if (text === shown) return;
      shown = text;
      stream.write(`${text}\n`);
    },
    say: (line) => {
      stream.write(`${line}\n`);
    },
  };
}
