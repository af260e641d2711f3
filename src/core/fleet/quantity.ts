/**
 * Quantities of Kubernetes (`500m`, `1Gi`, `1e3`) as numbers, for telling whether two texts mean the same amount: an API
 * server writes `0.5` as `500m`. Pure. Undefined for what is no quantity.
 */

const PATTERN = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/;

const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** True when both are quantities of the same amount. */
export function isSameQuantity(left: unknown, right: unknown): boolean {
  const [one, other] = [amountOf(left), amountOf(right)];
  if (one === undefined || other === undefined) return false;
  // Products of a double are off by some units of its last place.
  return Math.abs(one - other) <= Math.max(Math.abs(one), Math.abs(other)) * 1e-12;
}

function amountOf(value: unknown): number | undefined {
  const [whole, digits, exponent = '', suffix = ''] = PATTERN.exec(String(value)) ?? [];
  if (whole === undefined || digits === undefined) return undefined;
  if (exponent !== '') return Number(`${digits}${exponent}`);
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) return Number(digits) * 1024 ** binary;
  return Number(digits) * 1000 ** (DECIMAL.indexOf(suffix) - 3);
}
