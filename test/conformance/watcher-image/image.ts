/**
 * The watcher's image in a store of buildah's: pulled from the assembled layout, and built by the shipped Dockerfile on
 * that as its base, without Docker and without a network. Everything is kept in one directory and goes with it. As root,
 * or by `sudo -n`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import type { ImageConfiguration } from '../../../scripts/build/image/dockerfile.ts';
import { repositoryPath } from '../scenarios/repository.ts';

export type { ImageConfiguration } from '../../../scripts/build/image/dockerfile.ts';

/** Names of the images in the store. */
export const ASSEMBLED = 'localhost/rollcall-assembled:test';
export const BUILT = 'localhost/rollcall-built:test';

/** One store. */
export interface ImageStore {
  /** Builds by the Dockerfile; `context` holds the bundle as it names it. Gives the digest of the OCI manifest. */
  readonly build: (context: string) => string;
  readonly configuration: (image: string) => ImageConfiguration;
  /** Where an image's files are: a directory. */
  readonly mount: (image: string) => string;
  readonly close: () => void;
}

/** Runs a program as root. Gives what it said. */
export function asRoot(words: readonly string[]): string {
  const command = process.getuid?.() === 0 ? words : ['sudo', '-n', ...words];
  const [program = '', ...rest] = command;
  return execFileSync(program, rest, { encoding: 'utf8', maxBuffer: 2 ** 26 }).trim();
}

/** Opens a store in an empty directory, and pulls this machine's image from a layout. */
export function openImageStore(directory: string, layout: string): ImageStore {
  const at = (name: string): string => path.join(directory, name);
  const buildah = (...words: string[]): string => {
    const store = ['--root', at('storage'), '--runroot', at('run'), '--storage-driver', 'vfs'];
    return asRoot(['buildah', ...store, ...words]);
  };
  const id = buildah('pull', '--quiet', `oci:${layout}:${packageJson.version}`);
  buildah('tag', id, ASSEMBLED);
  let built = 0;
  return {
    build: (context) => {
      built += 1;
      const file = repositoryPath('infra/watcher/Dockerfile');
      const same = ['--no-cache', '--timestamp', '0', '--identity-label=false'];
      const from = ['--pull-never', '--build-arg', `NODE_IMAGE=${ASSEMBLED}`];
      buildah('bud', '--quiet', ...same, ...from, '--file', file, '--tag', BUILT, context);
      const pushed = at(`built-${built}`);
      buildah('push', '--quiet', '--format', 'oci', BUILT, `oci:${pushed}:latest`);
      const index = JSON.parse(readFileSync(path.join(pushed, 'index.json'), 'utf8')) as {
        readonly manifests: readonly { readonly digest: string }[];
      };
      return index.manifests[0]?.digest ?? '';
    },
    configuration: (image) => {
      const text = buildah('inspect', '--type', 'image', image);
      const { OCIv1 } = JSON.parse(text) as {
        readonly OCIv1: { readonly config: ImageConfiguration };
      };
      return OCIv1.config;
    },
    mount: (image) => buildah('mount', buildah('from', '--pull-never', image)),
    close: () => {
      buildah('rm', '--all');
      asRoot(['rm', '-rf', at('storage'), at('run')]);
    },
  };
}
