/**
 * Environment variables of containers, one by one (`env`) and by the map (`envFrom`).
 *
 * A variable has a value or exactly one source. Names may be anything printable without `=`. Whether a ConfigMap,
 * Secret or key exists is not asked here: the node agent does, when it creates the container (spec node-agent 5). The
 * same name twice is no error; it is warned of.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../../shared/resource.ts';
import { at, invalid, invalidText, NO_ERRORS, required } from '../../shared/field-errors.ts';
import { optionalObjectAt, textAt } from '../../shared/json-edit.ts';
import { checkDataKey, checkSubdomain, checkVariableName } from '../../shared/names.ts';
import {
  validateFieldReference,
  validateResourceReference,
  VARIABLE_PATHS,
} from '../references/field-reference-validation.ts';

const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];

/** The list `env` at `field`. */
export function validateEnv(env: readonly JsonObject[], field: string): readonly FieldError[] {
  if (env.length === 0) return NO_ERRORS;
  return env.flatMap((variable, index) => {
    const variableField = at(field, index);
    const name = textAt(variable, 'name');
    const nameErrors =
      name === ''
        ? [required(`${variableField}.name`)]
        : invalidText(`${variableField}.name`, name, checkVariableName(name));
    return [...nameErrors, ...validateSource(variable, `${variableField}.valueFrom`)];
  });
}

function validateSource(variable: JsonObject, field: string): readonly FieldError[] {
  const source = optionalObjectAt(variable, 'valueFrom');
  if (source === undefined) return NO_ERRORS;
  const errors: FieldError[] = [];
  let count = 0;
  for (const kind of SOURCES) {
    const reference = optionalObjectAt(source, kind);
    if (reference === undefined) continue;
    count += 1;
    errors.push(...validateReference(reference, kind, `${field}.${kind}`));
  }
  if (count === 0) errors.push(invalid(field, '', 'must specify one of the sources'));
  else if (textAt(variable, 'value') !== '') {
    errors.push(invalid(field, '', 'may not be specified when `value` is not empty'));
  } else if (count > 1) {
    errors.push(invalid(field, '', 'may not have more than one field specified at a time'));
  }
  return errors;
}

function validateReference(
  reference: JsonObject,
  kind: string,
  field: string,
): readonly FieldError[] {
  switch (kind) {
    case 'fieldRef':
      return validateFieldReference(reference, field, VARIABLE_PATHS);
    case 'resourceFieldRef':
      return validateResourceReference(reference, field, 'variable');
    case 'fileKeyRef':
      return ['volumeName', 'path', 'key']
        .filter((key) => textAt(reference, key) === '')
        .map((key) => required(`${field}.${key}`));
    default:
      return validateKeyReference(reference, field);
  }
}

function validateKeyReference(reference: JsonObject, field: string): readonly FieldError[] {
  const [name, key] = [textAt(reference, 'name'), textAt(reference, 'key')];
  const errors: FieldError[] = [...invalidText(`${field}.name`, name, checkSubdomain(name))];
  if (key === '') errors.push(required(`${field}.key`));
  else errors.push(...invalidText(`${field}.key`, key, checkDataKey(key)));
  return errors;
}

/** The list `envFrom` at `field`. */
export function validateEnvFrom(
  sources: readonly JsonObject[],
  field: string,
): readonly FieldError[] {
  if (sources.length === 0) return NO_ERRORS;
  return sources.flatMap((source, index) => {
    const sourceField = at(field, index);
    const prefix = textAt(source, 'prefix');
    const errors: FieldError[] = [
      ...invalidText(`${sourceField}.prefix`, prefix, checkVariableName(prefix)),
    ];
    const kinds = ['configMapRef', 'secretRef'].filter(
      (it) => optionalObjectAt(source, it) !== undefined,
    );
    for (const kind of kinds) {
      const name = textAt(optionalObjectAt(source, kind) ?? {}, 'name');
      const nameField = `${sourceField}.${kind}.name`;
      if (name === '') errors.push(required(nameField));
      else errors.push(...invalidText(nameField, name, checkSubdomain(name)));
    }
    // These two blame the whole list.
    if (kinds.length === 0) {
      errors.push(invalid(field, '', 'must specify one of: `configMapRef` or `secretRef`'));
    } else if (kinds.length > 1) {
      errors.push(invalid(field, '', 'may not have more than one field specified at a time'));
    }
    return errors;
  });
}
