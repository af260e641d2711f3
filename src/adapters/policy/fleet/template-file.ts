/**
 * The DaemonSet of a file that Helm or Kustomize rendered.
 *
 * Other objects are named, not taken: what
 * belongs to a DaemonSet is delivered as before. None, or more than one, is refused: nobody guesses.
 */
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { FleetProblem } from '../../../core/fleet/fleet-daemon-set.ts';
import { readYamlStream } from '../read-yaml.ts';
import type { YamlRules } from '../read-yaml.ts';

/** The DaemonSet, and what else there is. */
export type TemplateFile =
  | {
      readonly kind: 'template';
      readonly manifest: JsonObject;
      readonly leftOut: readonly string[];
    }
  | { readonly kind: 'invalid'; readonly problems: readonly FleetProblem[] };

const FIELD = 'spec.templateFile';

/** Reads it. Never throws. */
export function readTemplateFile(text: string, rules: YamlRules): TemplateFile {
  const read = readYamlStream(text, rules);
  if (read.kind === 'invalid') {
    const problems = read.problems.map(({ field, message }) => ({
      field: field === '' ? FIELD : `${FIELD}: ${field}`,
      message,
    }));
    return { kind: 'invalid', problems };
  }
  // Values of YAML are JSON.
  const objects = (read.values as readonly Json[]).flatMap(itemsOf);
  const daemonSets = objects.filter((one) => jsonMember(one, 'kind') === 'DaemonSet');
  const [manifest, ...more] = daemonSets.filter(isJsonObject);
  if (manifest === undefined || more.length > 0) {
    const count = manifest === undefined ? 'none' : String(daemonSets.length);
    return {
      kind: 'invalid',
      problems: [{ field: FIELD, message: `must hold one DaemonSet, and holds ${count}` }],
    };
  }
  const leftOut = objects.filter((one) => one !== manifest).map(nameOf);
  return { kind: 'template', manifest, leftOut };
}

/** Of a List its items. */
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
