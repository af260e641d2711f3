/** A layout as `npm run build:image` writes it, and what is read of it: blobs, which have to be what their digests say. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runTool } from '../../../scripts/lib/run-tool.ts';
import type { ImageConfiguration } from '../../../scripts/build/image/dockerfile.ts';
import type { Descriptor } from '../../../scripts/build/image/layout.ts';
import { repositoryPath } from '../scenarios/repository.ts';

export interface PlatformManifest {
  readonly descriptor: Descriptor;
  readonly architecture: string;
  readonly configuration: ImageConfiguration;
  /** Opens all layers, one over the other, into a folder. */
  readonly unpack: (folder: string) => void;
}

/** Builds one, from a folder and under a umask that are not the caller's. Resolves to the digest that it says. */
export async function buildLayout(
  target: string,
  umask: string,
  directory: string,
): Promise<string> {
  const words = `umask ${umask}; exec "$@"`;
  const build = [process.execPath, repositoryPath('scripts/build/build-image.ts'), target];
  const parameters = ['-c', words, 'sh', ...build];
  const { exitCode, stdout, stderr } = await runTool({ program: 'sh', parameters, directory });
  assert.equal(exitCode, 0, stderr);
  return stdout.trim();
}

/** The images of a layout. Throws where a blob is not what its descriptor says, or something is of no known form. */
export function readLayout(layout: string): readonly PlatformManifest[] {
  const parse = (name: string): unknown =>
    JSON.parse(readFileSync(path.join(layout, name), 'utf8'));
  assert.deepEqual(parse('oci-layout'), { imageLayoutVersion: '1.0.0' });
  const top = parse('index.json') as { readonly manifests: readonly [Descriptor] };
  assert.equal(top.manifests.length, 1);
  const read = ({ digest, size }: Descriptor): Buffer => {
    const content = readFileSync(path.join(layout, 'blobs', digest.replace(':', '/')));
    assert.equal(content.length, size, digest);
    assert.equal(sha256(content), digest);
    return content;
  };
  const json = (descriptor: Descriptor): unknown => JSON.parse(read(descriptor).toString());
  const index = json(top.manifests[0]) as {
    readonly manifests: readonly (Descriptor & {
      readonly platform: { readonly architecture: string; readonly os: string };
    })[];
  };
  return index.manifests.map(({ platform, ...descriptor }) => {
    assert.equal(platform.os, 'linux');
    const { config, layers } = json(descriptor) as {
      readonly config: Descriptor;
      readonly layers: readonly Descriptor[];
    };
    const image = json(config) as {
      readonly architecture: string;
      readonly config: ImageConfiguration;
      readonly rootfs: { readonly diff_ids: readonly string[] };
    };
    assert.equal(image.architecture, platform.architecture);
    const unpack = (folder: string): void => {
      mkdirSync(folder);
      for (const [at, layer] of layers.entries()) {
        const archive = execFileSync('gzip', ['-dc'], { input: read(layer), maxBuffer: 2 ** 28 });
        assert.equal(sha256(archive), image.rootfs.diff_ids[at]);
        const file = `${folder}.${at}.tar`;
        writeFileSync(file, archive);
        execFileSync('tar', ['-xf', file, '-C', folder]);
      }
    };
    return { descriptor, architecture: platform.architecture, configuration: image.config, unpack };
  });
}

function sha256(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
