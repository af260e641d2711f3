/**
 * Makes the steps of an episode from a seed: the same numbers, the same steps, whatever the servers answer.
 *
 * An episode first makes two namespaces with their service accounts, which a loop would do in a whole cluster; then
 * come random steps. It is independent of all other episodes: its prefix is part of every name that it shares with them.
 */
import { createSeeded, type Seeded } from '../../scenarios/seeded.ts';
import type { Step } from '../step.ts';
import { COLLECTIONS, pathOf, VERBS, type Collection, type ComparedVerb } from '../surface.ts';
import type { Draft, StepBuilder } from './episode-context.ts';
import { accessReview, discovery, otherUser } from './others.ts';
import { patchJson, patchMerge, patchStatus, patchStrategic } from './patches.ts';
import {
  get,
  getMetadata,
  getTable,
  list,
  listMetadata,
  listPages,
  listSelectors,
  listTable,
  watch,
  watchExpired,
  watchInitial,
} from './reads.ts';
import {
  create,
  createDryRun,
  createFieldValidation,
  createGenerateName,
  evict,
  remove,
  removeCollection,
  update,
  updateStatus,
} from './writes.ts';

export interface EpisodeRequest {
  readonly seed: number;
  readonly index: number;
  /** Part of every name; no effect on choices. */
  readonly prefix: string;
  readonly stepsCount: number;
}

const BUILDERS: Readonly<Record<ComparedVerb, StepBuilder>> = {
  create,
  'create dry-run': createDryRun,
  'create generateName': createGenerateName,
  'create fieldValidation': createFieldValidation,
  get,
  'get table': getTable,
  'get metadata': getMetadata,
  list,
  'list selectors': listSelectors,
  'list pages': listPages,
  'list table': listTable,
  'list metadata': listMetadata,
  watch,
  'watch initial': watchInitial,
  'watch expired': watchExpired,
  update,
  'update status': updateStatus,
  'patch json': patchJson,
  'patch merge': patchMerge,
  'patch strategic': patchStrategic,
  'patch status': patchStatus,
  delete: remove,
  deletecollection: removeCollection,
  eviction: evict,
  discovery,
  'access review': accessReview,
  'other user': otherUser,
};

const VERB_NAMES = Object.keys(VERBS) as ComparedVerb[];

/** Makes the steps. */
export function generateEpisode(request: EpisodeRequest): Step[] {
  const { prefix, stepsCount } = request;
  // A large odd factor keeps episodes of neighbouring seeds apart.
  const seeded = createSeeded(request.seed * 1_000_003 + request.index);
  const steps: Step[] = [];
  const add = (verb: ComparedVerb, resource: string, draft: Draft): void => {
    steps.push({ id: steps.length, verb, resource, ...draft });
  };
  for (const name of [`${prefix}-a`, `${prefix}-b`]) {
    add('create', 'namespaces', makeNamespace(name, prefix));
    add('create', 'serviceaccounts', makeServiceAccount(name));
  }
  while (steps.length < stepsCount) {
    const verb = pickWeighted(seeded, VERB_NAMES, (name) => VERBS[name]);
    const collection = pickWeighted(seeded, collectionsFor(verb), (one) => one.weight);
    const drafts = BUILDERS[verb]({ seeded, prefix, nextId: steps.length }, collection);
    for (const draft of drafts) add(verb, draft.resource ?? collection.plural, draft);
  }
  return steps;
}

function collectionsFor(verb: ComparedVerb): readonly Collection[] {
  const isWithStatus = verb.endsWith(' status');
  const isOfPods = verb === 'eviction';
  return COLLECTIONS.filter(
    (one) => (!isWithStatus || one.hasStatus) && (!isOfPods || one.plural === 'pods'),
  );
}

function pickWeighted<Item>(
  seeded: Seeded,
  items: readonly Item[],
  weightOf: (item: Item) => number,
): Item {
  const total = items.reduce((sum, item) => sum + weightOf(item), 0);
  let rest = seeded.next() * total;
  for (const item of items) {
    rest -= weightOf(item);
    if (rest < 0) return item;
  }
  return seeded.pick(items);
}

function makeNamespace(name: string, prefix: string): Draft {
  return {
    note: 'a namespace of the episode',
    actor: 'admin',
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { kind: 'literal', value: { metadata: { name, labels: { emulator: prefix } } } },
  };
}

function makeServiceAccount(namespace: string): Draft {
  return {
    note: 'its service account',
    actor: 'admin',
    method: 'POST',
    path: pathOf({ group: '', version: 'v1', plural: 'serviceaccounts' }, { namespace }),
    body: { kind: 'literal', value: { metadata: { name: 'default' } } },
  };
}
