/** An OCI image layout (image-spec 1.1): blobs by their digest, one index of images for all architectures, one name for it. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ImageConfiguration } from './dockerfile.ts';
import type { Layer } from './layers.ts';
import { PLATFORMS, type Architecture } from './platforms.ts';

/** How a blob is referred to. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** An image of one architecture. */
export interface PlatformImage {
  readonly architecture: Architecture;
  readonly configuration: ImageConfiguration;
  readonly layers: readonly Layer[];
}

/** Manifests of a layout that was written. */
export interface WrittenLayout {
  readonly index: Descriptor;
  readonly manifests: Readonly<Partial<Record<Architecture, Descriptor>>>;
}

const MEDIA = 'application/vnd.oci.image';
/** The same whenever it is built. */
const CREATED = '1970-01-01T00:00:00Z';

/** Writes one into an empty folder; `name` is the tag by which programs find the index in it. */
export async function writeLayout(
  folder: string,
  name: string,
  images: readonly PlatformImage[],
): Promise<WrittenLayout> {
  const blobs = path.join(folder, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const put = async (mediaType: string, content: Buffer): Promise<Descriptor> => {
    const hash = createHash('sha256').update(content).digest('hex');
    await writeFile(path.join(blobs, hash), content);
    return { mediaType, digest: `sha256:${hash}`, size: content.length };
  };
  const putJson = (mediaType: string, value: object): Promise<Descriptor> =>
    put(mediaType, Buffer.from(JSON.stringify(value)));

  const manifests: (Descriptor & { readonly architecture: Architecture })[] = [];
  for (const { architecture, configuration, layers } of images) {
    const config = await putJson(`${MEDIA}.config.v1+json`, {
      created: CREATED,
      ...PLATFORMS[architecture].platform,
      config: configuration,
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
      history: layers.map(({ title }) => ({ created: CREATED, created_by: title })),
    });
    const stored: Descriptor[] = [];
    for (const { compressed } of layers) {
      stored.push(await put(`${MEDIA}.layer.v1.tar+gzip`, compressed));
    }
    const mediaType = `${MEDIA}.manifest.v1+json`;
    const body = { schemaVersion: 2, mediaType, config, layers: stored };
    manifests.push({ ...(await putJson(mediaType, body)), architecture });
  }
  const mediaType = `${MEDIA}.index.v1+json`;
  const index = await putJson(mediaType, {
    schemaVersion: 2,
    mediaType,
    manifests: manifests.map(({ architecture, ...descriptor }) => ({
      ...descriptor,
      platform: PLATFORMS[architecture].platform,
    })),
  });
  const named = { ...index, annotations: { 'org.opencontainers.image.ref.name': name } };
  const top = { schemaVersion: 2, mediaType, manifests: [named] };
  await writeFile(path.join(folder, 'index.json'), JSON.stringify(top));
  await writeFile(path.join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  return {
    index,
    manifests: Object.fromEntries(
      manifests.map(({ architecture, ...descriptor }) => [architecture, descriptor]),
    ),
  };
}
