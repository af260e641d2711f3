/**
 * OpenAPI v3 schemas of the structs of the table, for `kubectl explain` and for kubectl's patches.
 *
 * Differs from Kubernetes: no descriptions, enumerations or defaults, and `required` is what Go always writes.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { KINDS, STRUCTS } from '../schema/field-table.ts';
import type { FieldDefinition, GoType, ScalarType } from '../schema/field-table.ts';

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
export function referenceTo(struct: string): JsonObject {
  return { $ref: `#/components/schemas/${componentName(struct)}` };
}

/** The schemas of structs and of all that they refer to, by component name. */
export function componentSchemas(structs: readonly string[]): JsonObject {
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
