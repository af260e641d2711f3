/**
 * Short words that somebody else wrote into a status, as far as a projection keeps them.
 *
 * Whoever may write a status may write anything there: what is kept is printable and bounded as messages are (wordSchema),
 * so that no word can begin a log line. Words are compared with those of kubelets and runtimes, which fit whole.
 */
import type { Sharing } from './reading.ts';

/** Long enough for every reason that a kubelet gives, and for every name of a system. */
const WORD_LENGTH_MAX = 256;

/** The word, cut and made printable; undefined when there is none. */
export function boundedWord(value: string | undefined, sharing?: Sharing): string | undefined {
  const word = (value ?? '').slice(0, WORD_LENGTH_MAX).replace(/[^\x20-\x7e]/g, '?');
  if (word === '') return undefined;
  return sharing === undefined ? word : sharing.text(word);
}
