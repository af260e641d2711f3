/** Randomness as a port: jitter and unique ids, seeded in tests and simulation. */

/** A source of randomness; not for secrets. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A text unique to this call, of at least 96 random bits, in [0-9a-z]. */
  uniqueId(): string;
}

/** A duration varied by ±`share` (0.2: ±20 %). */
export function jittered(random: Random, durationMs: number, share: number): number {
  return Math.round(durationMs * (1 - share + 2 * share * random.next()));
}
