/**
 * What is read of a pod, and of a Status, where an API server writes them in protobuf: the numbers of their fields.
 *
 * Numbers stand in `generated.proto` of k8s.io/api `core/v1` and k8s.io/apimachinery `meta/v1`, and never change there. The fields of a
 * pod are those that its projection reads (core/projections, watcher/project): `forms.test.ts` holds that none is missing, and
 * that each number is upstream's.
 */
import { messageForm } from './message.ts';
import type { FieldForm, MessageForm } from './message.ts';

const text = (name: string): FieldForm => ({ name, as: 'text' });
const integer = (name: string): FieldForm => ({ name, as: 'integer' });
const time = (name: string): FieldForm => ({ name, as: 'time' });
const message = (name: string, as: MessageForm): FieldForm => ({ name, as });
const listOf = (field: FieldForm): FieldForm => ({ ...field, isList: true });

const OWNER_REFERENCE = messageForm({
  1: text('kind'),
  3: text('name'),
  4: text('uid'),
  5: text('apiVersion'),
  6: { name: 'controller', as: 'flag' },
});

/** Of metadata what tells who a pod is, and who controls it. */
export const IDENTITY_AND_OWNERS = messageForm({
  1: text('name'),
  3: text('namespace'),
  5: text('uid'),
  6: text('resourceVersion'),
  13: listOf(message('ownerReferences', OWNER_REFERENCE)),
});

const MANAGED_FIELDS = messageForm({ 4: time('time'), 8: text('subresource') });

const METADATA = messageForm({
  ...IDENTITY_AND_OWNERS,
  8: time('creationTimestamp'),
  9: time('deletionTimestamp'),
  11: { name: 'labels', as: 'texts' },
  17: listOf(message('managedFields', MANAGED_FIELDS)),
});

const FIELD_REQUIREMENT = messageForm({
  1: text('key'),
  2: text('operator'),
  3: listOf(text('values')),
});
const NODE_SELECTOR_TERM = messageForm({ 2: listOf(message('matchFields', FIELD_REQUIREMENT)) });
const NODE_SELECTOR = messageForm({
  1: listOf(message('nodeSelectorTerms', NODE_SELECTOR_TERM)),
});
const NODE_AFFINITY = messageForm({
  1: message('requiredDuringSchedulingIgnoredDuringExecution', NODE_SELECTOR),
});
const SPEC = messageForm({
  10: text('nodeName'),
  18: message('affinity', messageForm({ 1: message('nodeAffinity', NODE_AFFINITY) })),
});

const CONDITION = messageForm({
  1: text('type'),
  2: text('status'),
  4: time('lastTransitionTime'),
  5: text('reason'),
});
const WAITING = messageForm({ 1: text('reason') });
const TERMINATED = messageForm({
  1: integer('exitCode'),
  3: text('reason'),
  6: time('finishedAt'),
});
const CONTAINER_STATE = messageForm({
  1: message('waiting', WAITING),
  3: message('terminated', TERMINATED),
});
const CONTAINER_STATUS = messageForm({
  1: text('name'),
  2: message('state', CONTAINER_STATE),
  3: message('lastState', CONTAINER_STATE),
  5: integer('restartCount'),
});
const STATUS = messageForm({
  1: text('phase'),
  2: listOf(message('conditions', CONDITION)),
  4: text('reason'),
  8: listOf(message('containerStatuses', CONTAINER_STATUS)),
  10: listOf(message('initContainerStatuses', CONTAINER_STATUS)),
});

/** A Pod (core/v1). */
export const POD = messageForm({
  1: message('metadata', METADATA),
  2: message('spec', SPEC),
  3: message('status', STATUS),
});

/** The object of a bookmark: a pod that has a version, and what the bookmark means. */
export const BOOKMARK = messageForm({
  1: message(
    'metadata',
    messageForm({ 6: text('resourceVersion'), 12: { name: 'annotations', as: 'texts' } }),
  ),
});

/** A Status (meta/v1): how an API server says no. */
export const API_STATUS = messageForm({
  2: text('status'),
  3: text('message'),
  4: text('reason'),
  5: message('details', messageForm({ 5: integer('retryAfterSeconds') })),
  6: integer('code'),
});
