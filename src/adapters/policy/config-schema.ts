/**
 * The field `config` of a policy: whose content is part of the revision (ADR 0061).
 *
 * true is all that the template names, false is as if it were not written. A list names objects whether or not the template
 * does, so that what a program reads by itself can count. Names are bounded; the objects are looked for by the watcher.
 */
import * as v from 'valibot';
import type { ConfigSelection } from '../../core/policy/rollout-policy.ts';
import { RULES_MAX, closed, listOf, told } from './schema-parts.ts';
import * as written from './written-values.ts';

const MESSAGE =
  'must be true, false, or names as {configMaps: [agent-config], secrets: [agent-token]}';

const listed = v.pipe(
  closed(
    {
      configMaps: v.exactOptional(
        v.pipe(
          listOf(written.objectName, { countMax: RULES_MAX, example: '[agent-config]' }),
          told('ConfigMaps of its namespace.', ['agent-config']),
        ),
      ),
      secrets: v.exactOptional(
        v.pipe(
          listOf(written.objectName, { countMax: RULES_MAX, example: '[agent-token]' }),
          told('Secrets of its namespace.', ['agent-token']),
        ),
      ),
    },
    '{configMaps: [agent-config]}',
  ),
  v.check(
    ({ configMaps = [], secrets = [] }) => configMaps.length + secrets.length > 0,
    'must name at least one object; true is all that the template names',
  ),
);

/** true, false, or names. */
export const configSchema = v.union([written.flag, listed], MESSAGE);

/** What it selects; undefined: nothing. */
export function toConfig(
  config: v.InferOutput<typeof configSchema> | undefined,
): ConfigSelection | undefined {
  if (config === undefined || config === false) return undefined;
  if (config === true) return { kind: 'referenced' };
  const { configMaps = [], secrets = [] } = config;
  return {
    kind: 'listed',
    configMaps: [...new Set(configMaps)].sort(),
    secrets: [...new Set(secrets)].sort(),
  };
}
