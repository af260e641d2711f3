/**
 * Feeds a parser 2,000 hostile inputs, and 10,000 fresh ones at night; each has dice of its own, so that one command replays one input.
 *
 * A parser may refuse or accept, never throw, and never touch a prototype. What it owes beyond that is the caller's
 * `feed`. The night says by the environment how many, and from which seed.
 */
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import type { Random } from '@rollcall/base/ports/random.ts';

/** Inputs for each parser. */
const INPUTS = Number(process.env['ROLLCALL_FUZZ_INPUTS'] ?? 2_000);

export interface FuzzTarget {
  readonly name: string;
  /** Makes an input with the dice, feeds it, and throws when the parser owed something else. */
  readonly feed: (random: Random) => void | Promise<void>;
}

function assertPrototypesClean(): void {
  const polluted = Object.keys(Object.prototype);
  const own = ({} as Record<string, unknown>)['polluted'];
  if (polluted.length > 0 || own !== undefined) throw new Error('a prototype was changed');
}

function commandOf(seed: number, index: number): string {
  return `ROLLCALL_FUZZ_SEED=${seed} ROLLCALL_FUZZ_INDEX=${index} npm test -- test/security/fuzz/*.test.ts`;
}

/** Feeds all inputs; the number that were fed. Throws at the first failure, with the command that replays it. */
export async function fuzz(target: FuzzTarget): Promise<number> {
  const seed = Number(process.env['ROLLCALL_FUZZ_SEED'] ?? 20_261_121);
  const only = process.env['ROLLCALL_FUZZ_INDEX'];
  const [first, last] = only === undefined ? [0, INPUTS] : [Number(only), Number(only) + 1];
  for (let index = first; index < last; index += 1) {
    const random = seededRandom(seed * 1_000_003 + index);
    try {
      await target.feed(random);
      assertPrototypesClean();
    } catch (cause) {
      const replay = commandOf(seed, index);
      throw new Error(`${target.name}: input ${index} of seed ${seed}; again with: ${replay}`, {
        cause,
      });
    }
  }
  return last - first;
}

const CONTROL = /[\u0000-\u001f\u007f\u2028\u2029]/;

/** Throws if a text could write a second log line or steer a terminal. */
export function assertOneLine(text: string, lengthMax = 1000): void {
  if (CONTROL.test(text)) throw new Error(`control characters in ${JSON.stringify(text)}`);
  if (text.length > lengthMax) throw new Error(`a text of ${text.length} characters`);
}
