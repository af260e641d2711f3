/**
 * Defaults of volumes: file modes, types of host paths, an empty directory where no source is given.
 *
 * Differs from Kubernetes: the long deprecated network disks (iSCSI, RBD, Azure, ScaleIO) get no defaults.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { editItemsAt, editObjectAt, withDefaults } from '../../shared/json-edit.ts';
import { defaultPullPolicy } from './image-name.ts';
import { textAt } from '../../shared/json-edit.ts';

const FILE_MODE = 420;
const FILE_DEFAULTS = { defaultMode: FILE_MODE };
const FIELD_DEFAULTS = { apiVersion: 'v1' };
const DIVISOR_DEFAULTS = { divisor: '0' };

/** A volume with its defaults; the same one when it has them. */
export function applyVolumeDefaults(volume: JsonObject): JsonObject {
  let result = volume;
  let hasSource = false;
  for (const source in volume) {
    if (source === 'name' || volume[source] === undefined || volume[source] === null) continue;
    hasSource = true;
    const edit = SOURCES.get(source);
    if (edit !== undefined) result = editObjectAt(result, source, edit);
  }
  return hasSource ? result : { ...volume, emptyDir: {} };
}

const SOURCES: ReadonlyMap<string, (source: JsonObject) => JsonObject> = new Map([
  ['configMap', (source) => withDefaults(source, FILE_DEFAULTS)],
  ['secret', (source) => withDefaults(source, FILE_DEFAULTS)],
  ['hostPath', (source) => withDefaults(source, { type: '' })],
  ['downwardAPI', (source) => downwardFiles(withDefaults(source, FILE_DEFAULTS))],
  ['projected', projected],
  [
    'image',
    (source) =>
      withDefaults(source, { pullPolicy: defaultPullPolicy(textAt(source, 'reference')) }),
  ],
  ['ephemeral', ephemeral],
]);

/** `fieldRef.apiVersion` and `resourceFieldRef.divisor` of something that has them. */
export function applyFieldReferenceDefaults(holder: JsonObject): JsonObject {
  const withField = editObjectAt(holder, 'fieldRef', (it) => withDefaults(it, FIELD_DEFAULTS));
  return editObjectAt(withField, 'resourceFieldRef', (it) => withDefaults(it, DIVISOR_DEFAULTS));
}

function downwardFiles(source: JsonObject): JsonObject {
  return editItemsAt(source, 'items', applyFieldReferenceDefaults);
}

function projected(source: JsonObject): JsonObject {
  return editItemsAt(withDefaults(source, FILE_DEFAULTS), 'sources', (projection) =>
    editObjectAt(
      editObjectAt(projection, 'downwardAPI', downwardFiles),
      'serviceAccountToken',
      (token) => withDefaults(token, { expirationSeconds: 3600 }),
    ),
  );
}

function ephemeral(source: JsonObject): JsonObject {
  return editObjectAt(source, 'volumeClaimTemplate', (template) =>
    editObjectAt(template, 'spec', (spec) => withDefaults(spec, { volumeMode: 'Filesystem' })),
  );
}
