/**
 * The page as files: what the browser loads from `rollcall ui`, and nothing from elsewhere.
 *
 * One script, one sheet, one icon; nothing is inline, so that the content security policy allows no such thing.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { repositoryRoot as root } from '../lib/run-tool.ts';

/** A file of the page, as it is served. */
export interface PageFile {
  readonly type: string;
  readonly body: Uint8Array;
}

/** By name, without a leading slash. */
export type PageFiles = ReadonlyMap<string, PageFile>;

/** What a page may weigh: gzipped, script and sheet together. */
export const PAGE_GZIPPED_BYTES_MAX = 60 * 1024;

const SOURCES = path.join(root, 'src/page');

/** Bundles the page. */
export async function buildPage(): Promise<PageFiles> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { page: 'src/page/main.tsx', 'page-sheet': 'src/page/page.css' },
    outdir: 'dist/page',
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome120', 'firefox121', 'safari17.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
  const made = (name: string): Uint8Array => {
    const file = outputFiles.find((each) => path.basename(each.path) === name);
    if (file === undefined) throw new Error(`the bundler made no ${name}`);
    return file.contents;
  };
  return new Map<string, PageFile>([
    ['index.html', { type: 'text/html; charset=utf-8', body: await source('index.html') }],
    ['page.js', { type: 'text/javascript; charset=utf-8', body: made('page.js') }],
    ['page.css', { type: 'text/css; charset=utf-8', body: made('page-sheet.css') }],
    ['icon.svg', { type: 'image/svg+xml', body: await source('icon.svg') }],
  ]);
}

function source(name: string): Promise<Uint8Array> {
  return readFile(path.join(SOURCES, name));
}
