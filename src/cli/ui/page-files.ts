/** The files of the page: in a clone bundled from `src/page` when they are asked for, in a package read from `dist/page`. */
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageFile } from '../../engine/package-files.ts';

export interface PageFile {
  readonly type: string;
  readonly body: Uint8Array;
}

/** By their paths without a leading slash; `index.html` is the page itself. Empty: there is none, and the API is served alone. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const BUNDLER = 'scripts/build/page-bundle.ts';
const BUNDLED = 'dist/page';
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Bundles or reads them. Rejects where a clone's page cannot be bundled. */
export async function loadPageFiles(): Promise<PageFiles> {
  const bundler = packageFile(BUNDLER);
  const bodies = existsSync(bundler) ? await bundle(bundler) : await readFolder();
  const files = [...bodies].map(([name, body]) => {
    const type = TYPES[path.extname(name)] ?? 'application/octet-stream';
    return [name, { type, body }] as const;
  });
  return new Map(files);
}

/** A clone has the bundler beside its sources; no package does. */
async function bundle(file: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const { bundlePage } = (await import(pathToFileURL(file).href)) as {
    readonly bundlePage: () => Promise<ReadonlyMap<string, Uint8Array>>;
  };
  return bundlePage();
}

async function readFolder(): Promise<ReadonlyMap<string, Uint8Array>> {
  const folder = packageFile(BUNDLED);
  const names = existsSync(folder) ? await readdir(folder) : [];
  const read = names.map(async (name) => [name, await readFile(path.join(folder, name))] as const);
  return new Map(await Promise.all(read));
}
