/**
 * Reads policies (ports/rollout-policy.ts): text, plain values, schema. A text is a user's: bounded
 * before anything looks at it, never quoted, and never a reason to throw. Readings are kept by
 * their text, since a warm process reads the same ones at each run, and they depend on nothing
 * else.
 */
import type { PolicyReading } from '../../core/policy/rollout-policy.ts';
import type { PolicyReader } from '../../ports/fleet-reader.ts';
import { policySchema } from './policy-schema.ts';
import { readBy, refuse } from './problems.ts';
import { readYaml } from './read-yaml.ts';
import { isFields } from './written-values.ts';

/** Some hundred times a policy with every field. */
const CHARACTERS_MAX = 16_384;
const READINGS_MAX = 128;
/** An event holds 1,024 characters. */
const POLICY = { what: 'a policy', problemsMax: 10 };

/** A reader with a memory of its own; make one per process. */
export function createPolicyReader(): PolicyReader {
  const readings = new Map<string, PolicyReading>();
  return {
    read: (text) => {
      if (text === undefined || text.trim() === '') return { kind: 'none' };
      if (text.length > CHARACTERS_MAX) {
        return refuse([{ field: '', message: 'is longer than 16,384 characters' }], POLICY);
      }
      const reading = readings.get(text) ?? readText(text);
      // The newest last: the least recently read one leaves.
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
  if (yaml.kind === 'invalid') return refuse(yaml.problems, POLICY);
  const isOneWindow = isFields(yaml.value) && isFields(yaml.value['window']);
  const read = readBy(policySchema, yaml.value, { ...POLICY, isOneWindow });
  return read.kind === 'invalid' ? read : { kind: 'policy', policy: read.output };
}
