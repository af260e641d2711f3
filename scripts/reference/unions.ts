/** Reads the members of a union of codes with their doc comments, which are the words of the reference. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { repositoryRoot } from '../lib/run-tool.ts';

/** One code of a union. */
export interface CodeRow {
  readonly code: string;
  /** Its doc comment on one line. */
  readonly about: string;
}

/** The codes of an exported type, in its order. Throws where a code has no doc comment. */
export function readUnion(file: string, type: string): readonly CodeRow[] {
  const text = readFileSync(path.join(repositoryRoot, file), 'utf8');
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const declaration = tree.statements.find(
    (statement) => ts.isTypeAliasDeclaration(statement) && statement.name.text === type,
  );
  if (declaration === undefined || !ts.isTypeAliasDeclaration(declaration)) {
    throw new Error(`${file} has no type ${type}`);
  }
  const node = declaration.type;
  let end = node.getFullStart();
  return (ts.isUnionTypeNode(node) ? [...node.types] : [node]).flatMap((member) => {
    const between = text.slice(end, member.getStart());
    ({ end } = { end: member.end });
    if (!ts.isLiteralTypeNode(member) || !ts.isStringLiteral(member.literal)) return [];
    const code = member.literal.text;
    const [, comment] = /\/\*\*([\s\S]*?)\*\//.exec(between) ?? [];
    if (comment === undefined) throw new Error(`${file}: ${type} says nothing of ${code}`);
    return [{ code, about: plainOf(comment) }];
  });
}

/** Without the marks of a comment, and without what only readers of the code look up. */
function plainOf(comment: string): string {
  return comment
    .replaceAll(/\n\s*\*/g, ' ')
    .replaceAll(/\s*\((?:core|app|adapters)\/[^)]*\)/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
