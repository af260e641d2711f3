/**
 * ConfigMaps: texts and base64 data by key, a mebibyte in all, immutable once they say so.
 *
 * Sizes are counted in bytes of what a file would hold: UTF-8 of a text, the decoded length of base64 data. That base64
 * is base64 has been checked when the body was decoded. Whether a pod refers to it plays no part: it can always be
 * deleted.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { defineResource } from '../shared/define-resource.ts';
import type { FieldError, Resource } from '../shared/resource.ts';
import {
  decodedLength,
  validateDataKeys,
  validateImmutableData,
} from '../shared/data-validation.ts';
import { invalid, tooLong } from '../shared/field-errors.ts';
import { objectAt, textEntriesAt } from '../shared/json-edit.ts';
import {
  NAMESPACED_OBJECT,
  validateCoreMetadataUpdate,
  validateMetadata,
} from '../shared/metadata-validation.ts';

const BYTES_MAX = 1024 * 1024;

/** configmaps. */
export const CONFIG_MAPS: Resource = defineResource({
  group: '',
  plural: 'configmaps',
  singular: 'configmap',
  kind: 'ConfigMap',
  shortNames: ['cm'],
  isNamespaced: true,
  rules: {
    validateCreate: validate,
    validateUpdate: (next, current) => [
      ...validateCoreMetadataUpdate(next, current),
      ...validateImmutableData({ next, current, keys: ['data', 'binaryData'] }),
      ...validate(next),
    ],
  },
});

function validate(object: ApiObject): readonly FieldError[] {
  const binary = objectAt(object, 'binaryData');
  const errors: FieldError[] = [...validateMetadata(object, NAMESPACED_OBJECT)];
  let bytes = 0;
  for (const [key, value] of textEntriesAt(object, 'data')) {
    errors.push(...validateDataKeys('data', [key]));
    if (binary[key] !== undefined) {
      errors.push(invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    }
    bytes += Buffer.byteLength(value);
  }
  for (const [key, value] of textEntriesAt(object, 'binaryData')) {
    errors.push(...validateDataKeys('binaryData', [key]));
    bytes += decodedLength(value);
  }
  // The original blames the whole object; this is how an empty path is printed.
  if (bytes > BYTES_MAX) errors.push(tooLong('[]', BYTES_MAX));
  return errors;
}
