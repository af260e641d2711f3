/**
 * Steps that patch, in the three formats, on the object and on its status.
 */
import type { Json } from '@rollcall/base/json.ts';
import { applyChanges, asJsonPatch, asMergePatch, asStrategicPatch } from '../changes.ts';
import type { Change } from '../step.ts';
import {
  describeChanges,
  makeBody,
  objectPath,
  pickChanges,
  pickPlace,
} from './episode-context.ts';
import type { EpisodeContext, Place, StepBuilder } from './episode-context.ts';

const CONTENT_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

type Format = keyof typeof CONTENT_TYPES;

/** JSON patches. */
export const patchJson: StepBuilder = (context, collection) =>
  patch(context, pickPlace(context, collection), { format: 'json', of: 'update' });

/** JSON merge patches. */
export const patchMerge: StepBuilder = (context, collection) =>
  patch(context, pickPlace(context, collection), { format: 'merge', of: 'update' });

/** Strategic merge patches. */
export const patchStrategic: StepBuilder = (context, collection) =>
  patch(context, pickPlace(context, collection), { format: 'strategic', of: 'update' });

/** Patches of /status, in any format. */
export const patchStatus: StepBuilder = (context, collection) =>
  patch(context, pickPlace(context, collection), {
    format: context.seeded.pick(['json', 'merge', 'strategic', 'strategic']),
    of: 'status',
  });

function patch(
  context: EpisodeContext,
  place: Place,
  { format, of }: { readonly format: Format; readonly of: 'update' | 'status' },
): ReturnType<StepBuilder> {
  const { seeded } = context;
  const special = seeded.next() < 0.3 ? seeded.pick(specialsOf(format, place)) : undefined;
  const changes = pickChanges(context, place, { countMax: 2, of });
  const body = special ?? render(format, makeBody(context, place), changes);
  const query = seeded.pick(['', '', '', '', '', '', '', '?dryRun=All', '?fieldValidation=Strict']);
  const contentType = seeded.next() < 0.02 ? 'application/json' : CONTENT_TYPES[format];
  return [
    {
      note: `${format} patch ${special === undefined ? describeChanges(changes) : JSON.stringify(special)}`,
      actor: 'admin',
      method: 'PATCH',
      path: `${objectPath(place, of === 'status' ? 'status' : undefined)}${query}`,
      contentType,
      body: { kind: 'literal', value: body },
    },
  ];
}

function render(format: Format, base: Json, changes: readonly Change[]): Json {
  switch (format) {
    case 'json':
      return asJsonPatch(base, changes);
    case 'merge':
      return asMergePatch(changes);
    case 'strategic':
      return asStrategicPatch(base, changes);
  }
}

/** Fences, directives and broken patches. */
function specialsOf(format: Format, place: Place): readonly Json[] {
  if (format === 'json') return jsonSpecials(place);
  const fences: Json[] = [
    {},
    { metadata: { resourceVersion: `{{version ${place.key}}}`, labels: { fenced: 'yes' } } },
    { metadata: { resourceVersion: `{{former ${place.key}}}`, labels: { fenced: 'yes' } } },
    { metadata: { uid: `{{uid ${place.key}}}`, labels: { fenced: 'by-uid' } } },
    { metadata: { uid: 'another-uid', labels: { fenced: 'yes' } } },
    { metadata: { finalizers: null } },
    { metadata: { finalizers: ['example.com/third'] } },
    { metadata: { labels: { tier: null, added: 'x' }, annotations: { a: 'b' } } },
    [],
    'text',
  ];
  if (format === 'merge') return fences;
  return [
    ...fences,
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/hold'] } },
    {
      metadata: {
        finalizers: ['example.com/b'],
        '$setElementOrder/finalizers': ['example.com/b', 'example.com/hold'],
      },
    },
    { metadata: { labels: { $patch: 'replace', only: 'this' } } },
    { metadata: { labels: { $patch: 'odd' } } },
    { metadata: { ownerReferences: [{ uid: 'owner-1', $patch: 'delete' }] } },
    {
      metadata: {
        ownerReferences: [{ uid: 'owner-3', apiVersion: 'v1', kind: 'Node', name: 'n' }],
      },
    },
    ...podSpecDirectives(place),
    ...nodeDirectives(place),
  ];
}

function podSpecDirectives({ collection }: Place): Json[] {
  const specs: Json[] = [
    { containers: [{ name: 'main', $patch: 'delete' }] },
    { containers: [{ name: 'added', image: 'registry.example/added:1' }] },
    { containers: [{ image: 'without-merge-key' }] },
    { containers: [{ $patch: 'replace' }, { name: 'only', image: 'registry.example/only:1' }] },
    {
      '$setElementOrder/containers': [{ name: 'second' }, { name: 'main' }],
      containers: [{ name: 'main', image: 'registry.example/agent:9' }],
    },
    { containers: [{ name: 'main', ports: [{ containerPort: 8080, name: 'renamed' }] }] },
    { containers: [{ name: 'main', env: [{ name: 'LEVEL', value: 'debug' }] }] },
    { volumes: [{ name: 'scratch', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] },
    { volumes: [{ name: 'scratch', $patch: 'delete' }] },
    { tolerations: [{ key: 'k', operator: 'Exists' }] },
    { nodeSelector: { $patch: 'replace', pool: 'z' } },
    { imagePullSecrets: [{ name: 'another' }] },
  ];
  if (collection.plural !== 'daemonsets') return [];
  return specs
    .map((spec): Json => ({ spec: { template: { spec } } }))
    .concat([{ spec: { updateStrategy: { $retainKeys: ['type'], type: 'OnDelete' } } }]);
}

function nodeDirectives({ collection }: Place): Json[] {
  if (collection.plural !== 'nodes') return [];
  return [
    { spec: { taints: [{ key: 'example.com/added', effect: 'NoSchedule' }] } },
    { spec: { taints: [{ $patch: 'replace' }, { key: 'example.com/only', effect: 'NoExecute' }] } },
    { spec: { taints: null } },
    { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
    { status: { conditions: [{ type: 'Ready', $patch: 'delete' }] } },
    { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.3' }] } },
  ];
}

function jsonSpecials(place: Place): readonly Json[] {
  return [
    [],
    {},
    [
      { op: 'test', path: '/metadata/labels/tier', value: 'front' },
      { op: 'remove', path: '/metadata/labels/tier' },
    ],
    [
      { op: 'test', path: '/metadata/resourceVersion', value: `{{version ${place.key}}}` },
      { op: 'add', path: '/metadata/labels/tested', value: 'yes' },
    ],
    [{ op: 'test', path: '/metadata/uid', value: 'another-uid' }],
    [{ op: 'remove', path: '/metadata/labels/absent' }],
    [{ op: 'replace', path: '/metadata/labels/absent', value: 'x' }],
    [{ op: 'add', path: '/metadata/annotations/a~1b', value: 'x' }],
    [{ op: 'add', path: '/metadata/finalizers/-', value: 'example.com/appended' }],
    [{ op: 'remove', path: '/metadata/finalizers/0' }],
    [{ op: 'copy', from: '/metadata/labels/tier', path: '/metadata/labels/copy' }],
    [{ op: 'move', from: '/metadata/labels/tier', path: '/metadata/labels/moved' }],
    [{ op: 'odd', path: '/metadata' }],
    [{ op: 'add', path: 'metadata', value: {} }],
    [{ op: 'add', path: '/metadata/labels/tier' }],
    [{ op: 'replace', path: '', value: {} }],
    [{ op: 'replace', path: '/metadata/labels', value: applyChanges({}, []) }],
    'text',
  ];
}
