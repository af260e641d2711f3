/**
 * The page as files: what the browser loads from `rollcall ui`, and nothing from elsewhere.
 *
 * One script, one sheet, one icon; nothing is inline, so that the content security policy allows no such thing.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { repositoryRoot as root } from '../lib/run-tool.ts';

/** What a page may weigh: gzipped, script and sheet together. */
export const PAGE_GZIPPED_BYTES_MAX = 60 * 1024;

const SOURCES = path.join(root, 'src/page');

/** The contents of its files by name. */
export async function bundlePage(): Promise<ReadonlyMap<string, Uint8Array>> {
  return (await makePage()).files;
}

/** The same, with the sources that it was made of, for the notices of a package. */
export async function makePage(): Promise<{
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly inputs: readonly string[];
}> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { page: 'src/page/main.tsx', 'page-sheet': 'src/page/page.css' },
    outdir: 'dist/page',
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome120', 'firefox125', 'safari17.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  });
  const made = (name: string): Uint8Array => {
    const file = outputFiles.find((each) => path.basename(each.path) === name);
    if (file === undefined) throw new Error(`the bundler made no ${name}`);
    return file.contents;
  };
  const files = new Map([
    ['index.html', await source('index.html')],
    ['page.js', made('page.js')],
    ['page.css', made('page-sheet.css')],
    ['icon.svg', await source('icon.svg')],
  ]);
  return { files, inputs: Object.keys(metafile.inputs) };
}

function source(name: string): Promise<Uint8Array> {
  return readFile(path.join(SOURCES, name));
}
