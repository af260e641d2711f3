/**
 * Quantities of resources (`100m`, `64Mi`, `1e3`) as the API server reads, compares and writes them.
 *
 * An amount is held in billionths as a bigint: nothing finer exists, a finer one is rounded up to it. The format
 * decides how it is written. A text that is canonical already in the API server's eyes is written back as it came, even
 * `05` or `1.500`: the original takes that short cut, and clients see its results. Pure; texts met before are
 * remembered, because the same few occur in thousands of pods.
 */

/** How a quantity is written: `12M`, `12Mi` or `12e6`. */
type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** An amount of something. */
export interface Quantity {
  /** In billionths of the unit. */
  readonly nanos: bigint;
  readonly format: QuantityFormat;
  /** The text it came from, when that is written back unchanged. */
  readonly text?: string;
}

const NANOS = 1_000_000_000n;
const INT64_MAX = (1n << 63n) - 1n;
/** Digits that the original's short cut takes. */
const FAST_DIGITS_MAX = 18;
const REMEMBERED_MAX = 4096;

const DECIMAL_EXPONENTS: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const DECIMAL_SUFFIXES = new Map([...DECIMAL_EXPONENTS].map(([suffix, power]) => [power, suffix]));
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
/** No digits at all count as zero: so the original reads `e3` and `-`. */
const SHAPE = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/;

/** Zero, as `0`. */
export const ZERO_QUANTITY: Quantity = { nanos: 0n, format: 'DecimalSI', text: '0' };

const remembered = new Map<string, Quantity>();

/** Reads a quantity; undefined when the text is none. A JSON number is to be passed as its decimal text. */
export function parseQuantity(text: string): Quantity | undefined {
  const known = remembered.get(text);
  if (known !== undefined) return known;
  const quantity = readQuantity(text);
  if (quantity === undefined) return undefined;
  if (remembered.size >= REMEMBERED_MAX) remembered.clear();
  remembered.set(text, quantity);
  return quantity;
}

/**
 * The canonical text, as the API server writes it: parsing it gives an equal amount. Only multiples of 1000E lose their
 * power of ten, there as here, because no suffix is left for them.
 */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text;
  const { nanos, format } = quantity;
  if (nanos === 0n) return '0';
  if (format === 'BinarySI' && isWholeKibibyteOrMore(nanos)) return formatBinary(nanos / NANOS);
  return formatDecimal(nanos, format === 'DecimalExponent');
}

/** Negative when the first amount is less, zero when equal, positive when greater; formats do not matter. */
export function compareQuantities(first: Quantity, second: Quantity): number {
  if (first.nanos === second.nanos) return 0;
  return first.nanos < second.nanos ? -1 : 1;
}

/** The sum, in the format of the first unless that is zero. */
export function addQuantities(first: Quantity, second: Quantity): Quantity {
  if (first.nanos === 0n) return second;
  return { nanos: first.nanos + second.nanos, format: first.format };
}

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

interface Parts {
  readonly text: string;
  readonly isNegative: boolean;
  /** Digits before the point without leading zeros; `0` when none are left. */
  readonly whole: string;
  readonly fraction: string;
  readonly suffix: Suffix;
}

function readQuantity(text: string): Quantity | undefined {
  if (text === '') return undefined;
  if (text === '0') return ZERO_QUANTITY;
  const match = SHAPE.exec(text);
  if (match === null) return undefined;
  const [, sign = '', digits = '', fraction = '', suffixText = ''] = match;
  const suffix = readSuffix(suffixText);
  if (suffix === undefined) return undefined;
  const whole = digits.replace(/^0+/, '');
  const parts = { text, isNegative: sign === '-', whole: whole === '' ? '0' : whole, fraction };
  return toQuantity({ ...parts, suffix });
}

function readSuffix(text: string): Suffix | undefined {
  const decimal = DECIMAL_EXPONENTS.get(text);
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'DecimalSI' };
  const binary = BINARY_SUFFIXES.indexOf(text);
  if (binary > 0) return { base: 2, exponent: binary * 10, format: 'BinarySI' };
  if (!/^[eE][+-]?[0-9]+$/.test(text)) return undefined;
  const exponent = Number(text.slice(1));
  // Differs from Kubernetes: an exponent beyond all use is no quantity; there it takes the server's memory.
  return Math.abs(exponent) > 1000 ? undefined : { base: 10, exponent, format: 'DecimalExponent' };
}

function toQuantity(parts: Parts): Quantity {
  const magnitude = magnitudeOf(parts);
  const { format } = parts.suffix;
  const isCapped = format === 'BinarySI' && magnitude > INT64_MAX * NANOS;
  const size = isCapped ? INT64_MAX * NANOS : magnitude;
  const isFraction = format === 'BinarySI' && size > 0n && size < NANOS;
  const amount = {
    nanos: parts.isNegative ? -size : size,
    format: isFraction ? ('DecimalSI' as const) : format,
  };
  return isWrittenBack(parts) ? { ...amount, text: parts.text } : amount;
}

function magnitudeOf({ whole, fraction, suffix }: Parts): bigint {
  const digits = BigInt(whole + fraction);
  const power = 9 - fraction.length + (suffix.base === 10 ? suffix.exponent : 0);
  const scaled = suffix.base === 2 ? digits << BigInt(suffix.exponent) : digits;
  if (power >= 0) return scaled * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return scaled % divisor === 0n ? scaled / divisor : scaled / divisor + 1n;
}

/** The original's short cut: small numbers that look canonical keep their text. */
function isWrittenBack({ whole, fraction, suffix }: Parts): boolean {
  const shifted = whole + fraction;
  if (suffix.format === 'BinarySI') {
    const precision = 15 - whole.length - Math.trunc(Math.fround((suffix.exponent * 3) / 10)) - 1;
    return fraction === '' && precision >= 0 && (BigInt(shifted) & 7n) !== 0n;
  }
  const scale = suffix.exponent - fraction.length;
  if (shifted.length > FAST_DIGITS_MAX || scale < -9) return false;
  return scale % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0');
}

function isWholeKibibyteOrMore(nanos: bigint): boolean {
  const size = nanos < 0n ? -nanos : nanos;
  return size >= 1024n * NANOS && size % NANOS === 0n;
}

function formatBinary(units: bigint): string {
  let mantissa = units;
  let step = 0;
  while (mantissa % 1024n === 0n && step < BINARY_SUFFIXES.length - 1) {
    mantissa /= 1024n;
    step += 1;
  }
  return `${String(mantissa)}${BINARY_SUFFIXES[step] ?? ''}`;
}

function formatDecimal(nanos: bigint, withExponent: boolean): string {
  let mantissa = nanos;
  let exponent = -9;
  while (mantissa % 1000n === 0n) {
    mantissa /= 1000n;
    exponent += 3;
  }
  const suffix = withExponent && exponent !== 0 ? `e${String(exponent)}` : '';
  return `${String(mantissa)}${withExponent ? suffix : (DECIMAL_SUFFIXES.get(exponent) ?? '')}`;
}
