/**
 * Hostile input from seeded dice: valid samples bent out of shape, and plain garbage (spec faults 67).
 *
 * A parser's edges lie near what is valid, so most inputs are samples with a few members replaced, removed, doubled or
 * moved, or with a few characters changed; the rest is anything. The same dice give the same input.
 */
import type { Random } from '@rollcall/base/ports/random.ts';

/** Deeper than any recursive walk without a bound can take, as text. */
const DEEP = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;

const NASTY_TEXTS: readonly string[] = [
  '',
  ' ',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'line one\nlevel=error line two',
  'carriage\rreturn',
  '\u0000',
  '\u001b[2J\u001b[31m',
  '\u2028\u2029',
  '\ud800',
  '😀'.repeat(40),
  '../../etc/passwd',
  'a'.repeat(300),
  'a'.repeat(70_000),
  '$'.repeat(20),
  '%s%n%d',
  '{}',
  'NaN',
  '-1',
  '00',
  '1e999',
  '99999999999999999999999999999999999999999999',
  '2026-13-45T99:99:99Z',
  'https://user:password@169.254.169.254/latest?x#y',
];

const NASTY_NUMBERS: readonly number[] = [
  -1,
  -0,
  0.5,
  1e308,
  -1e308,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2 ** 53 + 2,
  Number.MIN_VALUE,
];

/** Whole number in 0 … below − 1. */
function below(random: Random, bound: number): number {
  return Math.min(bound - 1, Math.floor(random.next() * bound));
}

function pick<T>(random: Random, choices: readonly T[]): T {
  return choices[below(random, choices.length)] as T; // an index in range
}

/** A value that a parser is unlikely to have been written for. JSON, so it can be encoded. */
function nastyValue(random: Random): unknown {
  const kinds: readonly (() => unknown)[] = [
    () => null,
    () => random.next() < 0.5,
    () => pick(random, NASTY_NUMBERS),
    () => pick(random, NASTY_TEXTS),
    () => pick(random, NASTY_TEXTS),
    () => [],
    () => ({}),
    () => [null, [null, [null]]],
    () =>
      JSON.parse(
        '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
      ) as unknown,
    () => ({ toString: 1, valueOf: null, hasOwnProperty: 'no', length: -1, then: {} }),
    () => Array.from({ length: 200 }, () => pick(random, NASTY_TEXTS.slice(0, 12))),
    () => nest(below(random, 200)),
  ];
  return pick(random, kinds)();
}

function nest(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

type Container = unknown[] | Record<string, unknown>;

function containersOf(value: unknown): readonly Container[] {
  const found: Container[] = [];
  const pending: unknown[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    found.push(next as Container);
    pending.push(...(Object.values(next) as unknown[]));
  }
  return found;
}

/** Changes one member of a container: replaced, removed, doubled, renamed or added. */
function bend(container: Container, random: Random): void {
  const keys = Object.keys(container);
  const key = keys.length === 0 ? undefined : pick(random, keys);
  if (Array.isArray(container)) {
    const index = key === undefined ? 0 : Number(key);
    const draw = below(random, 4);
    if (draw === 0) container.splice(index, 1);
    else if (draw === 1) container.push(container[index]);
    else container[index] = nastyValue(random);
    return;
  }
  const draw = below(random, 5);
  if (key !== undefined && draw === 0) delete container[key];
  else if (key !== undefined && draw < 4) define(container, key, nastyValue(random));
  else define(container, pick(random, NASTY_TEXTS), nastyValue(random));
}

/** As `JSON.parse` does it: a key `__proto__` becomes a member, not the prototype. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** A copy of a JSON value with one to four members bent. */
export function bendJson(value: unknown, random: Random): unknown {
  if (random.next() < 0.02) return nastyValue(random);
  const copy: unknown = JSON.parse(JSON.stringify(value));
  const bends = 1 + below(random, 4);
  for (let bent = 0; bent < bends; bent += 1) {
    const containers = containersOf(copy);
    if (containers.length === 0) return nastyValue(random);
    bend(pick(random, containers), random);
  }
  return copy;
}

/** A text with a few characters removed, doubled, replaced or put in. */
export function bendText(text: string, random: Random): string {
  let bent = text;
  const bends = 1 + below(random, 4);
  for (let done = 0; done < bends; done += 1) {
    const at = below(random, bent.length + 1);
    const length = below(random, 12);
    const draw = below(random, 5);
    const head = bent.slice(0, at);
    const tail = bent.slice(at);
    if (draw === 0) bent = head + tail.slice(length);
    else if (draw === 1) bent = head + tail.slice(0, length) + tail;
    else if (draw === 2) bent = head + pick(random, NASTY_TEXTS) + tail.slice(length);
    else if (draw === 3) bent = head + String.fromCharCode(below(random, 0x10000)) + tail;
    else bent = head;
  }
  return bent;
}

/** Garbage that resembles nothing. */
export function garbage(random: Random): string {
  if (random.next() < 0.01) return DEEP;
  const length = below(random, 60);
  return Array.from({ length }, () => String.fromCharCode(below(random, 0x300))).join('');
}

/** A body for a parser of JSON texts: bent members, bent characters, or garbage. */
export function bendJsonText(sample: unknown, random: Random): string {
  const draw = random.next();
  if (draw < 0.65) return JSON.stringify(bendJson(sample, random));
  if (draw < 0.95) return bendText(JSON.stringify(sample), random);
  return garbage(random);
}
