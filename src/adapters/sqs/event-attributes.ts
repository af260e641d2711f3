/**
 * What travels beside a message's body, as attributes of the queue's message; what cannot be read counts as missing.
 *
 * Which keys its node changes concern, fixed with the body (protocol 20, ADR 0046): the release before refuses a body with
 * a field that it does not know. `1:kube-system/agent,logging/collector`: the rules of placement that it was decided by,
 * then the keys. Without it every key is looked at, which is only slower.
 * How old what it says was when it was sent (ADR 0032): set anew at each try, as a body may be taken an hour after it was
 * frozen, and SentTimestamp says only when. SQS keeps the attribute of the try that it took, which is the right one.
 * Who holds the Lease, beside the announcement of a watcher that stands by (ADR 0024): the release before reads an
 * announcement that no snapshot follows, so it acts on nothing either.
 */
import type { AffectedKeys } from '../../core/model/watcher-message.ts';
import type { FrozenMessage } from '../../ports/queues/queue.ts';

/** Name of the attribute of the keys. */
export const AFFECTED_ATTRIBUTE = 'rollcall-affected';

/** Bytes that the attribute takes from a message at most: SQS counts name, type and value (aws-rules 9). */
export const AFFECTED_BYTES_MAX = 8 * 1024;

const VALUE_CHARACTERS_MAX = AFFECTED_BYTES_MAX - 64;
/** Names are those of Kubernetes: neither has a comma or a slash. */
const KEYS = /^(\d{1,9}):((?:[a-z0-9][a-z0-9-]{0,62}\/[a-z0-9][a-z0-9.-]{0,252}(?:,(?=.)|$))*)$/;

/** The attribute; an empty object where the keys are too many, or not known. */
export function affectedAttributes(
  affected: AffectedKeys | undefined,
): Record<string, { readonly DataType: 'String'; readonly StringValue: string }> {
  if (affected === undefined) return {};
  const names = affected.keys.map(({ namespace, name }) => `${namespace}/${name}`);
  const value = `${String(affected.rules)}:${names.join(',')}`;
  if (value.length > VALUE_CHARACTERS_MAX) return {};
  return { [AFFECTED_ATTRIBUTE]: { DataType: 'String', StringValue: value } };
}

/** The keys that a received message names; undefined: not known, hence all. */
export function readAffectedKeys(value: string | undefined): AffectedKeys | undefined {
  if (value === undefined || value.length > VALUE_CHARACTERS_MAX) return undefined;
  const [, rules, names] = KEYS.exec(value) ?? [];
  if (rules === undefined || names === undefined) return undefined;
  const keys = names
    .split(',')
    .filter((key) => key !== '')
    .map((key) => ({ namespace: key.split('/')[0] ?? '', name: key.split('/')[1] ?? '' }));
  return { rules: Number(rules), keys };
}

/** Name of the attribute; its value is a whole number of milliseconds. */
export const CUT_AGE_ATTRIBUTE = 'rollcall-cut-age-ms';

/** Likewise. */
export const CUT_AGE_BYTES_MAX = 64;

/** Older than anything a queue keeps: what says more is as old as that. */
const CUT_AGE_MS_MAX = 30 * 24 * 3_600_000;
const WHOLE_NUMBER = /^\d{1,15}$/;

/** The attributes of one try; `ageMs` is bounded, never negative. */
function cutAgeAttributes(
  ageMs: number,
): Record<string, { readonly DataType: 'Number'; readonly StringValue: string }> {
  const boundedMs = Math.min(Math.max(0, Math.ceil(ageMs)), CUT_AGE_MS_MAX);
  return { [CUT_AGE_ATTRIBUTE]: { DataType: 'Number', StringValue: String(boundedMs) } };
}

/** The age of what a received message says, milliseconds; undefined: unknown. */
export function readCutAgeMs(value: string | undefined): number | undefined {
  if (value === undefined || !WHOLE_NUMBER.test(value)) return undefined;
  return Math.min(Number(value), CUT_AGE_MS_MAX);
}

/** Name of the attribute. */
export const STANDS_BY_ATTRIBUTE = 'rollcall-stands-by';

const HOLDER = /^[\x21-\x7e]{1,256}$/;

/** Who holds the Lease, as a received message says; undefined: its watcher does not stand by. */
export function readStandsBy(value: string | undefined): string | undefined {
  return value !== undefined && HOLDER.test(value) ? value : undefined;
}

/** What travels beside a body at one try. */
export function attributesBeside(
  { affected, standsBy }: Pick<FrozenMessage, 'affected' | 'standsBy'>,
  cutAgeMs: number | undefined,
): Record<string, { readonly DataType: string; readonly StringValue: string }> {
  return {
    ...(cutAgeMs === undefined ? {} : cutAgeAttributes(cutAgeMs)),
    ...affectedAttributes(affected),
    ...(standsBy === undefined
      ? {}
      : { [STANDS_BY_ATTRIBUTE]: { DataType: 'String', StringValue: standsBy } }),
  };
}
