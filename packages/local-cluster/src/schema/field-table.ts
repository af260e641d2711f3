/**
 * The generated table of Go types (types.json) as definitions: what each field of each struct is.
 *
 * The table is one text per field, in the notation of test/conformance/control-plane/go/schema/main.go. It is generated,
 * so a text that cannot be read is a bug and throws. Parsed once per process; nothing here knows how to decode.
 */
import types from './types.json' with { type: 'json' };

/** Types that hold no other. `raw` is any JSON, kept as it is. */
export type ScalarType =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'float64'
  | 'bytes'
  | 'time'
  | 'microTime'
  | 'quantity'
  | 'intOrString'
  | 'raw';

/** A Go type. */
export type GoType =
  | { readonly kind: 'scalar'; readonly scalar: ScalarType }
  | { readonly kind: 'struct'; readonly struct: string }
  | { readonly kind: 'pointer'; readonly to: GoType }
  | { readonly kind: 'list'; readonly of: GoType }
  | { readonly kind: 'map'; readonly of: GoType };

/** A field of a struct. */
export interface FieldDefinition {
  readonly name: string;
  readonly type: GoType;
  /** `always`: written whatever it holds; `empty`: Go's omitempty; `zero`: omitempty and omitzero. */
  readonly omission: 'always' | 'empty' | 'zero';
  readonly patchStrategies: readonly ('merge' | 'replace' | 'retainKeys')[];
  readonly patchMergeKey?: string;
}

const SCALARS: ReadonlySet<string> = new Set<ScalarType>([
  'string',
  'bool',
  'int32',
  'int64',
  'float64',
  'bytes',
  'time',
  'microTime',
  'quantity',
  'intOrString',
  'raw',
]);

const structTexts: Readonly<Record<string, Readonly<Record<string, string>>>> = types.structs;
const kindTexts: Readonly<Record<string, Readonly<Record<string, string>>>> = types.kinds;

/** Structs by name (`core.v1.Pod`), each with its fields by JSON name. */
export const STRUCTS: ReadonlyMap<string, ReadonlyMap<string, FieldDefinition>> = new Map(
  Object.entries(structTexts).map(([struct, fields]) => [
    struct,
    new Map(Object.entries(fields).map(([name, text]) => [name, parseField(name, text)])),
  ]),
);

/** Names of structs by kind, under each apiVersion (`apps/v1`). */
export const KINDS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  Object.entries(kindTexts).map(([apiVersion, kinds]) => [
    apiVersion,
    new Map(Object.entries(kinds)),
  ]),
);

function parseField(name: string, text: string): FieldDefinition {
  const [typeText = '', ...words] = text.split(' ');
  const omission = words.find((word) => word === 'always' || word === 'zero') ?? 'empty';
  const strategies = words.filter((word) => word !== omission).map((word) => word.split('='));
  const patchMergeKey = strategies.find(([, key]) => key !== undefined)?.[1];
  return {
    name,
    type: parseType(typeText),
    omission,
    patchStrategies: strategies.map(([strategy = '']) => parseStrategy(strategy)),
    ...(patchMergeKey === undefined ? {} : { patchMergeKey }),
  };
}

function parseStrategy(text: string): FieldDefinition['patchStrategies'][number] {
  if (text === 'merge' || text === 'replace' || text === 'retainKeys') return text;
  throw new Error(`types.json: unknown word ${text}`);
}

function parseType(text: string): GoType {
  if (text.startsWith('*')) return { kind: 'pointer', to: parseType(text.slice(1)) };
  if (text.startsWith('map[]')) return { kind: 'map', of: parseType(text.slice(5)) };
  if (text.startsWith('[]')) return { kind: 'list', of: parseType(text.slice(2)) };
  if (text in structTexts) return { kind: 'struct', struct: text };
  if (isScalarType(text)) return { kind: 'scalar', scalar: text };
  throw new Error(`types.json: unknown type ${text}`);
}

function isScalarType(text: string): text is ScalarType {
  return SCALARS.has(text);
}
