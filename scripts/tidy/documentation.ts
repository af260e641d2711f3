/**
 * Comments that must exist: a header on every module, and a docstring on every export that another folder imports.
 *
 * An export that only its own folder imports explains itself by its name and its place. Imports by tests do not count,
 * re-exports need no docstring of their own. Whether a comment is true or useful cannot be judged here.
 */
import path from 'node:path';
import ts from 'typescript';
import { lineAt, type Finding, type Repository, type SourceFile } from './repository.ts';

const HEADER_LINES_MIN = 1;
const HEADER_LINES_MAX = 16;

/** The comment that opens a module; several `//` lines in a row are one comment. */
function readHeader(file: SourceFile): { text: string; start: number } {
  const shebang = ts.getShebang(file.text)?.length ?? 0;
  const ranges = ts.getLeadingCommentRanges(file.text, shebang) ?? [];
  const [first] = ranges;
  if (first === undefined) return { text: '', start: -1 };
  if (first.kind === ts.SyntaxKind.MultiLineCommentTrivia) {
    return { text: file.text.slice(first.pos, first.end), start: first.pos };
  }
  let end = first.end;
  for (const range of ranges) {
    if (range.pos > end && /\n[^\S\n]*\n/.test(file.text.slice(end, range.pos))) break;
    end = range.end;
  }
  return { text: file.text.slice(first.pos, end), start: first.pos };
}

/** Counts lines as a person sees them: those of the text, and empty ones between paragraphs. */
function countTextLines(comment: string): number {
  const lines = comment.split('\n').map((line) => /[\p{L}\p{N}]/u.test(line));
  return lines.includes(true) ? lines.lastIndexOf(true) - lines.indexOf(true) + 1 : 0;
}

function checkHeader(file: SourceFile): Finding[] {
  const lines = countTextLines(readHeader(file).text);
  if (lines >= HEADER_LINES_MIN && lines <= HEADER_LINES_MAX) return [];
  const message = `the module's opening comment has ${lines} lines; ${HEADER_LINES_MIN} to ${HEADER_LINES_MAX}`;
  return [{ rule: 'module-header', path: file.path, line: 1, message }];
}

/** The names that files of other folders import, as `path name`; `path *` where all are meant. */
function findCrossings(files: readonly SourceFile[]): ReadonlySet<string> {
  const crossings = new Set<string>();
  for (const file of files) {
    for (const statement of file.tree.statements) {
      if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) continue;
      const from = statement.moduleSpecifier;
      if (from === undefined || !ts.isStringLiteral(from) || !from.text.startsWith('.')) continue;
      const target = path.posix.join(path.posix.dirname(file.path), from.text);
      if (path.posix.dirname(target) === path.posix.dirname(file.path)) continue;
      for (const name of namesOf(statement)) crossings.add(`${target} ${name}`);
    }
  }
  return crossings;
}

function namesOf(statement: ts.ImportDeclaration | ts.ExportDeclaration): readonly string[] {
  const named = ts.isImportDeclaration(statement)
    ? statement.importClause?.namedBindings
    : statement.exportClause;
  if (named === undefined || ts.isNamespaceImport(named) || ts.isNamespaceExport(named))
    return ['*'];
  return named.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}

function isExported(statement: ts.Statement): boolean {
  if (!ts.canHaveModifiers(statement)) return false;
  const modifiers = ts.getModifiers(statement) ?? [];
  return modifiers.some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword);
}

function nameOf(statement: ts.Statement, file: SourceFile): string {
  if (ts.isVariableStatement(statement)) {
    const names = statement.declarationList.declarations.map((each) =>
      each.name.getText(file.tree),
    );
    return names.join(', ');
  }
  return ts.getNameOfDeclaration(statement as ts.DeclarationStatement)?.getText(file.tree) ?? '?';
}

function hasDocstring(statement: ts.Statement, headerStart: number): boolean {
  return ts
    .getJSDocCommentsAndTags(statement)
    .some((doc) => ts.isJSDoc(doc) && doc.pos !== headerStart);
}

function checkDocstrings(file: SourceFile, crossings: ReadonlySet<string>): Finding[] {
  const headerStart = readHeader(file).start;
  const documented = new Set<string>();
  const findings: Finding[] = [];
  for (const statement of file.tree.statements.filter(isExported)) {
    const name = nameOf(statement, file);
    if (hasDocstring(statement, headerStart)) documented.add(name);
    if (documented.has(name) || !crosses(file, name, crossings)) continue;
    const line = lineAt(file, statement.getStart(file.tree));
    const message = `the export ${name}, which another folder imports, has no docstring`;
    findings.push({ rule: 'docstring', path: file.path, line, message });
  }
  return findings;
}

function crosses(file: SourceFile, names: string, crossings: ReadonlySet<string>): boolean {
  return ['*', ...names.split(', ')].some((name) => crossings.has(`${file.path} ${name}`));
}

/** Finds modules without a header, and exports without a docstring that another folder imports. */
export function checkDocumentation(repository: Repository): Finding[] {
  const shipped = repository.sources.filter((file) =>
    /^(src|functions|packages\/[^/]+\/src)\//.test(file.path),
  );
  const crossings = findCrossings(shipped);
  return [
    ...repository.sources.flatMap(checkHeader),
    ...shipped.flatMap((file) => checkDocstrings(file, crossings)),
  ];
}
