/**
 * The selectors of one request as one predicate over objects, with what they say exactly: a name, a node.
 *
 * Parsed once per request. Exact terms let list and watch read an index instead of the whole collection. Field selectors are
 * `a=b`, `a==b`, `a!=b`, joined by commas; metadata.name and metadata.namespace are known for every resource.
 * Differs from Kubernetes: nothing is escaped in the value of a field.
 */
import { isStatus, badRequest } from '../request/statuses.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import type { Resource } from '../../resources/shared/resource.ts';
import type { Status } from '../request/api-request.ts';
import { parseLabelSelector } from './label-selector.ts';
import type { Labels } from './label-selector.ts';

/** What a request selects. */
export interface ObjectSelector {
  readonly matches: (object: ApiObject) => boolean;
  /** Neither labels nor fields are selected. */
  readonly isEmpty: boolean;
  /** `metadata.name=x`. */
  readonly name?: string;
  /** `spec.nodeName=x` on pods. */
  readonly nodeName?: string;
}

interface FieldTerm {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
}

const FIELD_TERM = /^([^=!]*)(==|=|!=)([^=]*)$/;
const EVERYTHING: ObjectSelector = { matches: () => true, isEmpty: true };
const NO_LABELS: Labels = {};
const fieldNamesByResource = new WeakMap<Resource, ReadonlySet<string>>();

/** Reads labelSelector and fieldSelector of a query; 400 when they are malformed or name an unknown field. */
export function parseObjectSelector(
  resource: Resource,
  query: URLSearchParams,
): ObjectSelector | Status {
  const labelText = query.get('labelSelector') ?? '';
  const fieldText = query.get('fieldSelector') ?? '';
  if (labelText === '' && fieldText === '') return EVERYTHING;
  const labels = labelText === '' ? undefined : parseLabelSelector(labelText);
  if (labels?.kind === 'malformed') return badRequest(labels.message);
  const terms = fieldTerms(resource, fieldText);
  if (isStatus(terms)) return terms;
  const predicates = terms.map((term) => predicateOf(resource, term));
  if (labels !== undefined) {
    predicates.push((object) => labels.matches(object.metadata.labels ?? NO_LABELS));
  }
  return {
    matches: conjunction(predicates),
    isEmpty: predicates.length === 0,
    ...indexedTerms(resource, terms),
  };
}

function conjunction(
  predicates: readonly ((object: ApiObject) => boolean)[],
): (object: ApiObject) => boolean {
  const [only] = predicates;
  if (only !== undefined && predicates.length === 1) return only;
  return (object) => predicates.every((isMet) => isMet(object));
}

function indexedTerms(
  resource: Resource,
  terms: readonly FieldTerm[],
): Pick<ObjectSelector, 'name' | 'nodeName'> {
  const name = exactValue(terms, 'metadata.name');
  const nodeName =
    resource.resourceName === 'pods' ? exactValue(terms, 'spec.nodeName') : undefined;
  return {
    ...(name === undefined ? {} : { name }),
    ...(nodeName === undefined || nodeName === '' ? {} : { nodeName }),
  };
}

function fieldTerms(resource: Resource, text: string): readonly FieldTerm[] | Status {
  const known = fieldNamesOf(resource);
  const terms: FieldTerm[] = [];
  for (const part of text.split(',').filter((each) => each !== '')) {
    const [, field, operator, value = ''] = FIELD_TERM.exec(part) ?? [];
    if (field === undefined) {
      return badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    }
    if (!known.has(field)) return badRequest(`field label not supported: ${field}`);
    terms.push({ field, isEqual: operator !== '!=', value });
  }
  return terms;
}

/** The resource's rule is asked about an empty object, for the names alone. */
function fieldNamesOf(resource: Resource): ReadonlySet<string> {
  let names = fieldNamesByResource.get(resource);
  if (names === undefined) {
    const empty: ApiObject = {
      apiVersion: '',
      kind: resource.kind,
      metadata: { name: '', uid: '', resourceVersion: '', creationTimestamp: '' },
    };
    names = new Set([
      'metadata.name',
      // Nodes and namespaces, alone, do not know it: the core group lists its fields itself.
      ...(resource.isNamespaced || resource.group !== '' ? ['metadata.namespace'] : []),
      ...Object.keys(resource.selectableFields(empty)),
    ]);
    fieldNamesByResource.set(resource, names);
  }
  return names;
}

function predicateOf(
  resource: Resource,
  { field, isEqual, value }: FieldTerm,
): (object: ApiObject) => boolean {
  if (field === 'metadata.name') return (object) => (object.metadata.name === value) === isEqual;
  if (field === 'metadata.namespace') {
    return (object) => ((object.metadata.namespace ?? '') === value) === isEqual;
  }
  return (object) => ((resource.selectableFields(object)[field] ?? '') === value) === isEqual;
}

function exactValue(terms: readonly FieldTerm[], field: string): string | undefined {
  return terms.find((term) => term.isEqual && term.field === field)?.value;
}
