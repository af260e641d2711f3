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
const CONFIG = path.join(repositoryRoot, 'src/cli/tsconfig.json');

/** Text of the page. Throws where a command names a document that no type is found of. */
export function renderJsonPage(): string {
  const documents = new Documents();
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
class Documents {
  readonly #checker: ts.TypeChecker;
  readonly #byKind = new Map<string, ts.Type[]>();
  readonly #wanted = new Map<string, ts.Type>();

  constructor() {
    const { config } = ts.readConfigFile(CONFIG, (file) => ts.sys.readFile(file));
    const parsed = ts.parseJsonConfigFileContent(config, ts.sys, path.dirname(CONFIG));
    const program = ts.createProgram({ rootNames: parsed.fileNames, options: parsed.options });
    this.#checker = program.getTypeChecker();
    for (const file of program.getSourceFiles()) {
      if (file.fileName.includes('/src/cli/')) this.#read(file);
    }
  }

  linesOf(kind: string): readonly string[] {
    const found = this.#byKind.get(MADE_IN[kind] ?? kind);
    if (found === undefined) throw new Error(`src/cli makes no document ${kind}`);
    const fields = new Map<string, readonly string[]>();
    for (const field of found.flatMap((type) => type.getProperties())) {
      const isHead =
        field.name === 'kind' || field.name === 'apiVersion' || field.name === 'exitCode';
      if (!isHead) fields.set(field.name, this.#fieldLines(field, ''));
    }
    return [...fields.values()].flat();
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
      return type.types.map((member) => `| ${this.#textOf(member, { isInline: true })}`).toSorted();
    return type.getProperties().flatMap((field) => this.#fieldLines(field, ''));
  }

  #fieldLines(field: ts.Symbol, indent: string): readonly string[] {
    const about = ts
      .displayPartsToString(field.getDocumentationComment(this.#checker))
      .replaceAll(/\s+/g, ' ');
    const isOptional = (field.flags & ts.SymbolFlags.Optional) !== 0;
    const text = this.#textOf(this.#checker.getTypeOfSymbol(field), {});
    const comment = about.replaceAll(/\s*\((?:core|app|adapters)\/[^)]*\)/g, '');
    return [
      ...(comment === '' ? [] : [`${indent}/** ${comment} */`]),
      `${indent}${field.name}${isOptional ? '?' : ''}: ${text};`,
    ];
  }

  #textOf(type: ts.Type, { isInline = false }: { readonly isInline?: boolean }): string {
    const bare = this.#checker.getNonNullableType(type);
    const isText = (bare.flags & ts.TypeFlags.StringLike) !== 0;
    if (isText && !(bare.isStringLiteral() && bare.value.length < 60)) return 'string';
    if (bare.isIntersection()) return 'string';
    if (/^Json/.test((type.aliasSymbol ?? bare.aliasSymbol ?? bare.getSymbol())?.name ?? ''))
      return 'Json';
    const name = nameOf(bare);
    if (!isInline && name !== undefined) {
      this.#wanted.set(name, bare);
      return name;
    }
    if (bare.isUnion()) return isJson(bare) ? 'Json' : this.#unionText(bare);
    if (this.#checker.isArrayType(bare)) {
      const [element] = this.#checker.getTypeArguments(bare as ts.TypeReference);
      const text = element === undefined ? 'unknown' : this.#textOf(element, {});
      return /[ |]/.test(text) ? `(${text})[]` : `${text}[]`;
    }
    const fields = bare.getProperties();
    const isObject = (bare.flags & ts.TypeFlags.Object) !== 0;
    if (!isObject || fields.length === 0 || bare.getStringIndexType() !== undefined) {
      return this.#checker
        .typeToString(bare, undefined, ts.TypeFormatFlags.NoTruncation)
        .replaceAll('readonly ', '');
    }
    return `{ ${fields.map((field) => this.#fieldLines(field, '').at(-1)?.replace(/;$/, '') ?? '').join('; ')} }`;
  }

  #unionText({ types }: ts.UnionType): string {
    const texts = types.map((each) => this.#textOf(each, {}));
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

/** True of the union that stands for any JSON value, whose alias is lost beside `undefined`. */
function isJson({ types }: ts.UnionType): boolean {
  return types.some((each) => /^Json/.test((each.aliasSymbol ?? each.getSymbol())?.name ?? ''));
}

/** The name of a type of ours with fields or members; undefined where it has none, or is a text. */
function nameOf(type: ts.Type): string | undefined {
  const symbol = type.aliasSymbol ?? type.getSymbol();
  const [declaration] = symbol?.declarations ?? [];
  if (symbol === undefined || declaration === undefined || symbol.name.startsWith('__'))
    return undefined;
  if (
    !declaration.getSourceFile().fileName.includes('/src/') ||
    /node_modules/.test(declaration.getSourceFile().fileName)
  )
    return undefined;
  if (!ts.isInterfaceDeclaration(declaration) && !ts.isTypeAliasDeclaration(declaration))
    return undefined;
  if (type.aliasTypeArguments !== undefined) return undefined;
  return symbol.name;
}
