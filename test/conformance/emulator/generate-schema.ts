/**
 * Generates what the local API server knows of the release that the suite runs: the fields of all kinds from the Go types
 * (packages/local-cluster/src/schema/types.json), and the kinds themselves from the discovery documents that Kubernetes keeps
 * beside its sources (packages/local-cluster/src/resources/stored/kinds.json).
 *
 * Usage: node scripts/launch.mjs test/conformance/emulator/generate-schema.ts [--write]
 * Without --write it says whether the committed tables are up to date (exit code 1 if not). Needs Go.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { ensurePrograms, moduleDirectory } from '../control-plane/go-programs.ts';

const SOURCES = join(
  import.meta.dirname,
  ...['..', '..', '..', 'packages', 'local-cluster', 'src'],
);
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** A committed table, and what generates it. */
export interface GeneratedTable {
  readonly name: string;
  readonly file: string;
  /** The text of the file. Rejects when Go fails. */
  readonly generate: () => Promise<string>;
}

/** Both. */
export const GENERATED_TABLES: readonly GeneratedTable[] = [
  { name: 'types.json', file: join(SOURCES, 'schema', 'types.json'), generate: generateSchema },
  {
    name: 'kinds.json',
    file: join(SOURCES, 'resources', 'stored', 'kinds.json'),
    generate: generateKinds,
  },
];

async function generateSchema(): Promise<string> {
  const directory = await ensurePrograms({
    name: 'schema',
    description: 'what prints the Go types (about a minute if cold)',
    recipes: [{ module: 'schema', packages: ['.'], output: 'schema', linkerFlags: '-s -w' }],
  });
  const { stdout } = await promisify(execFile)(join(directory, 'schema'), {
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  return stdout;
}

/** The members of APIResourceList and APIGroupDiscoveryList that are read here. */
interface Discovered {
  readonly resources: readonly {
    readonly name: string;
    readonly singularName: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs: readonly string[];
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  }[];
}
interface Aggregated {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources: readonly {
        readonly resource: string;
        readonly singularResource: string;
        readonly responseKind: { readonly kind: string };
        readonly scope: string;
        readonly verbs: readonly string[];
        readonly shortNames?: readonly string[];
        readonly categories?: readonly string[];
        readonly subresources?: readonly { readonly subresource: string }[];
      }[];
    }[];
  }[];
}

/** Everything that can be watched, in the version that its group prefers if that is no alpha or beta; one line for each. */
async function generateKinds(): Promise<string> {
  const directory = join(await moduleDirectory('kubernetes', 'k8s.io/kubernetes'), 'api');
  const read = (name: string): unknown =>
    JSON.parse(readFileSync(join(directory, 'discovery', name), 'utf8'));
  const core = read('api__v1.json') as Discovered;
  const named = read('aggregated_v2.json') as Aggregated;
  const kinds = [
    ...core.resources
      .filter(({ verbs }) => verbs.includes('watch'))
      .map((each) => ({
        group: '',
        version: 'v1',
        kind: each.kind,
        plural: each.name,
        singular: each.singularName,
        isNamespaced: each.namespaced,
        shortNames: each.shortNames ?? [],
        categories: each.categories ?? [],
        subresources: core.resources
          .filter(({ name }) => name.startsWith(`${each.name}/`))
          .map(({ name }) => name.slice(each.name.length + 1)),
      })),
    ...named.items.flatMap(({ metadata, versions: [preferred] }) =>
      (preferred === undefined || /[a-z]\d+[a-z]/.test(preferred.version)
        ? []
        : preferred.resources
      )
        .filter(({ verbs }) => verbs.includes('watch'))
        .map((each) => ({
          group: metadata.name,
          version: preferred?.version ?? '',
          kind: each.responseKind.kind,
          plural: each.resource,
          singular: each.singularResource,
          isNamespaced: each.scope === 'Namespaced',
          shortNames: each.shortNames ?? [],
          categories: each.categories ?? [],
          subresources: (each.subresources ?? []).map(({ subresource }) => subresource),
        })),
    ),
  ];
  return `[\n${kinds.map((kind) => `  ${JSON.stringify(kind)}`).join(',\n')}\n]\n`;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
  for (const { name, file, generate } of GENERATED_TABLES) {
    const generated = await generate();
    const isSame = generated === readFileSync(file, 'utf8');
    if (values.write) writeFileSync(file, generated);
    else if (!isSame) process.exitCode = 1;
    process.stdout.write(isSame ? `${name} is up to date\n` : `${name} differs\n`);
  }
}
