/**
 * In which form an answer is wanted: whole objects, their metadata, or a table (the Accept header).
 *
 * The first acceptable media range wins, as on the real server; quality factors are not read. Differs from Kubernetes:
 * JSON is the only encoding.
 */
import { notAcceptable } from './statuses.ts';
import type { Status } from './api-request.ts';

/** How objects are rendered. */
export interface OutputForm {
  readonly as: 'object' | 'table' | 'metadata' | 'metadataList';
  /** `v1` or `v1beta1` of meta.k8s.io. */
  readonly version: string;
  /** No Accept header at all: a caller in the same process, whose lists keep kind and apiVersion in their items. */
  readonly isInProcess: boolean;
}

const IN_PROCESS: OutputForm = { as: 'object', version: 'v1', isInProcess: true };
const WHOLE: OutputForm = { as: 'object', version: 'v1', isInProcess: false };
const JSON_TYPES = new Set(['application/json', '*/*']);
const FORMS: Readonly<Record<string, OutputForm['as']>> = {
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadataList',
};
const KNOWN_MAX = 64;
const known = new Map<string, OutputForm | Status>();

/** Reads an Accept header; 406 when nothing in it can be given. */
export function parseOutputForm(accept: string | undefined): OutputForm | Status {
  if (accept === undefined) return IN_PROCESS;
  const remembered = known.get(accept);
  if (remembered !== undefined) return remembered;
  const form = formOf(accept);
  if (known.size < KNOWN_MAX) known.set(accept, form);
  return form;
}

function formOf(accept: string): OutputForm | Status {
  let why: 'mediaType' | 'form' = 'mediaType';
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (!JSON_TYPES.has(type.toLowerCase())) continue;
    why = 'form';
    const values = new Map(
      parameters.map((parameter): [string, string] => {
        const [key = '', value = ''] = parameter.split('=');
        return [key, value];
      }),
    );
    const as = values.get('as');
    if (as === undefined) return WHOLE;
    const form = FORMS[as];
    const version = values.get('v') ?? '';
    const isKnownVersion = version === 'v1' || version === 'v1beta1';
    if (form !== undefined && isKnownVersion && values.get('g') === 'meta.k8s.io') {
      return { as: form, version, isInProcess: false };
    }
  }
  return notAcceptable(why);
}
