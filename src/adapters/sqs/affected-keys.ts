/**
 * Which keys a message's node changes concern: a message attribute, fixed with the body (protocol 20, ADR 0046).
 *
 * `1:kube-system/agent,logging/collector`: the rules of placement that it was decided by, then the keys. It stays beside the
 * body because the release before refuses a body with a field that it does not know. Too many keys for its bound are not
 * written at all, and what cannot be read counts as missing: then every key is looked at, which is only slower.
 */
import type { AffectedKeys } from '../../core/model/watcher-message.ts';

/** Name of the attribute. */
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
