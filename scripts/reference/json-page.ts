/**
 * docs/reference/json.md: the JSON documents of the command line, from the types that it prints them with.
 *
 * A document is an object literal of src/cli with a `kind` that begins with a capital, as some command names it. Types of
 * ours that it leads to are printed after all documents, once: the schemas of openapi.json, as TypeScript writes them.
 */
import path from 'node:path';
import ts from 'typescript';
import { repositoryRoot } from '../lib/run-tool.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { fence, page, wrapped } from './markdown.ts';
import { nameOfReference, TypeSchemas, type Schema } from './type-schemas.ts';

const OTHERS = ['CommandError', 'StartReport', 'ReleaseReport'];
/** Documents whose kind is given from elsewhere: the files that make them. */
const MADE_IN: Readonly<Record<string, string>> = {
  ClusterChange: 'cluster/change/changes.ts',
  ClusterReset: 'cluster/change/changes.ts',
  Explanation: 'why/why-command.ts',
  FleetMirror: 'fleet/fleet-commands.ts',
  FleetMirrorChange: 'fleet/fleet-commands.ts',
};
/** Longer ones are whole files. */
const LITERAL_CHARACTERS_MAX = 60;
const CONFIG = path.join(repositoryRoot, 'src/cli/tsconfig.json');
/** No document has a type of theirs, and their declarations are most of what would be read. */
const NOT_READ = /^(@kubernetes|@aws-sdk|@smithy|@types)\/|^node:|^@rollcall\/local-/;

/** Text of the page. Throws where a command names a document that no type is found of. */
export function renderJsonPage(documents: Documents): string {
  const kinds = [
    ...new Set([...COMMANDS.flatMap(({ documents: named = [] }) => named), ...OTHERS]),
  ];
  const schemas = new TypeSchemas(documents.checker, new Set());
  const shown = kinds.toSorted().map((kind) => {
    const fields = documents.fieldsOf(kind).flat();
    const each = [...new Map(fields.map((field) => [field.name, field])).values()];
    return [`## ${kind}`, fence('ts', fieldLines(schemas.ofFields(each)))];
  });
  const types = Object.entries(schemas.named);
  return page('JSON documents', [
    wrapped(
      'With `--json` stdout holds exactly one document, also for a failure (`CommandError`, with its `exitCode`). Each begins with `apiVersion: rollcall.dev/v1alpha1` and its `kind`. `StartReport` and `ReleaseReport` are those of `npm start`. Times end in `AtMs` and are milliseconds since 1970.',
    ),
    ...shown.flat(),
    '## Types',
    ...types.flatMap(([name, schema]) => [`### \`${name}\``, fence('ts', bodyOf(schema))]),
  ]);
}

function bodyOf(schema: Schema): readonly string[] {
  if (schema.properties !== undefined) return fieldLines(schema);
  const texts = schema.enum?.map((text) => JSON.stringify(text));
  const members = texts ?? (schema.anyOf ?? [schema]).map(textOf);
  return members.map((member) => `| ${member}`).toSorted();
}

function fieldLines({ properties = {}, required = [] }: Schema): readonly string[] {
  return Object.entries(properties).flatMap(([name, schema]) => [
    ...(schema.description === undefined ? [] : [`/** ${schema.description} */`]),
    `${name}${required.includes(name) ? '' : '?'}: ${textOf(schema)};`,
  ]);
}

function literalOf(value: unknown): string {
  const text = JSON.stringify(value);
  return typeof value === 'string' && text.length > LITERAL_CHARACTERS_MAX ? 'string' : text;
}

function textOf(schema: Schema): string {
  const { $ref, anyOf, enum: texts, type, items, properties, additionalProperties } = schema;
  if ($ref !== undefined) return nameOfReference($ref);
  if ('const' in schema) return literalOf(schema.const);
  if (texts !== undefined) return [...new Set(texts.map(literalOf))].join(' | ');
  if (anyOf !== undefined) return anyOf.map(textOf).toSorted().join(' | ');
  if (items !== undefined) {
    const text = textOf(items);
    return text.includes(' ') ? `(${text})[]` : `${text}[]`;
  }
  if (additionalProperties !== undefined) return `Record<string, ${textOf(additionalProperties)}>`;
  if (Object.keys(properties ?? {}).length === 0)
    return type === 'object' ? 'Json' : (type ?? 'Json');
  const fields = fieldLines(schema).filter((line) => !line.startsWith('/**'));
  return `{ ${fields.join(' ').replace(/;$/, '')} }`;
}

/** Reads documents. */
export class Documents {
  readonly #checker: ts.TypeChecker;
  readonly #byKind = new Map<string, ts.Type[]>();

  constructor() {
    const read = ts.readConfigFile(CONFIG, (file) => ts.sys.readFile(file)) as { config: unknown };
    const parsed = ts.parseJsonConfigFileContent(read.config, ts.sys, path.dirname(CONFIG));
    const { fileNames: rootNames } = parsed;
    const options = { ...parsed.options, types: [] };
    const host = ts.createCompilerHost(options);
    host.resolveModuleNameLiterals = (literals, file) =>
      literals.map(({ text }) =>
        NOT_READ.test(text)
          ? { resolvedModule: undefined }
          : ts.resolveModuleName(text, file, options, host),
      );
    const program = ts.createProgram({ rootNames, options, host });
    this.#checker = program.getTypeChecker();
    for (const file of program.getSourceFiles()) {
      if (file.fileName.includes('/src/cli/')) this.#read(file);
    }
  }

  get checker(): ts.TypeChecker {
    return this.#checker;
  }

  /** Its fields but `apiVersion`, `kind` and `exitCode`, one list for each place that makes it. */
  fieldsOf(kind: string): readonly (readonly ts.Symbol[])[] {
    const found = this.#byKind.get(MADE_IN[kind] ?? kind);
    if (found === undefined) throw new Error(`src/cli makes no document ${kind}`);
    const heads = ['kind', 'apiVersion', 'exitCode'];
    return found.map((type) =>
      type
        .getProperties()
        .filter(
          (field) =>
            !heads.includes(field.name) &&
            this.#checker.getTypeOfSymbol(field).getCallSignatures().length === 0,
        ),
    );
  }

  /** Throws where a document spreads a record without named fields: the page could not describe them. */
  #requireKnownSpreads(kind: string, object: ts.Node): void {
    if (!ts.isObjectLiteralExpression(object)) return;
    for (const property of object.properties.filter(ts.isSpreadAssignment)) {
      const type = this.#checker.getTypeAtLocation(property.expression);
      if (type.getStringIndexType() === undefined) continue;
      throw new Error(`${kind} spreads ${property.expression.getText()}, which is of any fields`);
    }
  }

  #read(node: ts.Node): void {
    if (
      ts.isPropertyAssignment(node) &&
      node.name.getText() === 'kind' &&
      ts.isStringLiteral(node.initializer)
    ) {
      let object: ts.Node = node.parent;
      while (ts.isSpreadAssignment(object.parent)) object = object.parent.parent;
      const kind = node.initializer.text;
      this.#requireKnownSpreads(kind, object);
      this.#byKind.set(kind, [
        ...(this.#byKind.get(kind) ?? []),
        this.#checker.getTypeAtLocation(object),
      ]);
    }
    if (ts.isPropertyAssignment(node) && node.name.getText() === 'document') {
      const file = node.getSourceFile().fileName.split('/src/cli/')[1] ?? '';
      const { initializer } = node;
      const isOpen = !/kind: '/.test(initializer.getText());
      if (
        ts.isObjectLiteralExpression(initializer) &&
        isOpen &&
        Object.values(MADE_IN).includes(file)
      ) {
        this.#byKind.set(file, [this.#checker.getTypeAtLocation(initializer)]);
      }
    }
    ts.forEachChild(node, (child) => {
      this.#read(child);
    });
  }
}
