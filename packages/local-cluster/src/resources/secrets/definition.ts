/**
 * Secrets: base64 data by key, of a type that never changes; stringData is folded into data as it arrives.
 *
 * stringData wins over data of the same key and is never shown again. Without a type it is Opaque. Values are kept as
 * they were sent, in the store and in the journal of `--data`: nothing is encrypted, as in a real cluster without an
 * encryption configuration.
 */
import { Buffer } from 'node:buffer';
import type { Json } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { defineResource } from '../shared/define-resource.ts';
import type { Resource } from '../shared/resource.ts';
import {
  isPresent,
  objectAt,
  textAt,
  textEntriesAt,
  withDefaults,
  withMember,
  withoutMember,
} from '../shared/json-edit.ts';
import { validateSecret, validateSecretUpdate } from './validation.ts';

/** secrets. */
export const SECRETS: Resource = defineResource({
  group: '',
  plural: 'secrets',
  singular: 'secret',
  kind: 'Secret',
  isNamespaced: true,
  rules: {
    applyDefaults,
    validateCreate: validateSecret,
    validateUpdate: validateSecretUpdate,
  },
  selectableFields: (object) => ({ type: textAt(object, 'type') }),
});

function applyDefaults(object: ApiObject): ApiObject {
  return withDefaults(foldStringData(object), { type: 'Opaque' });
}

function foldStringData(object: ApiObject): ApiObject {
  if (!isPresent(object, 'stringData')) return object;
  const data: Record<string, Json | undefined> = { ...objectAt(object, 'data') };
  for (const [key, text] of textEntriesAt(object, 'stringData')) {
    data[key] = Buffer.from(text, 'utf8').toString('base64');
  }
  const folded = withoutMember(object, 'stringData');
  return Object.keys(data).length === 0 ? folded : withMember(folded, 'data', data);
}
