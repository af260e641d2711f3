/**
 * Warnings about files of one volume that lie upon one another, so that one of them cannot be seen.
 *
 * Only what the volume itself says is looked at: a ConfigMap or Secret that is taken whole has files that nobody here
 * knows. Two volumes mounted over each other are not a matter for this module. Nothing is refused; the texts are the
 * real server's, as kubectl prints them.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { listAt, optionalObjectAt, textAt } from '../../shared/json-edit.ts';

interface SourcedPath {
  readonly path: string;
  readonly source: string;
}

/** Warnings about the files of these volumes. */
export function overlappingPathWarnings(volumes: readonly JsonObject[]): readonly string[] {
  return volumes.flatMap((volume) => {
    const name = textAt(volume, 'name');
    const warn = (kind: string, files: readonly SourcedPath[]): readonly string[] =>
      overlapsOf(files).map((it) => `volume "${name}" (${kind}): overlapping paths: ${it}`);
    const [configMap, secret] = [
      optionalObjectAt(volume, 'configMap'),
      optionalObjectAt(volume, 'secret'),
    ];
    const downward = optionalObjectAt(volume, 'downwardAPI');
    const projected = optionalObjectAt(volume, 'projected');
    if (configMap !== undefined)
      return warn(`ConfigMap "${textAt(configMap, 'name')}"`, filesOf(configMap, ''));
    if (secret !== undefined)
      return warn(`Secret "${textAt(secret, 'secretName')}"`, filesOf(secret, ''));
    if (downward !== undefined) return warn('DownwardAPI', filesOf(downward, ''));
    if (projected === undefined) return [];
    const sources = listAt(projected, 'sources');
    const empty = sources.filter((source) => Object.keys(source).length === 0);
    return [
      ...empty.map(() => `volume "${name}" (Projected) has no sources provided`),
      ...warn('Projected', sources.flatMap(projectedFiles)),
    ];
  });
}

function filesOf(source: JsonObject, words: string): readonly SourcedPath[] {
  return listAt(source, 'items').map((item) => ({ path: textAt(item, 'path'), source: words }));
}

function projectedFiles(projection: JsonObject): readonly SourcedPath[] {
  const [configMap, secret] = [
    optionalObjectAt(projection, 'configMap'),
    optionalObjectAt(projection, 'secret'),
  ];
  if (configMap !== undefined)
    return filesOf(configMap, `ConfigMap "${textAt(configMap, 'name')}"`);
  if (secret !== undefined) return filesOf(secret, `Secret "${textAt(secret, 'name')}"`);
  const downward = optionalObjectAt(projection, 'downwardAPI');
  if (downward !== undefined) return filesOf(downward, 'DownwardAPI');
  const token = optionalObjectAt(projection, 'serviceAccountToken');
  return token === undefined
    ? []
    : [{ path: textAt(token, 'path'), source: 'ServiceAccountToken' }];
}

function overlapsOf(files: readonly SourcedPath[]): readonly string[] {
  const seen: SourcedPath[] = [];
  return files.flatMap(({ path, source }) => {
    const file = { path: path.replace(/\/+$/, ''), source };
    const overlaps = seen.filter((other) => lieUpon(file.path, other.path));
    seen.push(file);
    return overlaps.map((other) => `${textOf(file)} with ${textOf(other)}`);
  });
}

function lieUpon(one: string, other: string): boolean {
  if (one === '' || other === '') return false;
  return `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);
}

function textOf({ path, source }: SourcedPath): string {
  return source === '' ? `"${path}"` : `"${path}" (${source})`;
}
