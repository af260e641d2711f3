/**
 * docs/reference/json.md: the JSON documents of the command line, from the types that it prints them with.
 *
 * A document is an object literal of src/cli with a `kind` that begins with a capital, as some command names it. Types of
 * ours that it leads to are printed after it, once, with their doc comments.
 */
import path from 'node:path';
import ts from 'typescript';
import { repositoryRoot } from '../lib/run-tool.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { fence, page, wrapped } from './markdown.ts';

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

/** Text of the page. Throws where a command names a document that no type is found of. */
export function renderJsonPage(documents: Documents): string {
  const kinds = [
    ...new Set([...COMMANDS.flatMap(({ documents: named = [] }) => named), ...OTHERS]),
  ];
  return page('JSON documents', [
    wrapped(
      'With `--json` stdout holds exactly one document, also for a failure (`CommandError`, with its `exitCode`). Each begins with `apiVersion: rollcall.dev/v1alpha1` and its `kind`. `StartReport` and `ReleaseReport` are those of `npm start`. Times end in `AtMs` and are milliseconds since 1970.',
    ),
    ...kinds.toSorted().flatMap((kind) => [`## ${kind}`, fence('ts', documents.linesOf(kind))]),
    '## Types',
    ...documents.types().flatMap(([name, lines]) => [`### \`${name}\``, fence('ts', lines)]),
  ]);
}

/** Reads documents, and notes the types that they lead to. */
export class Documents {
  readonly #checker: ts.TypeChecker;
  readonly #byKind = new Map<string, ts.Type[]>();
  readonly #wanted = new Map<string, ts.Type>();

  constructor() {
    const read = ts.readConfigFile(CONFIG, (file) => ts.sys.readFile(file)) as { config: unknown };
    const parsed = ts.parseJsonConfigFileContent(read.config, ts.sys, path.dirname(CONFIG));
    const program = ts.createProgram({ rootNames: parsed.fileNames, options: parsed.options });
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

  linesOf(kind: string): readonly string[] {
    const fields = this.fieldsOf(kind).flat();
    return [
      ...new Map(fields.map((field) => [field.name, this.#fieldLines(field)])).values(),
    ].flat();
  }

  /** Types that were met, and those that they lead to. */
  types(): readonly (readonly [string, readonly string[]])[] {
    const done = new Map<string, readonly string[]>();
    for (;;) {
      const next = [...this.#wanted].find(([name]) => !done.has(name));
      if (next === undefined) break;
      const [name, type] = next;
      done.set(name, this.#bodyOf(type));
    }
    return [...done].toSorted(([a], [b]) => (a < b ? -1 : 1));
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

  #bodyOf(type: ts.Type): readonly string[] {
    if (type.isUnion())
      return type.types
        .map((member) => `| ${shortText(member) ?? this.#inlineText(member)}`)
        .toSorted();
    return type.getProperties().flatMap((field) => this.#fieldLines(field));
  }

  #fieldLines(field: ts.Symbol): readonly string[] {
    const about = ts
      .displayPartsToString(field.getDocumentationComment(this.#checker))
      .replaceAll(/\s+/g, ' ');
    const isOptional = (field.flags & ts.SymbolFlags.Optional) !== 0;
    const text = this.#textOf(this.#checker.getTypeOfSymbol(field));
    const comment = about.replaceAll(/\s*\((?:core|app|adapters)\/[^)]*\)/g, '');
    return [
      ...(comment === '' ? [] : [`/** ${comment} */`]),
      `${field.name}${isOptional ? '?' : ''}: ${text};`,
    ];
  }

  #textOf(type: ts.Type): string {
    const bare = this.#checker.getNonNullableType(type);
    const short = shortText(type) ?? shortText(bare);
    if (short !== undefined) return short;
    const isList = this.#checker.isArrayType(bare) || this.#checker.isTupleType(bare);
    const name = isList ? undefined : nameOf(bare);
    if (name === undefined) return this.#inlineText(bare);
    this.#wanted.set(name, bare);
    return name;
  }

  #inlineText(type: ts.Type): string {
    if (type.isUnion()) return this.#unionText(type);
    if (this.#checker.isArrayType(type)) {
      const [element] = this.#checker.getTypeArguments(type as ts.TypeReference);
      const text = element === undefined ? 'unknown' : this.#textOf(element);
      return text.includes(' ') ? `(${text})[]` : `${text}[]`;
    }
    if (this.#checker.isTupleType(type)) {
      const members = this.#checker.getTypeArguments(type as ts.TypeReference);
      return `[${members.map((member) => this.#textOf(member)).join(', ')}]`;
    }
    const fields = isRecord(type) ? [] : type.getProperties();
    if (fields.length === 0) {
      const whole = ts.TypeFormatFlags.NoTruncation;
      return this.#checker.typeToString(type, undefined, whole).replaceAll('readonly ', '');
    }
    const texts = fields.map((field) => this.#fieldLines(field).at(-1)?.replace(/;$/, '') ?? '');
    return `{ ${texts.join('; ')} }`;
  }

  #unionText({ types }: ts.UnionType): string {
    const texts = types.map((each) => this.#textOf(each));
    const isBoolean = texts.includes('true') && texts.includes('false');
    return [
      ...new Set(
        texts.map((text) => (isBoolean && /^(?:true|false)$/.test(text) ? 'boolean' : text)),
      ),
    ]
      .toSorted()
      .join(' | ');
  }
}

/** Of what has no fields of its own: any JSON value, and texts, also those with a brand. */
function shortText(type: ts.Type): string | undefined {
  if (isJson(type) || (type.isUnion() && type.types.some(isJson))) return 'Json';
  const isText = (type.flags & ts.TypeFlags.StringLike) !== 0;
  const isLiteral = type.isStringLiteral() && type.value.length < LITERAL_CHARACTERS_MAX;
  return (isText && !isLiteral) || type.isIntersection() ? 'string' : undefined;
}

/** True of any JSON value. */
export function isJson(type: ts.Type): boolean {
  return /^Json/.test((type.aliasSymbol ?? type.getSymbol())?.name ?? '');
}

/** True of what is no object, or one with any names. */
function isRecord(type: ts.Type): boolean {
  return (type.flags & ts.TypeFlags.Object) === 0 || type.getStringIndexType() !== undefined;
}

/** The name of a type of ours with fields or members; undefined where it has none, or is a text. */
export function nameOf(type: ts.Type): string | undefined {
  const symbol = type.aliasSymbol ?? type.getSymbol();
  const [declaration] = symbol?.declarations ?? [];
  if (symbol === undefined || declaration === undefined) return undefined;
  const file = declaration.getSourceFile().fileName;
  const isOurs = file.includes('/src/') && !file.includes('/node_modules/');
  const isNamed = ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration);
  const isWhole = type.aliasTypeArguments === undefined;
  return isOurs && isNamed && isWhole ? symbol.name : undefined;
}
