/**
 * The images of one machine: pulled once, then there. Concurrent pulls of one image share one transfer.
 *
 * An image's size follows from its name, the time of a pull from the seeded random. Nothing is ever
 * evicted. Failures that a simulation asks for are the caller's.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { RuntimeError } from './cri.ts';
import type { PulledImage } from './cri.ts';
import type { MachineTimers } from './machine-timers.ts';

/** The images of a machine. */
export interface ImageStore {
  has(image: string): boolean;
  /** What the image is called once it is there: its repository and digest. */
  idOf(image: string): string;
  /** Transfers the image, or asks the registry whether the one that is there is the newest. */
  pull(image: string, durationMs: number | undefined): Promise<PulledImage>;
  /** A pull that fails after the time that a refusal takes, with RuntimeError `ImagePull`. */
  fail(image: string, durationMs: number | undefined): Promise<never>;
}

const SMALLEST_BYTES = 5_000_000;
const SIZE_RANGE_BYTES = 245_000_000;
const SHORTEST_PULL_MS = 200;
const PULL_RANGE_MS = 700;
/** Asking the registry about an image that is there, or that it does not have. */
const SHORTEST_QUESTION_MS = 20;
const QUESTION_RANGE_MS = 40;

/** Makes the image store of one machine. */
export function createImageStore(options: {
  readonly clock: Clock;
  readonly timers: MachineTimers;
  readonly random: Random;
  readonly present: readonly string[];
}): ImageStore {
  const { clock, timers, random } = options;
  const present = new Set(options.present.map(withTag));
  const transfers = new Map<string, Promise<PulledImage>>();
  const digests = new Map<string, string>();

  const digestOf = (image: string): string => {
    const known = digests.get(image) ?? createHash('sha256').update(image).digest('hex');
    digests.set(image, known);
    return known;
  };
  const idOf = (image: string): string =>
    `${repositoryOf(image)}@sha256:${digestOf(withTag(image))}`;
  const questionMs = (): number => SHORTEST_QUESTION_MS + random.next() * QUESTION_RANGE_MS;
  const transfer = async (image: string, delayMs: number): Promise<PulledImage> => {
    const startMs = clock.monotonicMs();
    try {
      await timers.wait(delayMs);
    } finally {
      transfers.delete(image);
    }
    present.add(image);
    const sizeShare = Number.parseInt(digestOf(image).slice(0, 6), 16) / 0x100_0000;
    const sizeBytes = Math.round(SMALLEST_BYTES + sizeShare * SIZE_RANGE_BYTES);
    return { imageId: idOf(image), sizeBytes, pullMs: Math.round(clock.monotonicMs() - startMs) };
  };
  return {
    has: (image) => present.has(withTag(image)),
    idOf,
    pull: (image, durationMs) => {
      const name = withTag(image);
      const running = transfers.get(name);
      if (running !== undefined) return running;
      const newMs = SHORTEST_PULL_MS + random.next() * PULL_RANGE_MS;
      const usualMs = present.has(name) ? questionMs() : newMs;
      const started = transfer(name, Math.round(durationMs ?? usualMs));
      transfers.set(name, started);
      return started;
    },
    fail: async (image, durationMs) => {
      await timers.wait(Math.round(durationMs ?? questionMs()));
      const name = withTag(image);
      throw new RuntimeError(
        'ImagePull',
        `rpc error: code = NotFound desc = failed to pull and unpack image "${name}": ` +
          `failed to resolve reference "${name}": ${name}: not found`,
      );
    },
  };
}

/** `app` is `app:latest`; a tag or digest stays. */
function withTag(image: string): string {
  if (image.includes('@')) return image;
  return image.includes(':', image.lastIndexOf('/') + 1) ? image : `${image}:latest`;
}

function repositoryOf(image: string): string {
  const [name = ''] = image.split('@');
  const colon = name.indexOf(':', name.lastIndexOf('/') + 1);
  return colon < 0 ? name : name.slice(0, colon);
}
