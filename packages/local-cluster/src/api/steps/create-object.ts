/**
 * Creates an object from a decoded one: by POST, and by a PUT of what does not exist where that is allowed.
 *
 * Order: system fields of the client dropped → namespace → defaults → namespace lifecycle → admission → name, UID,
 * creation time → prepareForCreate → validation → refusing admission → store. A dry run goes the same way and stores nothing.
 */
import type { Json } from '@rollcall/base/json.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { ApiObject, Metadata } from '../../objects/api-object.ts';
import type { Refusal, Resource, RuleContext } from '../../resources/shared/resource.ts';
import type { Status } from '../request/api-request.ts';
import { inRequestNamespace } from './decode-body.ts';
import { namespaceRefusal } from './namespace-lifecycle.ts';
import { ownersOfUpdate, withOwners } from './object-owners.ts';
import { refIn, ruleContext } from './resource-call.ts';
import type { ResourceCall } from './resource-call.ts';
import { alreadyExists, internal, invalid, isStatus, refusalStatus } from '../request/statuses.ts';
import { kindSubject, resourceSubject } from '../request/status-subject.ts';

/** As often is a generated name tried. */
const NAME_ATTEMPTS_MAX = 8;

/** How an object is created. */
export interface CreateOptions {
  readonly isDryRun: boolean;
  /** Of an apply; otherwise the creator owns all of it, where owners are kept. */
  readonly managedFields?: Json | undefined;
  /** Told of the object when the rules are content, even if its name turns out to be taken. */
  readonly onValid?: (object: ApiObject) => void;
}

/** Creates it; the object as stored (without a resourceVersion when dry), or why not. */
export function createObject(
  call: ResourceCall,
  decoded: ApiObject,
  { isDryRun, onValid, managedFields }: CreateOptions,
): ApiObject | Status {
  const { resource, services } = call;
  const placed = inRequestNamespace(call, withoutSystemFields(decoded));
  if (isStatus(placed)) return placed;
  const context = ruleContext(services);
  const givenName = (placed.metadata as Partial<Metadata>).name ?? '';
  const lifecycle = namespaceRefusal(call, givenName);
  if (lifecycle !== undefined) return lifecycle;
  const admitted = admittedObject(call, placed, context);
  if (isRefusal(admitted)) return refusalStatus(admitted, resourceSubject(resource, givenName));

  const named = withIdentity(call, admitted, context.nowText);
  const prepared = resource.rules.prepareForCreate(named, context);
  const { name } = prepared.metadata;
  const refusal = ruleRefusal(resource, prepared, { context, givenName });
  if (refusal !== undefined) return refusal;
  onValid?.(prepared);
  const isGenerated = givenName === '';
  const conflict = versionRefusal(decoded) ?? existenceRefusal(call, name, { isGenerated });
  if (conflict !== undefined) return conflict;
  const owned = createdBy(call, prepared, managedFields);
  return isDryRun ? owned : services.store.insert(resource.resourceName, owned);
}

function createdBy(
  call: ResourceCall,
  prepared: ApiObject,
  managedFields: Json | undefined,
): ApiObject {
  return withOwners(prepared, managedFields ?? ownersOfUpdate(call, undefined, prepared));
}

function admittedObject(
  { resource }: ResourceCall,
  placed: ApiObject,
  context: RuleContext,
): ApiObject | Refusal {
  const defaulted = resource.rules.applyDefaults(placed);
  return resource.rules.admit?.(defaulted, context) ?? defaulted;
}

function ruleRefusal(
  resource: Resource,
  prepared: ApiObject,
  { context, givenName }: { readonly context: RuleContext; readonly givenName: string },
): Status | undefined {
  const errors = resource.rules.validateCreate(prepared);
  if (errors.length > 0) return invalid(kindSubject(resource, prepared.metadata.name), errors);
  const refused = resource.rules.refuse?.(prepared, context);
  return refused === undefined
    ? undefined
    : refusalStatus(refused, resourceSubject(resource, givenName));
}

function versionRefusal(decoded: ApiObject): Status | undefined {
  const { resourceVersion = '' } = decoded.metadata as Partial<Metadata>;
  // What is no version at all is overwritten like any other.
  if (!/^\d+$/.test(resourceVersion) || /^0+$/.test(resourceVersion)) return undefined;
  return internal('resourceVersion should not be set on objects to be created');
}

function existenceRefusal(
  call: ResourceCall,
  name: string,
  { isGenerated }: { readonly isGenerated: boolean },
): Status | undefined {
  const existing = call.services.store.get(refIn(call, name));
  if (existing === undefined) return undefined;
  const isDeleting = existing.metadata.deletionTimestamp !== undefined;
  return alreadyExists(call.resource, name, { isDeleting, isGenerated });
}

function isRefusal(value: ApiObject | Refusal): value is Refusal {
  return typeof (value as Partial<Refusal>).code === 'number' && !('metadata' in value);
}

/** Also managedFields: who owns what the server says. */
function withoutSystemFields(object: ApiObject): ApiObject {
  const {
    uid: _uid,
    resourceVersion: _resourceVersion,
    creationTimestamp: _creationTimestamp,
    deletionTimestamp: _deletionTimestamp,
    deletionGracePeriodSeconds: _deletionGracePeriodSeconds,
    managedFields: _managedFields,
    selfLink: _selfLink,
    ...metadata
  } = object.metadata;
  return { ...object, metadata } as ApiObject; // name and the rest follow in withIdentity
}

function withIdentity(call: ResourceCall, object: ApiObject, nowText: string): ApiObject {
  const { random } = call.services;
  const { metadata } = object;
  const name = (metadata as Partial<Metadata>).name ?? '';
  const chosen = name === '' ? freeName(call, metadata.generateName ?? '') : name;
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(chosen === '' ? {} : { name: chosen }),
      uid: generateUid(random),
      creationTimestamp: nowText,
    },
  };
}

/** A generated name that is free, or after eight attempts one that is taken; '' without a prefix. */
function freeName(call: ResourceCall, prefix: string): string {
  if (prefix === '') return '';
  let name = '';
  for (let attempt = 0; attempt < NAME_ATTEMPTS_MAX; attempt += 1) {
    name = generateName(call.services.random, prefix);
    if (call.services.store.get(refIn(call, name)) === undefined) return name;
  }
  return name;
}

/** No vowels, no digits that look like letters: generated names form no words. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const BASE_LENGTH_MAX = 63 - SUFFIX_LENGTH;

/** A name from a prefix: cut so that with five random characters it has 63 at most. */
function generateName(random: Random, prefix: string): string {
  let name = prefix.slice(0, BASE_LENGTH_MAX);
  for (let index = 0; index < SUFFIX_LENGTH; index += 1) {
    name += ALPHABET.charAt(Math.floor(random.next() * ALPHABET.length));
  }
  return name;
}

/** A version 4 UUID. */
function generateUid(random: Random): string {
  const words = [0, 0, 0, 0].map(() => Math.floor(random.next() * 2 ** 32));
  const hex = words.map((word) => word.toString(16).padStart(8, '0')).join('');
  const variant = (8 + (Number.parseInt(hex.charAt(16), 16) % 4)).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}
