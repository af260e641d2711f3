/**
 * Reads policies (ports/rollout-policy.ts): text, plain values, schema, defaults.
 *
 * A text of a user: bounded before anything looks at it, never quoted, and never a reason to throw. A warm process reads
 * the same texts at each run, so readings are kept by their text, the last used ones; a reading depends on nothing else,
 * so it may serve every cluster.
 */
import * as v from 'valibot';
import type { PolicyProblem, PolicyReading } from '../../core/policy/rollout-policy.ts';
import type { PolicyReader } from '../../ports/rollout-policy.ts';
import { policySchema } from './policy-schema.ts';
import { readYaml } from './read-yaml.ts';
import { toldProblems, toProblems } from './to-problems.ts';
import { toPolicy } from './to-policy.ts';
import { isFields } from './written-values.ts';

/** Some hundred times a policy with every field. */
const CHARACTERS_MAX = 16_384;
const READINGS_MAX = 128;
/** More than anybody repairs at once; an event holds 1,024 characters. */
const PROBLEMS_MAX = 10;

/** Fields of earlier releases: they hold nothing, and whoever wrote one is told what to do instead. */
const RETIRED: ReadonlyMap<string, string> = new Map([
  [
    'after',
    'is ignored: no DaemonSet waits for another one; let the pod itself wait, by an init container',
  ],
  [
    'config',
    'is ignored: content of ConfigMaps and Secrets is no part of a revision; let the template change with it, by a name with a hash (configMapGenerator and secretGenerator of kustomize) or an annotation with one (checksum/config, as Helm charts have it)',
  ],
]);

/** A reader with a memory of its own; make one per process. */
export function createPolicyReader(): PolicyReader {
  const readings = new Map<string, PolicyReading>();
  return {
    read: (text) => {
      if (text === undefined || text.trim() === '') return { kind: 'none' };
      if (text.length > CHARACTERS_MAX) {
        return refuse([{ field: '', message: 'is longer than 16,384 characters' }]);
      }
      const reading = readings.get(text) ?? readText(text);
      // The newest last: what leaves is what nobody asked for longest.
      readings.delete(text);
      readings.set(text, reading);
      const [oldest] = readings.keys();
      if (readings.size > READINGS_MAX && oldest !== undefined) readings.delete(oldest);
      return reading;
    },
  };
}

function readText(text: string): PolicyReading {
  const yaml = readYaml(text);
  if (yaml.kind === 'invalid') return refuse(yaml.problems);
  const { value: kept, ignored } = withoutRetired(yaml.value);
  const { value, isOneWindow } = listed(kept);
  const parsed = v.safeParse(policySchema, value);
  if (parsed.success) {
    const [first, ...others] = ignored;
    const policy = toPolicy(parsed.output);
    if (first === undefined) return { kind: 'policy', policy };
    return { kind: 'policy', policy, ignored: [first, ...others] };
  }
  return refuse(
    parsed.issues.flatMap((issue) => toProblems(issue, { isOneWindow, what: 'a policy' })),
  );
}

/** The policy without fields of earlier releases, and what to tell of these. */
export function withoutRetired(value: unknown): {
  readonly value: unknown;
  readonly ignored: readonly PolicyProblem[];
} {
  if (!isFields(value)) return { value, ignored: [] };
  const kept = Object.entries(value).filter(([field]) => !RETIRED.has(field));
  const ignored = [...RETIRED]
    .filter(([field]) => Object.hasOwn(value, field))
    .map(([field, message]) => ({ field, message }));
  return { value: Object.fromEntries(kept), ignored };
}

/** With one window as a list of one, as the schema has it. */
function listed(value: unknown): { readonly value: unknown; readonly isOneWindow: boolean } {
  if (!isFields(value) || !isFields(value['window'])) return { value, isOneWindow: false };
  return { value: { ...value, window: [value['window']] }, isOneWindow: true };
}

function refuse(problems: readonly PolicyProblem[]): PolicyReading {
  const told = toldProblems(problems, { problemsMax: PROBLEMS_MAX, what: 'policy' });
  return { kind: 'invalid', problems: told };
}
