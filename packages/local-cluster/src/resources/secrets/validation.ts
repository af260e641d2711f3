/**
 * Validation of Secrets: keys and size, and what the well-known types must hold.
 *
 * A mebibyte of decoded data at most. The type is immutable; data too, once the Secret says so. Of a type that is not
 * well-known nothing is demanded. No value of a Secret appears in an error. That base64 is base64 has been checked when
 * the body was decoded; whether certificates and keys are any is not looked at.
 */
import { Buffer } from 'node:buffer';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import type { FieldError } from '../shared/resource.ts';
import {
  decodedLength,
  validateDataKeys,
  validateImmutableData,
} from '../shared/data-validation.ts';
import { invalid, NO_ERRORS, required, tooLong } from '../shared/field-errors.ts';
import { objectAt, textAt, textEntriesAt } from '../shared/json-edit.ts';
import {
  NAMESPACED_OBJECT,
  validateCoreMetadataUpdate,
  validateMetadata,
} from '../shared/metadata-validation.ts';

const BYTES_MAX = 1024 * 1024;
const ACCOUNT_ANNOTATION = 'kubernetes.io/service-account.name';

/** A new Secret. */
export function validateSecret(object: ApiObject): readonly FieldError[] {
  const errors: FieldError[] = [...validateMetadata(object, NAMESPACED_OBJECT)];
  let bytes = 0;
  for (const [key, value] of textEntriesAt(object, 'data')) {
    errors.push(...validateDataKeys('data', [key]));
    bytes += decodedLength(value);
  }
  if (bytes > BYTES_MAX) errors.push(tooLong('data', BYTES_MAX));
  return [...errors, ...validateType(object)];
}

/** A changed Secret. */
export function validateSecretUpdate(next: ApiObject, current: ApiObject): readonly FieldError[] {
  const errors: FieldError[] = [...validateCoreMetadataUpdate(next, current)];
  if (textAt(next, 'type') !== textAt(current, 'type')) {
    errors.push(invalid('type', textAt(next, 'type'), 'field is immutable'));
  }
  errors.push(...validateImmutableData({ next, current, keys: ['data'] }));
  return [...errors, ...validateSecret(next)];
}

function validateType(object: ApiObject): readonly FieldError[] {
  const data = objectAt(object, 'data');
  const missing = (keys: readonly string[]): readonly FieldError[] =>
    keys.filter((key) => data[key] === undefined).map((key) => required(`data[${key}]`));
  switch (textAt(object, 'type')) {
    case 'kubernetes.io/service-account-token': {
      if (textAt(objectAt(object.metadata, 'annotations'), ACCOUNT_ANNOTATION) !== '') return [];
      return [required(`metadata.annotations[${ACCOUNT_ANNOTATION}]`)];
    }
    case 'kubernetes.io/dockercfg':
      return validateJsonKey(object, '.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return validateJsonKey(object, '.dockerconfigjson');
    case 'kubernetes.io/basic-auth': {
      const absent = missing(['username', 'password']);
      return absent.length === 2 ? absent : NO_ERRORS;
    }
    case 'kubernetes.io/ssh-auth':
      return textAt(data, 'ssh-privatekey') === '' ? [required('data[ssh-privatekey]')] : NO_ERRORS;
    case 'kubernetes.io/tls':
      return missing(['tls.crt', 'tls.key']);
    default:
      return NO_ERRORS;
  }
}

function validateJsonKey(object: ApiObject, key: string): readonly FieldError[] {
  const value = objectAt(object, 'data')[key];
  if (typeof value !== 'string') return [required(`data[${key}]`)];
  try {
    const content: unknown = JSON.parse(Buffer.from(value, 'base64').toString('utf8'));
    if (content === null || isJsonObject(content)) return NO_ERRORS;
    return [invalid(`data[${key}]`, '<secret contents redacted>', 'not a JSON object')];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return [invalid(`data[${key}]`, '<secret contents redacted>', error.message)];
  }
}
