/**
 * Marks the parts of a line that tell that something failed, or waits for a person; and the colours of a terminal for it.
 *
 * A command marks pieces of its lines, and never writes an escape code: the frame paints them where colours are wanted. Pieces are
 * made of plain text (text-table.ts), so nothing that a cluster said steers a terminal.
 */
import { Option } from 'commander';
import type { RolloutPhase } from '../../core/rollout/gate-words.ts';

/** Red; yellow. What is well has no colour. */
export type Tone = 'failing' | 'waiting';

/** A piece of a line. */
export type Piece = string | { readonly text: string; readonly tone: Tone };

/** A line for a person. */
export type Line = string | readonly Piece[];

/** Of which state which colour; the others have none. */
const PHASES: Readonly<Partial<Record<RolloutPhase, Tone>>> = {
  Halted: 'failing',
  Invalid: 'failing',
  Stopped: 'failing',
  Waiting: 'waiting',
  Paused: 'waiting',
  Frozen: 'waiting',
  Returned: 'waiting',
};

/** Marks a text; the text itself where there is no tone. */
export function toned(text: string, tone: Tone | undefined): Piece {
  return tone === undefined ? text : { text, tone };
}

/** The phase of a rollout, marked. */
export function phasePiece(phase: RolloutPhase): Piece {
  return toned(phase, PHASES[phase]);
}

/** The text of a piece. */
export function textOf(piece: Piece): string {
  return typeof piece === 'string' ? piece : piece.text;
}

/** A line without colours. */
export function uncoloured(line: Line): string {
  return typeof line === 'string' ? line : line.map(textOf).join('');
}

const CODES: Readonly<Record<Tone, string>> = { failing: '\u001b[31m', waiting: '\u001b[33m' };
const RESET = '\u001b[0m';

/** A line with colours. */
export function coloured(line: Line): string {
  if (typeof line === 'string') return line;
  return line
    .map((piece) =>
      typeof piece === 'string' ? piece : `${CODES[piece.tone]}${piece.text}${RESET}`,
    )
    .join('');
}

const WHEN = ['auto', 'always', 'never'] as const;
export type ColourWhen = (typeof WHEN)[number];

export function colourOption(): Option {
  const about = 'colour what failed or waits for a person (auto: on a terminal, without NO_COLOR)';
  return new Option('--color <when>', about).choices(WHEN).default('auto');
}

/** Whether to colour what goes to a stream. */
export function isColourWanted(
  when: ColourWhen,
  stream: {
    readonly isTerminal: boolean;
    readonly environment: Readonly<NodeJS.ProcessEnv>;
  },
): boolean {
  if (when !== 'auto') return when === 'always';
  const { NO_COLOR: noColour = '', TERM: terminal } = stream.environment;
  return stream.isTerminal && noColour === '' && terminal !== 'dumb';
}
