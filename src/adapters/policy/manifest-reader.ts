/**
 * Reads the one DaemonSet of a text, as a person writes it, or Helm and Kustomize render it. Other objects are named. The text is a
 * user's: bounded, never a reason to throw, and no value of it is repeated, since manifests hold secrets.
 */
import { jsonItems, jsonMember, isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { PolicyProblem } from '../../core/policy/rollout-policy.ts';
import { readYamlStream, type YamlRules } from './read-yaml.ts';

/** A stored item holds 300,000 bytes, compressed. */
export const CHARACTERS_MAX = 262_144;
/** The message for a longer one. */
export const TOO_LONG = 'is longer than 262,144 characters';

/** A manifest's affinity is some fourteen deep, and stands four deep in a FleetDaemonSet. */
export const MANIFEST_RULES: YamlRules = { depthMax: 32, leadingZeros: 'refused' };

export type ManifestReading =
  | {
      readonly kind: 'manifest';
      readonly manifest: JsonObject;
      /** Other objects of the text, by kind and name. */
      readonly leftOut: readonly string[];
    }
  | { readonly kind: 'invalid'; readonly problems: readonly PolicyProblem[] };

/** Reads it. Never throws. */
export function readManifest(text: string): ManifestReading {
  if (text.length > CHARACTERS_MAX) return invalid(TOO_LONG);
  const read = readYamlStream(text, MANIFEST_RULES);
  if (read.kind === 'invalid') return read;
  // Values of YAML are JSON.
  const objects = (read.values as readonly Json[]).flatMap(itemsOf);
  const daemonSets = objects.filter((one) => jsonMember(one, 'kind') === 'DaemonSet');
  const [manifest, ...more] = daemonSets.filter(isJsonObject);
  if (manifest === undefined || more.length > 0) {
    const count = manifest === undefined ? 'none' : String(daemonSets.length);
    return invalid(`must hold one DaemonSet, and holds ${count}`);
  }
  const leftOut = objects.filter((one) => one !== manifest).map(nameOf);
  return { kind: 'manifest', manifest, leftOut };
}

function invalid(message: string): ManifestReading {
  return { kind: 'invalid', problems: [{ field: '', message }] };
}

function itemsOf(object: Json): readonly Json[] {
  const items = jsonMember(object, 'items');
  return jsonMember(object, 'kind') === 'List' && items !== undefined ? jsonItems(items) : [object];
}

function nameOf(object: Json): string {
  const name = jsonMember(jsonMember(object, 'metadata'), 'name');
  return `${wordOf(jsonMember(object, 'kind'))} ${wordOf(name)}`;
}

function wordOf(value: Json | undefined): string {
  return typeof value === 'string' && value !== '' ? value : '?';
}
