/**
 * Reads FleetDaemonSets (ports/fleet-reader.ts): text, plain values, schema, manifest, defaults.
 *
 * A text of a user: bounded before anything looks at it, never a reason to throw. Problems name their field and repeat no
 * value, since manifests hold secrets in environment variables. What is stored is the document as it was written, with the
 * manifest in it, so that reading it again means the same.
 */
import * as v from 'valibot';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { FleetProblem, FleetReading } from '../../../core/fleet/fleet-daemon-set.ts';
import type { FleetReader, NamedFile } from '../../../ports/fleet-reader.ts';
import { withoutRetired } from '../policy-reader.ts';
import { readYaml } from '../read-yaml.ts';
import type { YamlRules } from '../read-yaml.ts';
import { toldProblems, toProblems } from '../to-problems.ts';
import { isFields } from '../written-values.ts';
import { fleetSchema } from './fleet-schema.ts';
import { readTemplateFile } from './template-file.ts';
import { limitPolicy, ungatePolicy } from './limit-policy.ts';
import { inlineManifest, toFleet } from './to-fleet.ts';

/** Each of the two files; a stored item holds 300,000 bytes, compressed. */
const CHARACTERS_MAX = 262_144;
const TOO_LONG = 'is longer than 262,144 characters';
/** More than anybody repairs at once. */
const PROBLEMS_MAX = 20;

/** A manifest's affinity is some fourteen deep, and stands four deep in the document. */
const RULES: YamlRules = { depthMax: 32, leadingZeros: 'refused' };

/** A reader; it remembers nothing. */
export function createFleetReader(): FleetReader {
  return {
    read,
    readDocument: (document) => readDocument(document, []),
    limitPolicy,
    ungatePolicy,
  };
}

function read(text: string, openFile: (name: string) => NamedFile): FleetReading {
  if (text.length > CHARACTERS_MAX) return refuse([{ field: '', message: TOO_LONG }]);
  const yaml = readYaml(text, RULES);
  if (yaml.kind === 'invalid') return refuse(yaml.problems);
  // Values of YAML are JSON.
  const document = yaml.value as Json;
  const spec = isJsonObject(document) ? document['spec'] : undefined;
  if (!isJsonObject(document) || !isJsonObject(spec)) return readDocument(document, []);
  const { templateFile, ...rest } = spec;
  if (typeof templateFile !== 'string' || 'template' in rest) return readDocument(document, []);
  const file = openFile(templateFile);
  const field = 'spec.templateFile';
  if (file.kind === 'unreadable') return refuse([{ field, message: file.message }]);
  if (file.text.length > CHARACTERS_MAX) return refuse([{ field, message: TOO_LONG }]);
  const template = readTemplateFile(file.text, RULES);
  if (template.kind === 'invalid') return refuse(template.problems);
  const whole = { ...document, spec: { template: template.manifest, ...rest } };
  return readDocument(whole, template.leftOut);
}

function readDocument(document: Json, leftOut: readonly string[]): FleetReading {
  const parsed = v.safeParse(fleetSchema, asSchemaHasIt(document));
  if (!parsed.success) {
    const as = { isOneWindow: false, what: 'a FleetDaemonSet' };
    return refuse(parsed.issues.flatMap((issue) => toProblems(issue, as)));
  }
  if (!isJsonObject(document)) throw new Error('the schema took what is no object');
  if (parsed.output.spec.templateFile !== undefined) {
    const message = 'must be a text, and needs a file to be read beside this one';
    return refuse([{ field: 'spec.templateFile', message }]);
  }
  const made = toFleet(parsed.output, { raw: document, manifest: inlineManifest(document) });
  if (made.kind === 'invalid') return refuse(made.problems);
  return { kind: 'fleet', fleet: made.fleet, document, leftOut };
}

/** As the schema has it: one window as a list of one, wherever one may stand; no field of an earlier release in the policy. */
function asSchemaHasIt(document: Json): Json {
  return change(document, 'spec', (spec) =>
    change(spec, 'strategy', (strategy) => {
      const own = change(listed(strategy), 'rollout', (policy) =>
        listed(withoutRetired(policy).value as Json),
      );
      return change(own, 'stages', (stages) =>
        Array.isArray(stages) ? (stages as readonly Json[]).map(listed) : stages,
      );
    }),
  );
}

function listed(value: Json): Json {
  return change(value, 'window', (window) => (isFields(window) ? [window] : window));
}

function change(value: Json, name: string, to: (member: Json) => Json): Json {
  if (!isJsonObject(value)) return value;
  const member = value[name];
  return member === undefined ? value : { ...value, [name]: to(member) };
}

function refuse(problems: readonly FleetProblem[]): FleetReading {
  const told = toldProblems(problems, { problemsMax: PROBLEMS_MAX, what: 'FleetDaemonSet' });
  return { kind: 'invalid', problems: told };
}
