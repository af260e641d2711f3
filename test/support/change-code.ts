/**
 * Changes a piece of code that is named, not quoted by its lines: the declaration it stands in, and its tokens.
 *
 * White space, comments, quotes and trailing commas count for nothing, and nothing outside the declaration does: what
 * is formatted, moved in its file or edited beside it stays found.
 */
import ts from 'typescript';

/** Offsets in a text. */
interface Range {
  readonly from: number;
  readonly to: number;
}

interface Token extends Range {
  readonly text: string;
}

/** Where a declaration stands: all of it, and its value if it has one. */
interface Declaration extends Range {
  readonly value: Range | undefined;
}

const CLOSING = new Set([')', ']', '}']);

/** After these a slash divides; after anything else it begins a regular expression. */
const ENDS_A_VALUE = new Set([
  ts.SyntaxKind.Identifier,
  ts.SyntaxKind.PrivateIdentifier,
  ts.SyntaxKind.NumericLiteral,
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
  ts.SyntaxKind.TemplateTail,
  ts.SyntaxKind.RegularExpressionLiteral,
  ts.SyntaxKind.CloseParenToken,
  ts.SyntaxKind.CloseBracketToken,
  ts.SyntaxKind.CloseBraceToken,
  ts.SyntaxKind.ThisKeyword,
]);

/** The kinds of tokens that a scanner cannot tell by itself: what a slash is, and where a template goes on. */
class Retold {
  readonly #scanner: ts.Scanner;
  /** Depths of braces at which a template goes on. */
  readonly #templates: number[] = [];
  #depth = 0;
  #last: ts.SyntaxKind | undefined;

  constructor(scanner: ts.Scanner) {
    this.#scanner = scanner;
  }

  next(): ts.SyntaxKind {
    this.#last = this.#retell(this.#scanner.scan());
    return this.#last;
  }

  #retell(kind: ts.SyntaxKind): ts.SyntaxKind {
    switch (kind) {
      case ts.SyntaxKind.SlashToken:
      case ts.SyntaxKind.SlashEqualsToken: {
        const isDivision = this.#last !== undefined && ENDS_A_VALUE.has(this.#last);
        return isDivision ? kind : this.#scanner.reScanSlashToken();
      }
      case ts.SyntaxKind.TemplateHead:
        this.#templates.push(this.#depth);
        return kind;
      case ts.SyntaxKind.OpenBraceToken:
        this.#depth += 1;
        return kind;
      case ts.SyntaxKind.CloseBraceToken:
        return this.#closed(kind);
      default:
        return kind;
    }
  }

  #closed(kind: ts.SyntaxKind): ts.SyntaxKind {
    if (this.#templates.at(-1) !== this.#depth) {
      this.#depth -= 1;
      return kind;
    }
    const rest = this.#scanner.reScanTemplateToken(false);
    if (rest === ts.SyntaxKind.TemplateTail) this.#templates.pop();
    return rest;
  }
}

/** The tokens of a text, without the commas before a closing bracket. */
function tokensOf(text: string): readonly Token[] {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, true, ts.LanguageVariant.Standard, text);
  const retold = new Retold(scanner);
  const tokens: Token[] = [];
  for (let kind = retold.next(); kind !== ts.SyntaxKind.EndOfFileToken; kind = retold.next()) {
    const isString = kind === ts.SyntaxKind.StringLiteral;
    const written = isString ? JSON.stringify(scanner.getTokenValue()) : scanner.getTokenText();
    if (CLOSING.has(written) && tokens.length > 1 && tokens.at(-1)?.text === ',') tokens.pop();
    tokens.push({ text: written, from: scanner.getTokenStart(), to: scanner.getTokenEnd() });
  }
  return tokens;
}

/** Where the tokens of `code` follow each other in `source`; what stands in a text is looked for as text. */
function findCode(source: string, code: string): readonly Range[] {
  const found = findTokens(source, code);
  if (found.length > 0) return found;
  const parts = source.split(code).slice(0, -1);
  return parts.map((_part, index) => {
    const from = parts.slice(0, index + 1).join(code).length;
    return { from, to: from + code.length };
  });
}

function findTokens(source: string, code: string): readonly Range[] {
  const tokens = tokensOf(source);
  const wanted = tokensOf(code);
  const [first] = wanted;
  if (first === undefined) return [];
  return tokens.flatMap(({ text, from }, index) => {
    const end = tokens[index + wanted.length - 1];
    const isHere =
      text === first.text &&
      end !== undefined &&
      wanted.every((one, offset) => tokens[index + offset]?.text === one.text);
    return isHere ? [{ from, to: end.to }] : [];
  });
}

function rangeOf(node: ts.Node, file: ts.SourceFile): Range {
  return { from: node.getStart(file), to: node.end };
}

function membersOf(node: ts.ClassDeclaration, file: ts.SourceFile): [string, Declaration][] {
  return node.members.map((member) => {
    const own = ts.isConstructorDeclaration(member)
      ? 'constructor'
      : (member.name?.getText(file) ?? '');
    const value = ts.isPropertyDeclaration(member) ? member.initializer : undefined;
    return [
      `${node.name?.text}.${own}`,
      { ...rangeOf(member, file), value: value && rangeOf(value, file) },
    ];
  });
}

/** What a file declares, by name; members of classes as `Class.member`. */
function declarationsOf(source: string): readonly [string, Declaration][] {
  const file = ts.createSourceFile('changed.ts', source, ts.ScriptTarget.Latest, true);
  return file.statements.flatMap((node): [string, Declaration][] => {
    const whole = rangeOf(node, file);
    if (ts.isVariableStatement(node)) {
      const { declarations } = node.declarationList;
      return declarations.map(({ name, initializer }) => [
        name.getText(file),
        { ...whole, value: initializer && rangeOf(initializer, file) },
      ]);
    }
    if (ts.isClassDeclaration(node)) {
      return [[node.name?.text ?? '', { ...whole, value: undefined }], ...membersOf(node, file)];
    }
    const hasName =
      ts.isFunctionDeclaration(node) ||
      ts.isInterfaceDeclaration(node) ||
      ts.isTypeAliasDeclaration(node);
    return hasName ? [[node.name?.text ?? '', { ...whole, value: undefined }]] : [];
  });
}

function placeOf(source: string, name: string | undefined, code: string | undefined): Range[] {
  if (name === undefined) return code === undefined ? [] : [...findCode(source, code)];
  const named = declarationsOf(source).filter(([declared]) => declared === name);
  if (named.length === 0) throw new Error(`declares no ${name}`);
  return named.flatMap(([, { from, to, value }]) => {
    if (code === undefined) return value === undefined ? [] : [value];
    const found = findCode(source.slice(from, to), code);
    return found.map((range) => ({ from: from + range.from, to: from + range.to }));
  });
}

/**
 * The source with the one place of `code` in the declaration `name` changed `to` another; without `code`, with another
 * value of the constant. Throws unless there is one such place.
 */
export function changeCode(
  source: string,
  { name, code, to }: { name: string | undefined; code: string | undefined; to: string },
): string {
  const places = placeOf(source, name, code);
  const [place] = places;
  if (place === undefined || places.length > 1) {
    throw new Error(`holds ${places.length} times, not once: ${code ?? `a value of ${name}`}`);
  }
  const rest = source.slice(place.to);
  // What is taken out of a list goes with its comma.
  return source.slice(0, place.from) + to + (to === '' ? rest.replace(/^\s*,/, '') : rest);
}
