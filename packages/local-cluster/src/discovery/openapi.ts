/**
 * The OpenAPI v3 documents: one for each group and version, with the paths of its resources and the schemas of their kinds.
 *
 * kubectl reads them to learn that the server validates fields by itself, which lists merge by which key, and for `explain`.
 * Differs from Kubernetes: no descriptions, enumerations or defaults, and `required` is what Go always writes.
 */
import { createHash } from 'node:crypto';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { KINDS, STRUCTS } from '../schema/field-table.ts';
import type { FieldDefinition, GoType, ScalarType } from '../schema/field-table.ts';
import { groupVersionText } from './api-catalog.ts';
import type { CatalogGroup, CatalogResource } from './api-catalog.ts';

/** The release whose behaviour the local API server follows. */
export const RELEASE = { major: '1', minor: '36', patch: '3' };

/** Title and version of the documents. */
const API_TITLE = { title: 'Kubernetes', version: `${RELEASE.major}.${RELEASE.minor}` };

/** A document as it is sent. */
export interface OpenApiDocument {
  /** `api/v1`, `apis/apps/v1`: its name in the index, and the end of its path. */
  readonly name: string;
  readonly text: string;
  /** Changes when the text does. */
  readonly hash: string;
}

const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];

const CUSTOM_PATCH_TYPES = PATCH_TYPES.filter((type) => !type.includes('strategic'));
const METADATA = 'meta.v1.ObjectMeta';

/** Makes all documents. */
export function openApiDocuments(catalog: readonly CatalogGroup[]): readonly OpenApiDocument[] {
  return catalog.map((group) => {
    const text = JSON.stringify(describe(group));
    const hash = createHash('sha256').update(text).digest('hex').toUpperCase();
    return { name: documentName(group), text, hash };
  });
}

/** GET /openapi/v3: where the documents are. */
export function openApiIndex(documents: readonly OpenApiDocument[]): JsonObject {
  return {
    paths: Object.fromEntries(
      documents.map(({ name, hash }) => [
        name,
        { serverRelativeURL: `/openapi/v3/${name}?hash=${hash}` },
      ]),
    ),
  };
}

/** The media type in which kubectl asks for GET /openapi/v2, and the one that it is answered with. */
export const OPENAPI_V2_PROTOBUF = {
  asked: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  answered: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
} as const;

/** An OpenAPI v2 document without paths, as JSON. */
export const OPENAPI_V2: JsonObject = { swagger: '2.0', info: API_TITLE, paths: {} };

/** The same in protobuf (openapiv2.Document of gnostic): all its bytes are text. */
export function openApiV2Protobuf(): string {
  const field = (number: number, text: string): string =>
    `${String.fromCharCode((number << 3) | 2, text.length)}${text}`;
  const { title, version } = API_TITLE;
  return `${field(1, '2.0')}${field(2, `${field(1, title)}${field(2, version)}`)}${field(8, '')}`;
}

/** `api/v1`, `apis/apps/v1`: how the document of a group and version is called. */
export function documentName(group: CatalogGroup): string {
  return `${group.group === '' ? 'api' : 'apis'}/${groupVersionText(group)}`;
}

function describe(group: CatalogGroup): JsonObject {
  const structs = [...(KINDS.get(groupVersionText(group))?.values() ?? [])];
  return {
    openapi: '3.0.0',
    info: API_TITLE,
    paths: Object.fromEntries(group.resources.flatMap((each) => pathsOf(group, each))),
    components: { schemas: { ...componentSchemas(structs), ...customSchemas(group) } },
  };
}

/** The schemas of custom kinds, with the metadata that all objects have. */
function customSchemas(group: CatalogGroup): JsonObject {
  const custom = group.resources.flatMap(({ kind, customSchema }) =>
    customSchema === undefined ? [] : [{ kind, customSchema }],
  );
  if (custom.length === 0) return {};
  const named = custom.map(({ kind, customSchema }) => {
    const { properties } = customSchema;
    const schema = {
      ...customSchema,
      properties: {
        ...(isJsonObject(properties) ? properties : {}),
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { allOf: [referenceTo(METADATA)] },
      },
      'x-kubernetes-group-version-kind': [{ group: group.group, version: group.version, kind }],
    };
    return [customName(group, kind), schema] as const;
  });
  return { ...componentSchemas([METADATA]), ...Object.fromEntries(named) };
}

/** `com.example.stable.v1.CronTab` of stable.example.com. */
function customName({ group, version }: CatalogGroup, kind: string): string {
  return [...group.split('.').toReversed(), version, kind].join('.');
}

function pathsOf(
  group: CatalogGroup,
  resource: CatalogResource,
): readonly (readonly [string, JsonObject])[] {
  const root = `/${documentName(group)}`;
  const own = `${resource.isNamespaced ? `${root}/namespaces/{namespace}` : root}/${resource.plural}`;
  const context = { group, resource };
  const paths: (readonly [string, JsonObject])[] = [[own, collectionPath(context)]];
  if (resource.verbs.includes('get')) paths.push([`${own}/{name}`, objectPath(context)]);
  if (resource.isNamespaced && resource.verbs.includes('list')) {
    paths.push([`${root}/${resource.plural}`, { get: operation(context, { action: 'list' }) }]);
  }
  return paths;
}

interface PathContext {
  readonly group: CatalogGroup;
  readonly resource: CatalogResource;
}

function collectionPath(context: PathContext): JsonObject {
  const { verbs } = context.resource;
  return {
    ...(verbs.includes('list') ? { get: operation(context, { action: 'list' }) } : {}),
    ...(verbs.includes('create')
      ? { post: operation(context, { action: 'post', bodyTypes: ['*/*'] }) }
      : {}),
  };
}

function objectPath(context: PathContext): JsonObject {
  const isCustom = context.resource.customSchema !== undefined;
  const bodyTypes = isCustom ? CUSTOM_PATCH_TYPES : PATCH_TYPES;
  return {
    get: operation(context, { action: 'get' }),
    put: operation(context, { action: 'put', bodyTypes: ['*/*'] }),
    patch: operation(context, { action: 'patch', bodyTypes }),
    delete: operation(context, { action: 'delete' }),
  };
}

function operation(
  { group, resource }: PathContext,
  { action, bodyTypes }: { readonly action: string; readonly bodyTypes?: readonly string[] },
): JsonObject {
  const { kind } = resource;
  const struct = KINDS.get(groupVersionText(group))?.get(kind);
  const custom = { $ref: `#/components/schemas/${customName(group, kind)}` };
  const reference = resource.customSchema === undefined ? undefined : custom;
  const known = struct === undefined ? reference : referenceTo(struct);
  const schema = known === undefined ? {} : { schema: known };
  return {
    ...(bodyTypes === undefined
      ? {}
      : {
          parameters: ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
            name,
            in: 'query',
            schema: { type: 'string', uniqueItems: true },
          })),
          requestBody: {
            content: Object.fromEntries(bodyTypes.map((type) => [type, schema])),
            required: true,
          },
        }),
    responses: { '200': { description: 'OK', content: { 'application/json': schema } } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group: group.group, version: group.version, kind },
  };
}

const APIMACHINERY = 'io.k8s.apimachinery.pkg';

/** Scalars with a schema of their own, by name. */
const NAMED_SCALARS: Readonly<Partial<Record<ScalarType, { name: string; schema: JsonObject }>>> = {
  time: {
    name: `${APIMACHINERY}.apis.meta.v1.Time`,
    schema: { type: 'string', format: 'date-time' },
  },
  microTime: {
    name: `${APIMACHINERY}.apis.meta.v1.MicroTime`,
    schema: { type: 'string', format: 'date-time' },
  },
  quantity: {
    name: `${APIMACHINERY}.api.resource.Quantity`,
    schema: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  },
  intOrString: {
    name: `${APIMACHINERY}.util.intstr.IntOrString`,
    schema: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  },
  raw: { name: `${APIMACHINERY}.runtime.RawExtension`, schema: { type: 'object' } },
};

const PLAIN_SCALARS: Readonly<Partial<Record<ScalarType, JsonObject>>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  float64: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

/** `#/components/schemas/io.k8s.api.core.v1.Pod` of `core.v1.Pod`. */
function referenceTo(struct: string): JsonObject {
  return { $ref: `#/components/schemas/${componentName(struct)}` };
}

/** The schemas of structs and of all that they refer to, by component name. */
function componentSchemas(structs: readonly string[]): JsonObject {
  const schemas = new Map<string, JsonObject>();
  const visitType = (type: GoType): void => {
    if (type.kind === 'struct') visit(type.struct);
    else if (type.kind === 'pointer') visitType(type.to);
    else if (type.kind === 'list' || type.kind === 'map') visitType(type.of);
    else {
      const named = NAMED_SCALARS[type.scalar];
      if (named !== undefined) schemas.set(named.name, named.schema);
    }
  };
  const visit = (struct: string): void => {
    const name = componentName(struct);
    if (schemas.has(name)) return;
    schemas.set(name, structSchema(struct));
    for (const field of STRUCTS.get(struct)?.values() ?? []) visitType(field.type);
  };
  for (const struct of structs) visit(struct);
  return Object.fromEntries(schemas);
}

function componentName(struct: string): string {
  return struct.startsWith('meta.') ? `${APIMACHINERY}.apis.${struct}` : `io.k8s.api.${struct}`;
}

function structSchema(struct: string): JsonObject {
  const fields = [...(STRUCTS.get(struct)?.values() ?? [])];
  const required = fields.filter(({ omission }) => omission === 'always').map(({ name }) => name);
  const kinds = kindsOf(struct);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)])),
    ...(required.length === 0 ? {} : { required }),
    ...(kinds.length === 0 ? {} : { 'x-kubernetes-group-version-kind': kinds }),
  };
}

function kindsOf(struct: string): readonly JsonObject[] {
  return [...KINDS].flatMap(([apiVersion, kinds]) =>
    [...kinds]
      .filter(([, name]) => name === struct)
      .map(([kind]) => {
        const [left = '', right] = apiVersion.split('/');
        return right === undefined
          ? { group: '', version: left, kind }
          : { group: left, version: right, kind };
      }),
  );
}

function fieldSchema({ type, patchStrategies, patchMergeKey }: FieldDefinition): JsonObject {
  return {
    ...typeSchema(type),
    ...(patchStrategies.length === 0
      ? {}
      : { 'x-kubernetes-patch-strategy': patchStrategies.join(',') }),
    ...(patchMergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': patchMergeKey }),
  };
}

function typeSchema(type: GoType): JsonObject {
  switch (type.kind) {
    case 'pointer':
      return typeSchema(type.to);
    case 'struct':
      return { allOf: [referenceTo(type.struct)] };
    case 'list':
      return { type: 'array', items: typeSchema(type.of) };
    case 'map':
      return { type: 'object', additionalProperties: typeSchema(type.of) };
    case 'scalar': {
      const named = NAMED_SCALARS[type.scalar];
      return named === undefined
        ? (PLAIN_SCALARS[type.scalar] ?? {})
        : { allOf: [{ $ref: `#/components/schemas/${named.name}` }] };
    }
  }
}
