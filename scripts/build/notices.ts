/**
 * The licences of what is bundled, as one text: a bundle has no node_modules that would hold them.
 *
 * Reads the packages off the bundle's inputs. A package without a licence file is named with the licence that its
 * manifest states; one that states none fails the build.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';

const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const LICENSE_FILE = /^(licen[cs]e|notice|copying)/i;
const RULE = '-'.repeat(80);
/** Old manifests say it as an object. */
const licenseSchema = v.union([
  v.string(),
  v.pipe(
    v.object({ type: v.string() }),
    v.transform(({ type }) => type),
  ),
]);
const manifestSchema = v.object({ name: v.string(), version: v.string(), license: licenseSchema });

/** The text, packages in order of their names; `inputs` as esbuild names them, relative to `root`. */
export async function collectNotices(root: string, inputs: readonly string[]): Promise<string> {
  const folders = new Set(inputs.flatMap((input) => PACKAGE.exec(input)?.[1] ?? []));
  const notices = await Promise.all(
    [...folders].map((folder) => noticeOf(path.join(root, folder))),
  );
  return [...new Set(notices)].sort().join(`\n${RULE}\n\n`);
}

async function noticeOf(folder: string): Promise<string> {
  const text = await readFile(path.join(folder, 'package.json'), 'utf8');
  const { name, version, license } = v.parse(manifestSchema, JSON.parse(text));
  const files = (await readdir(folder)).filter((file) => LICENSE_FILE.test(file)).sort();
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
  return [`${name} ${version} (${license})\n`, ...texts].join('\n');
}
