/**
 * Reads one ConfigMap or Secret, or the key, and keeps of it what is sent: version, hash, and what was wrong (ADR 0061).
 *
 * Its content is asked for only where the version moved, hashed at once and dropped. An answer that there is none, or no
 * right, is a fact; a request that failed says nothing, and is told only after it failed for a while.
 */
import { defined } from '@rollcall/base/defined.ts';
import { jsonMember } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { configKeyOf, hashContent } from '../../core/config/content-hash.ts';
import type { ConfigKey } from '../../core/config/content-hash.ts';
import type { ConfigObservation } from '../../core/model/projections.ts';
import type { ConfigSource, NamespacedConfig } from '../../ports/cluster/config-source.ts';

/** Where the key is: created once, by a person (docs/rollouts.md). */
export const CONFIG_KEY: NamespacedConfig = {
  kind: 'Secret',
  namespace: 'rollcall-system',
  name: 'rollcall-config-key',
};

/** A request that fails for so long is told. */
const UNREAD_AFTER_MS = 600_000;

/** What is known of one object. */
export interface KnownContent {
  /** uid and resourceVersion that `hash` is of. */
  readonly version?: string;
  readonly hash?: string;
  readonly problem?: ConfigObservation['problem'];
  /** Since when nothing answers, on the monotonic clock. */
  readonly failedSinceMs?: number;
}

/** What reading works with. */
export interface ContentReading {
  readonly source: ConfigSource;
  readonly clock: Clock;
}

/** One look at an object, beside what was known of it. */
export async function readContent(
  of: NamespacedConfig,
  known: KnownContent,
  at: ContentReading & { readonly key: ConfigKey },
): Promise<KnownContent> {
  const read = await readMoved(of, known.version, at.source);
  switch (read.kind) {
    case 'same':
      return defined({ version: known.version, hash: known.hash });
    case 'moved':
      return { version: versionOf(read.object), hash: hashContent(at.key, of, read.object) };
    case 'missing':
    case 'forbidden':
      return { problem: read.kind };
    case 'failed':
      return failing(known, at.clock);
  }
}

/** What is known of the key; `none`: there is none that can be used. */
export interface KnownKey {
  readonly version?: string;
  readonly key: ConfigKey | 'none' | undefined;
}

/** One look at the key. */
export async function readKey(known: KnownKey, source: ConfigSource): Promise<KnownKey> {
  const read = await readMoved(CONFIG_KEY, known.version, source);
  switch (read.kind) {
    case 'same':
    case 'failed':
      return known;
    case 'moved':
      return { version: versionOf(read.object), key: keyIn(read.object) ?? 'none' };
    case 'missing':
    case 'forbidden':
      return { key: 'none' };
  }
}

function keyIn(secret: KubernetesObject): ConfigKey | undefined {
  const text = jsonMember(secret['data'] as Json | undefined, 'key'); // raw JSON of an API server
  return typeof text === 'string' ? configKeyOf(Buffer.from(text, 'base64')) : undefined;
}

type Moved =
  | { readonly kind: 'moved'; readonly object: KubernetesObject }
  | { readonly kind: 'same' | 'missing' | 'forbidden' | 'failed' };

/** Its content, if it is another version than the one that is known. */
async function readMoved(
  of: NamespacedConfig,
  version: string | undefined,
  source: ConfigSource,
): Promise<Moved> {
  if (version !== undefined) {
    const identity = await source.readConfig(of, 'identity');
    if (identity.kind === 'ok' && identity.value !== undefined) {
      if (versionOf(identity.value) === version) return { kind: 'same' };
    } else return answerOf(identity);
  }
  const whole = await source.readConfig(of, 'whole');
  if (whole.kind === 'ok' && whole.value !== undefined) {
    return { kind: 'moved', object: whole.value };
  }
  return answerOf(whole);
}

function answerOf(answer: Awaited<ReturnType<ConfigSource['readConfig']>>): Moved {
  if (answer.kind === 'ok') return { kind: 'missing' };
  return { kind: answer.failure.kind === 'unauthorized' ? 'forbidden' : 'failed' };
}

function versionOf({ metadata }: KubernetesObject): string {
  return `${metadata.uid}/${metadata.resourceVersion}`;
}

function failing(known: KnownContent, clock: Clock): KnownContent {
  const nowMs = clock.monotonicMs();
  const { failedSinceMs = nowMs } = known;
  const isLong = nowMs - failedSinceMs >= UNREAD_AFTER_MS;
  return { ...known, failedSinceMs, ...(isLong ? { problem: 'unread' as const } : {}) };
}
