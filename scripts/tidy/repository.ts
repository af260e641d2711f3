/**
 * The files that the tidy rules look at, read once.
 *
 * Taken from git (tracked, and untracked but not ignored), so that a local build or cache is never judged; without a
 * git directory, as in a tarball or a canary, every file outside the well-known output folders counts. Binary files
 * are left out. TypeScript files carry their syntax tree, without types.
 */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { runTool } from '../lib/run-tool.ts';

/** A text file; the path is relative to the repository, with slashes. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** A TypeScript file with its syntax tree. */
export interface SourceFile extends TextFile {
  readonly tree: ts.SourceFile;
}

/** Everything that is judged. */
export interface Repository {
  readonly directory: string;
  readonly files: readonly TextFile[];
  readonly sources: readonly SourceFile[];
}

/** What a rule complains about; `line` counts from 1. */
export interface Finding {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

const outputFolders = ['node_modules', '.git', '.cache', 'dist', '.serverless'];

async function listPaths(directory: string): Promise<string[]> {
  if (!existsSync(path.join(directory, '.git'))) {
    return globSync('**/*', {
      cwd: directory,
      exclude: (name) => outputFolders.includes(path.basename(name)),
    });
  }
  const parameters = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const result = await runTool({ program: 'git', parameters, directory });
  if (result.exitCode !== 0) throw new Error(`git ls-files failed: ${result.stderr}`);
  return result.stdout.split('\0').filter((name) => name !== '');
}

function readText(directory: string, name: string): TextFile | undefined {
  const file = path.join(directory, name);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return undefined;
  const text = readFileSync(file, 'utf8');
  return text.includes('\0') ? undefined : { path: name.split(path.sep).join('/'), text };
}

function parse(file: TextFile): SourceFile {
  return { ...file, tree: ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true) };
}

/** Reads all files below a directory. */
export async function readRepository(directory: string): Promise<Repository> {
  const paths = [...new Set(await listPaths(directory))].sort();
  const files = paths.flatMap((name) => readText(directory, name) ?? []);
  const sources = files.filter((file) => /\.(tsx?|mjs|js)$/.test(file.path)).map(parse);
  return { directory, files, sources };
}

/** The line, counted from 1, on which a position lies. */
export function lineAt(file: SourceFile, position: number): number {
  return file.tree.getLineAndCharacterOfPosition(position).line + 1;
}

/** The line, counted from 1, on which a character of a text file lies. */
export function lineOf(file: TextFile, index: number): number {
  return file.text.slice(0, index).split('\n').length;
}
