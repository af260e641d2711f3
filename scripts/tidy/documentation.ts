/**
 * Comments that must exist: a header on every module, a docstring on every export of what ships.
 *
 * A header says in 3 to 16 lines what the module is for, what it assumes, which invariants it keeps and what it does
 * not do; for a test, or a module of at most 40 lines, one line is enough. Whether a comment is true or useful cannot be
 * judged here.
 * Re-exports need no docstring of their own.
 */
import ts from 'typescript';
import { lineAt } from './repository.ts';
import type { Finding, Repository, SourceFile } from './repository.ts';

const HEADER_LINES_MIN = 3;
const HEADER_LINES_MAX = 16;
const SMALL_MODULE_LINES_MAX = 40;

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

function headerLinesMinOf(file: SourceFile): number {
  const isSmall = file.text.split('\n').length - 1 <= SMALL_MODULE_LINES_MAX;
  return isSmall || /^test\/|^packages\/[^/]+\/test\/|\.d\.ts$/.test(file.path)
    ? 1
    : HEADER_LINES_MIN;
}

function checkHeader(file: SourceFile): Finding[] {
  const lines = countTextLines(readHeader(file).text);
  const linesMin = headerLinesMinOf(file);
  if (lines >= linesMin && lines <= HEADER_LINES_MAX) return [];
  const message = `the module's opening comment has ${lines} lines; ${linesMin} to ${HEADER_LINES_MAX}`;
  return [{ rule: 'module-header', path: file.path, line: 1, message }];
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

function checkDocstrings(file: SourceFile): Finding[] {
  const headerStart = readHeader(file).start;
  const documented = new Set<string>();
  const findings: Finding[] = [];
  for (const statement of file.tree.statements.filter(isExported)) {
    const name = nameOf(statement, file);
    if (hasDocstring(statement, headerStart)) documented.add(name);
    if (documented.has(name)) continue;
    const line = lineAt(file, statement.getStart(file.tree));
    const message = `the export ${name} has no docstring`;
    findings.push({ rule: 'docstring', path: file.path, line, message });
  }
  return findings;
}

/** Finds modules without a header and exports without a docstring. */
export function checkDocumentation(repository: Repository): Finding[] {
  const shipped = repository.sources.filter((file) =>
    /^(src|functions|packages\/[^/]+\/src)\//.test(file.path),
  );
  return [...repository.sources.flatMap(checkHeader), ...shipped.flatMap(checkDocstrings)];
}
