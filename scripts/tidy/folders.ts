/**
 * Folders as rooms: at most fifteen modules in one, and no two that need each other both ways.
 *
 * Two folders that import one another can only be understood together; then they are one, or something in them belongs
 * into a third. Types count: a reader follows them as well. Every import counts, in either direction: a folder and one inside
 * it are two. Judged is what is delivered, and what builds and checks it; tests follow the folders that they mirror.
 */
import path from 'node:path';
import ts from 'typescript';
import type { Finding, Repository, SourceFile } from './repository.ts';

const MODULES_MAX = 15;
const JUDGED = /^(src|functions|scripts|packages\/[^/]+\/src)\//;

const folderOf = (file: string): string => path.posix.dirname(file);

function importedFolders(file: SourceFile): readonly string[] {
  return file.tree.statements.flatMap((statement) => {
    const isImport = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement);
    const from = isImport ? statement.moduleSpecifier : undefined;
    if (from === undefined || !ts.isStringLiteral(from) || !from.text.startsWith('.')) return [];
    return folderOf(path.posix.join(folderOf(file.path), from.text));
  });
}

function findCrowds(files: readonly SourceFile[]): readonly Finding[] {
  const counts = new Map<string, number>();
  for (const { path: name } of files) {
    counts.set(folderOf(name), (counts.get(folderOf(name)) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > MODULES_MAX)
    .map(([folder, count]) =>
      findingAt(folder, `has ${count} modules; at most ${MODULES_MAX}: give its concerns rooms`),
    );
}

function findCircles(files: readonly SourceFile[]): readonly Finding[] {
  const needs = new Map<string, readonly string[]>();
  for (const file of files) {
    const folder = folderOf(file.path);
    for (const other of importedFolders(file)) {
      const edge = `${folder} ${other}`;
      if (other !== folder) needs.set(edge, [...(needs.get(edge) ?? []), file.path]);
    }
  }
  return [...needs].flatMap(([edge, by]) => {
    const [folder = '', other = ''] = edge.split(' ');
    const back = needs.get(`${other} ${folder}`);
    if (back === undefined || folder > other) return [];
    const files = [...new Set([...by, ...back])].join(', ');
    return findingAt(folder, `needs ${other}, which needs it: ${files}`);
  });
}

function findingAt(folder: string, message: string): Finding {
  return { rule: 'folder', path: folder, line: 1, message };
}

/** Finds folders with too many modules, and pairs that need each other. */
export function checkFolders(repository: Repository): Finding[] {
  const files = repository.sources.filter((file) => JUDGED.test(file.path));
  return [...findCrowds(files), ...findCircles(files)];
}
