/**
 * Volumes of a pod, and the mounts and devices of containers that refer to them.
 *
 * A volume has one source and a name of its own. One that is wrong in itself cannot be mounted, so a mount of it is an
 * error too, as the real server reports it. Within a container a path is used once, by a mount or by a device. What a
 * source must say is in volume-source-validation; whether it exists, the node agent finds out (spec node-agent 4g).
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../../shared/resource.ts';
import {
  at,
  duplicate,
  forbidden,
  invalid,
  invalidText,
  NO_ERRORS,
  notFound,
  notSupported,
  required,
} from '../../shared/field-errors.ts';
import { isPresent, listAt, objectAt, optionalObjectAt, textAt } from '../../shared/json-edit.ts';
import { checkLabel } from '../../shared/names.ts';
import { validateDescendingPath, validateNoBacksteps } from '../references/path-validation.ts';
import { requireText } from './volume-file-validation.ts';
import { validateSource } from './volume-source-validation.ts';

/** In the order in which the original looks for them: the first is the volume's, others are too many. */
const SOURCE_ORDER = [
  'emptyDir',
  'hostPath',
  'secret',
  'nfs',
  'persistentVolumeClaim',
  'downwardAPI',
  'configMap',
  'projected',
  'csi',
  'ephemeral',
  'image',
];
/** Typing slips of the original, which clients see. */
const MISSPELT: ReadonlyMap<string, string> = new Map([['downwardAPI', 'downwarAPI']]);
const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];
const READ_ONLY_MODES = ['Disabled', 'Enabled', 'IfPossible'];

/** What came of the volumes: their errors, and the names that mounts may refer to. */
export interface VolumeCheck {
  readonly errors: readonly FieldError[];
  readonly volumes: ReadonlyMap<string, JsonObject>;
}

/** The list `volumes` at `field`. A volume that is wrong in itself cannot be mounted either. */
export function validateVolumes(list: readonly JsonObject[], field: string): VolumeCheck {
  const errors: FieldError[] = [];
  const volumes = new Map<string, JsonObject>();
  for (const [index, volume] of list.entries()) {
    const own = validateVolume(volume, at(field, index), volumes);
    errors.push(...own);
    if (own.length === 0) volumes.set(textAt(volume, 'name'), volume);
  }
  return { errors, volumes };
}

function validateVolume(
  volume: JsonObject,
  field: string,
  earlier: ReadonlyMap<string, JsonObject>,
): readonly FieldError[] {
  const name = textAt(volume, 'name');
  const errors: FieldError[] = [...validateSources(volume, field)];
  if (name === '') errors.push(required(`${field}.name`));
  else errors.push(...invalidText(`${field}.name`, name, checkLabel(name)));
  if (earlier.has(name)) errors.push(duplicate(`${field}.name`, name));
  return errors;
}

function validateSources(volume: JsonObject, field: string): readonly FieldError[] {
  const given = SOURCE_ORDER.filter((kind) => isPresent(volume, kind));
  const [first, ...others] = given;
  if (first === undefined) {
    const hasOther = Object.keys(volume).some((key) => key !== 'name' && isPresent(volume, key));
    return hasOther ? NO_ERRORS : [required(field, 'must specify a volume type')];
  }
  return [
    ...validateSource(first, objectAt(volume, first), `${field}.${first}`),
    ...others.map((kind) =>
      forbidden(
        `${field}.${MISSPELT.get(kind) ?? kind}`,
        'may not specify more than 1 volume type',
      ),
    ),
  ];
}

/** The mounts and devices of a container at `field`. */
export function validateMounts(
  container: JsonObject,
  field: string,
  volumes: ReadonlyMap<string, JsonObject>,
): readonly FieldError[] {
  const mounts = listAt(container, 'volumeMounts');
  const devices = listAt(container, 'volumeDevices');
  if (mounts.length === 0 && devices.length === 0) return NO_ERRORS;
  const errors: FieldError[] = [];
  const paths = new Set<string>();
  for (const [index, mount] of mounts.entries()) {
    const mountField = at(`${field}.volumeMounts`, index);
    errors.push(...validateMount(mount, mountField, volumes));
    const path = textAt(mount, 'mountPath');
    if (paths.has(path)) errors.push(invalid(`${mountField}.mountPath`, path, 'must be unique'));
    paths.add(path);
    errors.push(...validateOverlap(mount, mountField, devices));
    errors.push(...validateMountOptions(mount, `${field}.volumeMounts`, container));
  }
  return [...errors, ...validateDevices(container, `${field}.volumeDevices`, volumes)];
}

function validateMount(
  mount: JsonObject,
  field: string,
  volumes: ReadonlyMap<string, JsonObject>,
): readonly FieldError[] {
  const name = textAt(mount, 'name');
  const errors: FieldError[] = [...requireText(mount, field, 'name')];
  if (!volumes.has(name)) errors.push(notFound(`${field}.name`, name));
  return [...errors, ...requireText(mount, field, 'mountPath')];
}

function validateOverlap(
  mount: JsonObject,
  field: string,
  devices: readonly JsonObject[],
): readonly FieldError[] {
  const [name, path] = [textAt(mount, 'name'), textAt(mount, 'mountPath')];
  const errors: FieldError[] = [];
  if (devices.some((device) => textAt(device, 'name') === name)) {
    errors.push(invalid(`${field}.name`, name, 'must not already exist in volumeDevices'));
  }
  if (devices.some((device) => textAt(device, 'devicePath') === path)) {
    errors.push(
      invalid(`${field}.mountPath`, path, 'must not already exist as a path in volumeDevices'),
    );
  }
  return errors;
}

/** Here the original blames the list, not the mount. */
function validateMountOptions(
  mount: JsonObject,
  field: string,
  container: JsonObject,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const [subPath, expression] = [textAt(mount, 'subPath'), textAt(mount, 'subPathExpr')];
  if (subPath !== '') errors.push(...validateDescendingPath(subPath, `${field}.subPath`));
  if (expression !== '') {
    if (subPath !== '')
      errors.push(
        invalid(
          `${field}.subPathExpr`,
          expression,
          'subPathExpr and subPath are mutually exclusive',
        ),
      );
    errors.push(...validateDescendingPath(expression, `${field}.subPathExpr`));
  }
  const propagation = textAt(mount, 'mountPropagation');
  if (propagation !== '' && !PROPAGATIONS.includes(propagation)) {
    errors.push(notSupported(`${field}.mountPropagation`, propagation, PROPAGATIONS));
  }
  const isPrivileged = objectAt(container, 'securityContext')['privileged'] === true;
  if (propagation === 'Bidirectional' && !isPrivileged) {
    errors.push(
      forbidden(
        `${field}.mountPropagation`,
        'Bidirectional mount propagation is available only to privileged containers',
      ),
    );
  }
  return [...errors, ...validateRecursiveReadOnly(mount, `${field}.recursiveReadOnly`)];
}

function validateRecursiveReadOnly(mount: JsonObject, field: string): readonly FieldError[] {
  const mode = textAt(mount, 'recursiveReadOnly');
  if (mode === '' || mode === 'Disabled') return NO_ERRORS;
  if (!READ_ONLY_MODES.includes(mode)) return [notSupported(field, mode, READ_ONLY_MODES)];
  const errors: FieldError[] = [];
  if (mount['readOnly'] !== true) {
    errors.push(forbidden(field, 'may only be specified when readOnly is true'));
  }
  const propagation = textAt(mount, 'mountPropagation');
  if (propagation !== '' && propagation !== 'None') {
    errors.push(
      forbidden(field, 'may only be specified when mountPropagation is None or not specified'),
    );
  }
  return errors;
}

function validateDevices(
  container: JsonObject,
  field: string,
  volumes: ReadonlyMap<string, JsonObject>,
): readonly FieldError[] {
  const mounts = listAt(container, 'volumeMounts');
  return listAt(container, 'volumeDevices').flatMap((device, index) => {
    const deviceField = at(field, index);
    const [name, path] = [textAt(device, 'name'), textAt(device, 'devicePath')];
    const volume = volumes.get(name);
    const errors: FieldError[] = [...requireText(device, deviceField, 'name')];
    if (volume === undefined) errors.push(notFound(`${deviceField}.name`, name));
    else if (
      optionalObjectAt(volume, 'persistentVolumeClaim') === undefined &&
      optionalObjectAt(volume, 'ephemeral') === undefined
    ) {
      errors.push(
        invalid(
          `${deviceField}.name`,
          name,
          'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
        ),
      );
    }
    errors.push(...requireText(device, deviceField, 'devicePath'));
    errors.push(...validateNoBacksteps(path, `${deviceField}.devicePath`));
    if (mounts.some((mount) => textAt(mount, 'name') === name)) {
      errors.push(invalid(`${deviceField}.name`, name, 'must not already exist in volumeMounts'));
    }
    if (mounts.some((mount) => textAt(mount, 'mountPath') === path)) {
      const detail = 'must not already exist as a path in volumeMounts';
      errors.push(invalid(`${deviceField}.devicePath`, path, detail));
    }
    return errors;
  });
}
