/**
 * Projected volumes: several sources in one directory, no path twice.
 *
 * Only paths that the volume names are compared: a ConfigMap or Secret that is taken whole, and a token, claim none. Some
 * errors blame the volume instead of the source, as the real server's do. A token lives ten minutes at least; whether the
 * pod has an account to get one for is asked for pods alone (pods/validation).
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../../shared/resource.ts';
import { at, forbidden, invalid, required } from '../../shared/field-errors.ts';
import { listAt, numberAt, optionalObjectAt, textAt } from '../../shared/json-edit.ts';
import { validateFilePath } from '../references/path-validation.ts';
import { requireText, validateDownwardFile, validateKeyToPath } from './volume-file-validation.ts';

const KINDS = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken', 'clusterTrustBundle'];
const TOKEN_SECONDS_MIN = 600;
const TOKEN_SECONDS_MAX = 2 ** 32;

/** The list `sources` of the projected volume at `field`. */
export function validateProjectedSources(
  sources: readonly JsonObject[],
  field: string,
): readonly FieldError[] {
  const paths = new Set<string>();
  return sources.flatMap((source, index) => {
    const sourceField = at(`${field}.sources`, index);
    const kinds = KINDS.filter((kind) => optionalObjectAt(source, kind) !== undefined);
    const errors = kinds.flatMap((kind) =>
      validateProjection(optionalObjectAt(source, kind) ?? {}, {
        kind,
        field,
        sourceField: `${sourceField}.${kind}`,
        paths,
      }),
    );
    if (kinds.length > 1) {
      errors.push(forbidden(sourceField, 'may not specify more than 1 volume type per source'));
    }
    return errors;
  });
}

interface Place {
  readonly kind: string;
  /** Of the volume: some errors blame it. */
  readonly field: string;
  readonly sourceField: string;
  /** Taken so far. */
  readonly paths: Set<string>;
}

function validateProjection(source: JsonObject, place: Place): readonly FieldError[] {
  const { kind, field, sourceField, paths } = place;
  switch (kind) {
    case 'secret':
    case 'configMap':
      return [
        ...requireText(source, sourceField, 'name'),
        ...listAt(source, 'items').flatMap((item, index) => [
          ...validateKeyToPath(item, at(`${sourceField}.items`, index)),
          ...claimPath(textAt(item, 'path'), field, paths),
        ]),
      ];
    case 'downwardAPI':
      return listAt(source, 'items').flatMap((file) => [
        ...validateDownwardFile(file, sourceField),
        ...claimPath(textAt(file, 'path'), field, paths),
      ]);
    case 'serviceAccountToken':
      return validateToken(source, place);
    default:
      return [];
  }
}

function validateToken(source: JsonObject, place: Place): readonly FieldError[] {
  const errors: FieldError[] = [];
  const seconds = numberAt(source, 'expirationSeconds') ?? 0;
  if (seconds < TOKEN_SECONDS_MIN || seconds > TOKEN_SECONDS_MAX) {
    const detail = 'may not specify a duration less than 10 minutes or larger than 2^32 seconds';
    errors.push(invalid(`${place.sourceField}.expirationSeconds`, seconds, detail));
  }
  const path = textAt(source, 'path');
  if (path === '') errors.push(required(`${place.field}.path`));
  else errors.push(...validateFilePath(path, `${place.field}.path`));
  return errors;
}

function claimPath(path: string, field: string, paths: Set<string>): readonly FieldError[] {
  if (path === '') return [];
  if (paths.has(path)) return [invalid(field, path, 'conflicting duplicate paths')];
  paths.add(path);
  return [];
}
