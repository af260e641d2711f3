/**
 * The committed tables of types and of kinds are what the release says, and so is how many owners each field can have.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ownedMember } from '@rollcall/local-cluster/api/owners/field-types.ts';
import { createSchema } from '@rollcall/local-cluster/schema/create-schema.ts';
import { STRUCTS } from '@rollcall/local-cluster/schema/field-table.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { moduleDirectory } from '../control-plane/go-programs.ts';
import { GENERATED_TABLES } from './generate-schema.ts';

const skip = skipWithoutTools([TOOLS.go]);

for (const { name, file, generate } of GENERATED_TABLES) {
  test(
    `${name} is what the release says (else: generate-schema.ts --write)`,
    { skip },
    async () => {
      assert.equal(readFileSync(file, 'utf8'), await generate());
    },
  );
}

test('fields have owners by part where the markers of the API say so', { skip }, async () => {
  const schemas = await publishedSchemas();
  const schema = createSchema();
  const differences: string[] = [];
  let comparedCount = 0;
  // No owners are kept of a status.
  for (const [struct, fields] of [...STRUCTS].filter(([name]) => !isOfStatus(name))) {
    const published = PREFIXES.map((prefix) => schemas[`${prefix}${struct}`]).find(Boolean);
    for (const name of fields.keys()) {
      const property = published?.properties?.[name];
      if (property === undefined) continue;
      comparedCount += 1;
      const type = ownedMember(schema, struct, name);
      const ours = type.kind === 'items' ? type.keys.join() : type.kind;
      const theirs = ownership(property, schemas);
      if (ours !== theirs) differences.push(`${struct} ${name}: ${ours}, not ${theirs}`);
    }
  }
  assert.deepEqual(differences, []);
  assert.ok(comparedCount > 1500, String(comparedCount));
});

/** The members of an OpenAPI v3 schema that are read here. */
interface Published {
  readonly type?: string;
  readonly $ref?: string;
  readonly allOf?: readonly Published[];
  readonly properties?: Readonly<Record<string, Published>>;
  readonly additionalProperties?: Published;
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}
type Schemas = Readonly<Record<string, Published | undefined>>;

const PREFIXES = [
  'io.k8s.api.',
  'io.k8s.apimachinery.pkg.apis.',
  'io.k8s.apiextensions-apiserver.pkg.apis.',
  'io.k8s.kube-aggregator.pkg.apis.',
];

function isOfStatus(struct: string): boolean {
  return /Status$|UncountedTerminatedPods$/.test(struct);
}

async function publishedSchemas(): Promise<Schemas> {
  const kubernetes = await moduleDirectory('kubernetes', 'k8s.io/kubernetes');
  const directory = join(kubernetes, 'api', 'openapi-spec', 'v3');
  const documents = readdirSync(directory).map(
    (name) =>
      JSON.parse(readFileSync(join(directory, name), 'utf8')) as {
        readonly components: { readonly schemas: Schemas };
      },
  );
  return Object.assign({}, ...documents.map(({ components }) => components.schemas)) as Schemas;
}

function ownership(property: Published, schemas: Schemas): string {
  const reference = property.$ref ?? property.allOf?.[0]?.$ref ?? '';
  const type = schemas[reference.split('/').at(-1) ?? ''] ?? property;
  if (type.type === 'array') return listOwnership(property);
  const mapType = property['x-kubernetes-map-type'] ?? type['x-kubernetes-map-type'];
  return mapType === 'atomic' ? 'whole' : objectOwnership(type);
}

function objectOwnership({ type, properties, additionalProperties }: Published): string {
  if (type !== 'object') return 'whole';
  if (properties !== undefined) return 'struct';
  return additionalProperties === undefined ? 'whole' : 'map';
}

function listOwnership(property: Published): string {
  const listType = property['x-kubernetes-list-type'];
  if (listType === 'map') return property['x-kubernetes-list-map-keys']?.join() ?? '';
  return listType === 'set' ? 'set' : 'whole';
}
