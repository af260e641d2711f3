/** JSON schemas of the types that documents are made with, each type of ours once, under its name. */
import ts from 'typescript';

/** A JSON schema, as far as the types of documents need one; others of OpenAPI are objects. */
export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
}

const REFERENCE = '#/components/schemas/';

/** Where a schema of that name is. */
export function referenceTo(name: string): Schema {
  return { $ref: `${REFERENCE}${name}` };
}

export function nameOfReference(reference: string): string {
  return reference.slice(REFERENCE.length);
}

/** Makes schemas, and keeps those of the types that it met. `taken`: names that are no type's. */
export class TypeSchemas {
  readonly #checker: ts.TypeChecker;
  readonly #taken: ReadonlySet<string>;
  readonly #named = new Map<string, Schema>();

  constructor(checker: ts.TypeChecker, taken: ReadonlySet<string>) {
    this.#checker = checker;
    this.#taken = taken;
  }

  /** Types that were met, by name. */
  get named(): Readonly<Record<string, Schema>> {
    return Object.fromEntries([...this.#named].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Of an object with these fields, and others that a later release may add. */
  ofFields(fields: readonly ts.Symbol[], first: Readonly<Record<string, Schema>> = {}): Schema {
    const data = fields.filter(
      (field) => this.#checker.getTypeOfSymbol(field).getCallSignatures().length === 0,
    );
    const properties = {
      ...first,
      ...Object.fromEntries(data.map((field) => [field.name, this.#ofField(field)])),
    };
    const optional = new Set(
      data.filter((field) => this.#mayBeAbsent(field)).map(({ name }) => name),
    );
    const required = Object.keys(properties).filter((name) => !optional.has(name));
    return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
  }

  /** JSON leaves a field out whose value is undefined. */
  #mayBeAbsent(field: ts.Symbol): boolean {
    const type = this.#checker.getTypeOfSymbol(field);
    const members = type.isUnion() ? type.types : [type];
    return (
      (field.flags & ts.SymbolFlags.Optional) !== 0 ||
      members.some(({ flags }) => (flags & ts.TypeFlags.Undefined) !== 0)
    );
  }

  #ofField(field: ts.Symbol): Schema {
    const about = ts
      .displayPartsToString(field.getDocumentationComment(this.#checker))
      .replaceAll(/\s*\((?:core|app|adapters)\/[^)]*\)/g, '')
      .replaceAll(/\s+/g, ' ');
    const schema = this.#of(this.#checker.getTypeOfSymbol(field));
    return about === '' ? schema : { description: about, ...schema };
  }

  #of(given: ts.Type): Schema {
    // `unknown` without null is an object to the compiler.
    if ((given.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0) return {};
    const type = isNullable(given) ? given : this.#checker.getNonNullableType(given);
    if (isJson(type) || (type.isUnion() && type.types.some(isJson))) return {};
    const simple = simpleSchema(type);
    if (simple !== undefined) return simple;
    const name = this.#isList(type) ? undefined : nameOf(type);
    if (name === undefined) return this.#inline(type);
    const key = this.#taken.has(name) ? `${name}Fields` : name;
    if (!this.#named.has(key)) {
      // First, as a type may lead to itself.
      this.#named.set(key, {});
      this.#named.set(key, this.#inline(type));
    }
    return referenceTo(key);
  }

  #isList(type: ts.Type): boolean {
    return this.#checker.isArrayType(type) || this.#checker.isTupleType(type);
  }

  #inline(type: ts.Type): Schema {
    if (type.isUnion()) return this.#ofUnion(type.types);
    if (this.#isList(type)) {
      const elements = this.#checker.getTypeArguments(type as ts.TypeReference);
      const kinds = elements.map((element) => this.#of(element));
      return { type: 'array', ...(kinds.length === 0 ? {} : { items: anyOf(kinds) }) };
    }
    const values = type.getStringIndexType();
    if (values !== undefined) {
      return { type: 'object', additionalProperties: this.#of(values) };
    }
    return this.ofFields(type.getProperties());
  }

  #ofUnion(types: readonly ts.Type[]): Schema {
    const members = types.filter(({ flags }) => (flags & ts.TypeFlags.Undefined) === 0);
    const texts = members.flatMap((each) => (each.isStringLiteral() ? [each.value] : []));
    const others = members.filter((each) => !each.isStringLiteral());
    const choice = texts.length === 0 ? [] : [{ type: 'string', enum: texts.toSorted() }];
    return anyOf([...choice, ...others.map((each) => this.#of(each))]);
  }
}

function anyOf(schemas: readonly Schema[]): Schema {
  const different = new Map(schemas.map((each) => [JSON.stringify(each), each] as const));
  const [first = {}, ...others] = different.values();
  return others.length === 0 ? first : { anyOf: [first, ...others] };
}

function isNullable(type: ts.Type): boolean {
  return type.isUnion() && type.types.some(({ flags }) => (flags & ts.TypeFlags.Null) !== 0);
}

/** Of what has no parts; a text or number with a brand is one. */
function simpleSchema(type: ts.Type): Schema | undefined {
  const { flags } = type;
  if ((flags & ts.TypeFlags.Null) !== 0) return { type: 'null' };
  if ((flags & ts.TypeFlags.NonPrimitive) !== 0) return {};
  if ((flags & ts.TypeFlags.BooleanLike) !== 0) return { type: 'boolean' };
  if (type.isStringLiteral() || type.isNumberLiteral()) return { const: type.value };
  if ((flags & ts.TypeFlags.StringLike) !== 0) return { type: 'string' };
  if ((flags & ts.TypeFlags.NumberLike) !== 0) return { type: 'number' };
  if (!type.isIntersection()) return undefined;
  const base = type.types.find((each) => (each.flags & ts.TypeFlags.Object) === 0);
  return base === undefined ? undefined : simpleSchema(base);
}

/** True of any JSON value. */
function isJson(type: ts.Type): boolean {
  return /^Json/.test((type.aliasSymbol ?? type.getSymbol())?.name ?? '');
}

/** The name of a type of ours with fields or members; undefined where it has none, or is a text. */
function nameOf(type: ts.Type): string | undefined {
  const symbol = type.aliasSymbol ?? type.getSymbol();
  const [declaration] = symbol?.declarations ?? [];
  if (symbol === undefined || declaration === undefined) return undefined;
  const file = declaration.getSourceFile().fileName;
  const isOurs = file.includes('/src/') && !file.includes('/node_modules/');
  const isNamed = ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration);
  const isWhole = type.aliasTypeArguments === undefined;
  return isOurs && isNamed && isWhole ? symbol.name : undefined;
}
