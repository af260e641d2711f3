/**
 * The watcher's image, built from the shipped Dockerfile by buildah, without Docker and without a network.
 *
 * The base is Node of the package registry, as the lockfile pins it, with the libraries of this machine that it is linked
 * to: no more than the Dockerfile asks of NODE_IMAGE. Everything is kept in one directory and goes with it. As root, or
 * by `sudo -n`.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryPath } from '../scenarios/repository.ts';

/** One builder, in a directory of its own. */
export interface ImageBuilder {
  /** Builds it anew, and gives the digest of its OCI manifest. */
  readonly build: () => string;
  /** Configuration of the image that was built last. */
  readonly configuration: () => ImageConfiguration;
  /** Where its files are: a directory. */
  readonly mount: () => string;
  readonly close: () => void;
}

export interface ImageConfiguration {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
}

const BASE = 'localhost/rollcall-base:test';
const IMAGE = 'localhost/rollcall-watcher:test';
const NODE = repositoryPath('node_modules/node/bin/node');

/** Runs a program as root. Gives what it said. */
export function asRoot(words: readonly string[]): string {
  const command = process.getuid?.() === 0 ? words : ['sudo', '-n', ...words];
  const [program = '', ...rest] = command;
  return execFileSync(program, rest, { encoding: 'utf8', maxBuffer: 2 ** 26 }).trim();
}

/** Opens a builder; `directory` is empty and the caller's, `context` holds the bundle as the Dockerfile names it. */
export function openImageBuilder(directory: string, context: string): ImageBuilder {
  const at = (name: string): string => path.join(directory, name);
  const buildah = (...words: string[]): string => {
    const store = ['--root', at('storage'), '--runroot', at('run'), '--storage-driver', 'vfs'];
    return asRoot(['buildah', ...store, ...words]);
  };
  collectBase(at('base'));
  const base = buildah('from', '--pull-never', 'scratch');
  buildah('copy', '--quiet', base, at('base'), '/');
  buildah('config', '--env', 'PATH=/usr/local/bin', base);
  buildah('commit', '--quiet', '--timestamp', '0', base, BASE);
  buildah('rm', base);
  let built = 0;
  return {
    build: () => {
      built += 1;
      const file = repositoryPath('infra/watcher/Dockerfile');
      const same = ['--no-cache', '--timestamp', '0', '--identity-label=false'];
      const from = ['--pull-never', '--build-arg', `NODE_IMAGE=${BASE}`];
      buildah('bud', '--quiet', ...same, ...from, '--file', file, '--tag', IMAGE, context);
      const layout = at(`layout-${built}`);
      buildah('push', '--quiet', '--format', 'oci', IMAGE, `oci:${layout}:latest`);
      const index = JSON.parse(readFileSync(path.join(layout, 'index.json'), 'utf8')) as {
        readonly manifests: readonly { readonly digest: string }[];
      };
      return index.manifests[0]?.digest ?? '';
    },
    configuration: () => {
      const text = buildah('inspect', '--type', 'image', IMAGE);
      const { OCIv1 } = JSON.parse(text) as {
        readonly OCIv1: { readonly config: ImageConfiguration };
      };
      return OCIv1.config;
    },
    mount: () => buildah('mount', buildah('from', '--pull-never', IMAGE)),
    close: () => {
      buildah('rm', '--all');
      asRoot(['rm', '-rf', at('storage'), at('run')]);
    },
  };
}

/** Node and what it is linked to. */
function collectBase(directory: string): void {
  const linked = execFileSync('ldd', [NODE], { encoding: 'utf8' });
  const libraries = [...linked.matchAll(/(?:=> |^\s*)(\/\S+) \(/gm)].map(([, file = '']) => file);
  for (const library of libraries) copyTo(library, path.join(directory, library));
  copyTo(NODE, path.join(directory, 'usr/local/bin/node'));
}

/** What a name leads to, under that name. */
function copyTo(from: string, to: string): void {
  mkdirSync(path.dirname(to), { recursive: true });
  copyFileSync(from, to);
}
