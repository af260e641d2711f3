/** docs/reference/policy.md: the fields of a rollout policy and of a FleetDaemonSet, from the schemas that read them. */
import { fleetJsonSchema, policyJsonSchema } from '../lib/policy-json-schema.ts';
import { bullets, page, wrapped } from './markdown.ts';

/** What this page uses of a JSON Schema. */
interface Schema {
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** Fields that have the same fields wherever they stand: said once. */
const SHARED = {
  clusterSelector: 'label selector',
  selector: 'label selector',
  exclude: 'label selector',
  window: 'window',
  rollout: 'rollout policy',
};

/** Text of the page. */
export function renderPolicyPage(): string {
  const policy = policyJsonSchema() as Schema;
  const fleet = fleetJsonSchema() as Schema;
  const { canary, window } = policy.properties ?? {};
  return page('Policy fields', [
    '## Rollout policy',
    wrapped('The annotation `rollcall.dev/rollout` of a DaemonSet: [rollouts.md](../rollouts.md).'),
    bullets(linesOf(policy, '')),
    '## Label selector',
    wrapped('All requirements have to hold.'),
    bullets(linesOf(canary?.properties?.['selector'] ?? {}, '')),
    '## Window',
    bullets(linesOf(window?.anyOf?.[0] ?? {}, '')),
    '## FleetDaemonSet',
    wrapped('One DaemonSet for many clusters: [fleet.md](../fleet.md).'),
    bullets(linesOf(fleet, '')),
  ]);
}

function linesOf({ properties = {}, required = [] }: Schema, prefix: string): readonly string[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const shared = sharedOf(name, field);
    const inner = field.properties === undefined ? field.items : field;
    const path = `${prefix}${name}`;
    const line = lineOf(path, field, required.includes(name), shared);
    if (shared !== undefined || inner?.properties === undefined) return [line];
    return [line, ...linesOf(inner, `${path}${inner === field ? '' : '[]'}.`)];
  });
}

function sharedOf(name: string, field: Schema): string | undefined {
  const isCluster = name === 'exclude' && field.properties?.['clusterNames'] !== undefined;
  return isCluster ? undefined : SHARED[name as keyof typeof SHARED];
}

function lineOf(
  path: string,
  { description = '', enum: values, default: fallback, examples = [] }: Schema,
  isRequired: boolean,
  shared: string | undefined,
): string {
  const isPlain =
    fallback !== undefined &&
    JSON.stringify(fallback) !== '{}' &&
    JSON.stringify(fallback) !== '[]';
  const [example] = examples;
  const notes = [
    isRequired ? 'Required.' : '',
    shared === undefined ? '' : `A [${shared}](#${shared.replace(' ', '-')}).`,
    values === undefined ? '' : `One of ${values.map(codeOf).join(', ')}.`,
    isPlain ? `Default: ${codeOf(fallback)}.` : '',
    example === undefined || values !== undefined ? '' : `Example: ${codeOf(example)}.`,
  ];
  return [`\`${path}\`: ${description}`, ...notes].filter((note) => note !== '').join(' ');
}

function codeOf(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}
