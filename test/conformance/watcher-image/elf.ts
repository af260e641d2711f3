/** What the head of a 64-bit little-endian ELF file says: its processor, its loader, the libraries that it needs. */
import { readFileSync } from 'node:fs';

export interface ElfFile {
  readonly machine: string;
  /** Absent in a library. */
  readonly loader: string | undefined;
  readonly needed: readonly string[];
}

const MACHINES: Readonly<Record<number, string>> = { 62: 'amd64', 183: 'arm64' };
const SEGMENT = { load: 1, dynamic: 2, interpreter: 3 };
const TAG = { end: 0, needed: 1, strings: 5 };

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

/** Reads one; undefined where the file is none. */
export function readElf(name: string): ElfFile | undefined {
  const file = readFileSync(name);
  if (file.readUInt32BE(0) !== 0x7f454c46) return undefined;
  const number = (at: number): number => Number(file.readBigUInt64LE(at));
  const text = (at: number): string => file.toString('latin1', at, file.indexOf(0, at));
  const segments = Array.from({ length: file.readUInt16LE(56) }, (_, index): Segment => {
    const at = number(32) + index * file.readUInt16LE(54);
    return {
      type: file.readUInt32LE(at),
      offset: number(at + 8),
      address: number(at + 16),
      size: number(at + 32),
    };
  });
  const entries = segments
    .filter(({ type }) => type === SEGMENT.dynamic)
    .flatMap(({ offset, size }) =>
      Array.from({ length: size / 16 }, (_, index) => ({
        tag: number(offset + index * 16),
        value: number(offset + index * 16 + 8),
      })),
    );
  const end = entries.findIndex(({ tag }) => tag === TAG.end);
  const dynamic = entries.slice(0, end);
  const address = dynamic.find(({ tag }) => tag === TAG.strings)?.value ?? 0;
  const strings = segments.find(
    (one) =>
      one.type === SEGMENT.load && one.address <= address && address < one.address + one.size,
  );
  const base = address - (strings?.address ?? 0) + (strings?.offset ?? 0);
  const interpreter = segments.find(({ type }) => type === SEGMENT.interpreter);
  return {
    machine: MACHINES[file.readUInt16LE(18)] ?? 'another',
    loader: interpreter === undefined ? undefined : text(interpreter.offset),
    needed: dynamic.filter(({ tag }) => tag === TAG.needed).map(({ value }) => text(base + value)),
  };
}
