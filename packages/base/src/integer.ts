/**
 * Signed 64-bit integers in text, as Go parses them.
 *
 * BigInt, because labels, taints and annotations may hold values beyond 2^53. Two readings exist
 * upstream: the plain one (a sign and leading zeros are fine) and the strict one of numeric
 * tolerations. No floats, no other bases.
 */
const LOWEST = -(2n ** 63n);
const HIGHEST = 2n ** 63n - 1n;

/** The value of a decimal integer (sign and leading zeros allowed); undefined if it is none. */
export function parseInteger(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text);
  return value < LOWEST || value > HIGHEST ? undefined : value;
}

/** Like `parseInteger`, but only in canonical form: no plus sign, no leading zero. */
export function parseCanonicalInteger(text: string): bigint | undefined {
  return /^(0|-?[1-9][0-9]*)$/.test(text) ? parseInteger(text) : undefined;
}
