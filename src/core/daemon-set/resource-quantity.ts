/**
 * Quantities of Kubernetes (`500m`, `1Gi`, `1e3`) as numbers: near enough to compare amounts, in any notation. An API server
 * writes `0.5` as `500m`.
 *
 * Pure. Of what the API server's own types decide (its exact sums, how it writes one) nothing is here.
 */

/** More digits than an API server takes are no amount. */
const PATTERN =
  /^([+-]?(?:\d{1,18}\.?\d{0,18}|\.\d{1,18}))(?:([eE][+-]?\d{1,2})|([numkMGTPE]|[KMGTPE]i)?)$/;

const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** The amount that a text or a number tells; undefined: it is no quantity. */
export function amountOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const text = typeof value === 'string' ? value : '';
  const [whole, digits, exponent = '', suffix = ''] = PATTERN.exec(text) ?? [];
  if (whole === undefined || digits === undefined) return undefined;
  if (exponent !== '') return Number(`${digits}${exponent}`);
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) return Number(digits) * 1024 ** binary;
  return Number(digits) * 1000 ** (DECIMAL.indexOf(suffix) - 3);
}

/** True when both are quantities of the same amount. */
export function isSameQuantity(left: unknown, right: unknown): boolean {
  const [one, other] = [amountOf(left), amountOf(right)];
  if (one === undefined || other === undefined) return false;
  // Products of a double are off by some units of its last place.
  return Math.abs(one - other) <= Math.max(Math.abs(one), Math.abs(other)) * 1e-12;
}
