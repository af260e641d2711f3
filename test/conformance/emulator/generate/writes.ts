/**
 * Steps that create, replace and delete.
 */
import type { Json } from '@rollcall/base/json.ts';
import { applyChanges } from '../changes.ts';
import type { Change } from '../step.ts';
import {
  collectionPathOf,
  describeChanges,
  makeBody,
  objectPath,
  pickChanges,
  pickPlace,
} from './episode-context.ts';
import type { EpisodeContext, Place, StepBuilder } from './episode-context.ts';

/** POST of a valid body, or of one with changes. */
export const create: StepBuilder = (context, collection) => {
  const place = pickPlace(context, collection);
  const changes =
    context.seeded.next() < 0.45 ? [] : pickChanges(context, place, { countMax: 2, of: 'object' });
  return [
    {
      ...common,
      note: `create ${describeChanges(changes)}`,
      method: 'POST',
      path: collectionPathOf(place),
      body: literal(applyChanges(makeBody(context, place), changes)),
    },
  ];
};

/** POST with dryRun. */
export const createDryRun: StepBuilder = (context, collection) => {
  const place = pickPlace(context, collection);
  const mode = context.seeded.pick(['All', 'All', 'All', 'Odd', '']);
  return [
    {
      ...common,
      note: `dry run ${mode}`,
      method: 'POST',
      path: `${collectionPathOf(place)}?dryRun=${mode}`,
      body: literal(makeBody(context, place)),
    },
  ];
};

/** POST with generateName, then GET of what came of it. */
export const createGenerateName: StepBuilder = (context, collection) => {
  const place = pickPlace(context, collection);
  // A prefix of its own: how two random suffixes sort would be chance.
  const stem = `gen-${context.nextId}`;
  const generateName = context.seeded.pick([
    `${context.prefix}-${stem}-`,
    `${context.prefix}.${stem}.`,
    'Bad_',
  ]);
  const body = applyChanges(makeBody(context, place), [
    { path: 'metadata.name', value: undefined },
    { path: 'metadata.generateName', value: generateName },
  ]);
  const made = { ...place.identity, name: `{{name ${context.nextId}}}` };
  return [
    {
      ...common,
      note: `generateName ${generateName}`,
      method: 'POST',
      path: collectionPathOf(place),
      body: literal(body),
    },
    {
      ...common,
      note: 'get what was generated',
      method: 'GET',
      path: objectPath({ ...place, identity: made }),
    },
  ];
};

/** POST, PUT or PATCH of unknown fields under each fieldValidation. */
export const createFieldValidation: StepBuilder = (context, collection) => {
  const place = pickPlace(context, collection);
  const mode = context.seeded.pick(['Strict', 'Strict', 'Warn', 'Ignore', 'Odd']);
  const unknown: Change[] = [
    {
      path: context.seeded.pick(['unknownMember', 'metadata.unknownMember', 'spec.unknownMember']),
      value: 1,
    },
    ...(context.seeded.next() < 0.5
      ? pickChanges(context, place, { countMax: 2, of: 'object' })
      : []),
  ];
  const isCreation = context.seeded.next() < 0.6;
  const query = `?fieldValidation=${mode}`;
  if (!isCreation) {
    return [
      {
        ...common,
        note: `patch, ${mode} ${describeChanges(unknown)}`,
        method: 'PATCH',
        path: `${objectPath(place)}${query}`,
        contentType: 'application/merge-patch+json',
        body: literal(applyChanges({}, unknown)),
      },
    ];
  }
  return [
    {
      ...common,
      note: `create, ${mode} ${describeChanges(unknown)}`,
      method: 'POST',
      path: `${collectionPathOf(place)}${query}`,
      body: literal(applyChanges(makeBody(context, place), unknown)),
    },
  ];
};

/** PUT of the stored object with changes, under several versions and UIDs. */
export const update: StepBuilder = (context, collection) =>
  put(context, pickPlace(context, collection), 'update');

/** PUT of /status. */
export const updateStatus: StepBuilder = (context, collection) =>
  put(context, pickPlace(context, collection), 'status');

function put(
  context: EpisodeContext,
  place: Place,
  of: 'update' | 'status',
): ReturnType<StepBuilder> {
  const { seeded } = context;
  const changes = seeded.next() < 0.15 ? [] : pickChanges(context, place, { countMax: 2, of });
  const fence = seeded.pick(fencesFor(place));
  const fallback = makeBody(context, place);
  return [
    {
      ...common,
      note: `update ${describeChanges([...changes, ...fence])}`,
      method: 'PUT',
      path: objectPath(place, of === 'status' ? 'status' : undefined),
      body:
        seeded.next() < 0.85 || place.collection.plural === 'pods'
          ? { kind: 'stored', key: place.key, fallback, changes: [...changes, ...fence] }
          : literal(applyChanges(fallback, changes)),
    },
  ];
}

/** As stored; unconditional; stale; of another object. The first is the most common. */
function fencesFor(place: Place): readonly (readonly Change[])[] {
  return [
    [],
    [],
    [],
    [],
    [{ path: 'metadata.resourceVersion', value: undefined }],
    [{ path: 'metadata.resourceVersion', value: undefined }],
    [{ path: 'metadata.resourceVersion', value: `{{former ${place.key}}}` }],
    [{ path: 'metadata.uid', value: undefined }],
    [{ path: 'metadata.uid', value: 'another-uid' }],
  ];
}

/** DELETE with every kind of option. */
export const remove: StepBuilder = (context, collection) => {
  const place = pickPlace(context, collection);
  const options = context.seeded.pick(deletionsOf(place));
  return [
    {
      ...common,
      note: `delete ${JSON.stringify(options)}`,
      method: 'DELETE',
      path: `${objectPath(place)}${options.query ?? ''}`,
      ...(options.body === undefined ? {} : { body: literal(options.body) }),
    },
  ];
};

interface Deletion {
  readonly query?: string;
  readonly body?: Json;
}

function deletionsOf(place: Place): readonly Deletion[] {
  const uid = `{{uid ${place.key}}}`;
  const resourceVersion = `{{version ${place.key}}}`;
  return [
    {},
    {},
    {},
    { query: '?gracePeriodSeconds=0' },
    { query: '?propagationPolicy=Background' },
    { query: '?propagationPolicy=Orphan' },
    { query: '?dryRun=All' },
    { query: '?gracePeriodSeconds=-1' },
    { query: '?gracePeriodSeconds=soon' },
    { body: {} },
    { body: { kind: 'DeleteOptions', apiVersion: 'v1' } },
    { body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 } },
    { body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 7 } },
    { body: { gracePeriodSeconds: -7 } },
    { body: { gracePeriodSeconds: 0, preconditions: { uid } } },
    { body: { preconditions: { uid } } },
    { body: { preconditions: { uid: 'another-uid' } } },
    { body: { preconditions: { uid, resourceVersion } } },
    { body: { preconditions: { resourceVersion: `{{former ${place.key}}}` } } },
    { body: { propagationPolicy: 'Background' } },
    { body: { propagationPolicy: 'Foreground' } },
    { body: { propagationPolicy: 'Orphan' } },
    { body: { propagationPolicy: 'Odd' } },
    { body: { dryRun: ['All'] } },
    { body: { dryRun: ['Odd'] } },
    { body: { kind: 'Pod', apiVersion: 'v1' } },
    { body: { gracePeriodSeconds: 'soon' } },
    { body: { unknownMember: 1 } },
  ];
}

/** DELETE of a collection, by label where it is cluster-scoped. */
export const removeCollection: StepBuilder = (context, collection) => {
  const { seeded, prefix } = context;
  const place = pickPlace(context, collection);
  const selector = seeded.pick([
    `labelSelector=emulator%3D${prefix},tier%3Dfront`,
    `labelSelector=emulator%3D${prefix}`,
    `labelSelector=emulator%3D${prefix}&fieldSelector=metadata.name%3Done`,
    `labelSelector=emulator%3D${prefix}&dryRun=All`,
    `labelSelector=emulator%3D${prefix}&gracePeriodSeconds=0`,
    `labelSelector=emulator%3D${prefix},bad%20selector!`,
  ]);
  return [
    {
      ...common,
      note: `delete collection ${selector}`,
      method: 'DELETE',
      path: `${collectionPathOf(place)}?${selector}`,
      settleMs: CACHE_LAG_MS,
    },
  ];
};

/** POST of an Eviction. */
export const evict: StepBuilder = (context, collection) => {
  const place = pickPlace(context, collection);
  const { name, namespace = '' } = place.identity;
  const body = context.seeded.pick<Json>([
    { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } },
    { metadata: { name }, deleteOptions: { gracePeriodSeconds: 3 } },
    { metadata: { name }, deleteOptions: { preconditions: { uid: 'another-uid' } } },
    { metadata: { name }, deleteOptions: { dryRun: ['All'] } },
    { metadata: { name: 'another-name' } },
    {},
  ]);
  return [
    {
      ...common,
      note: `evict ${JSON.stringify(body)}`,
      method: 'POST',
      path: objectPath(place, 'eviction'),
      body: literal(body),
    },
  ];
};

/** How long a list from the real server's cache may lag behind a write. */
export const CACHE_LAG_MS = 30;

const common = { actor: 'admin' } as const;

function literal(value: Json): { readonly kind: 'literal'; readonly value: Json } {
  return { kind: 'literal', value };
}
