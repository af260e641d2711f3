/**
 * What is done to a pod by a POST: binding and eviction.
 *
 * A binding gives it its node, once and for good; the node need not exist. An eviction, which `kubectl drain` asks for, deletes
 * it, and it says why in a condition. No budget forbids one here.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import {
  listAt,
  objectAt,
  textAt,
  textsAt,
  withMember,
  withoutMember,
} from '../shared/json-edit.ts';
import type { ActionInput, ActionOutcome, Refusal, Subresource } from '../shared/resource.ts';
import { topologyLabelsOf } from './admission.ts';

const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** POST pods/NAME/binding. */
export const BINDING: Subresource = {
  kind: 'action',
  name: 'binding',
  bodyKind: { group: '', version: 'v1', kind: 'Binding' },
  run: bind,
};

/** POST pods/NAME/eviction. */
export const EVICTION: Subresource = {
  kind: 'action',
  name: 'eviction',
  bodyKind: { group: 'policy', version: 'v1', kind: 'Eviction' },
  run: evict,
};

function bind({ object: pod, body, context }: ActionInput): ActionOutcome {
  const refusal = refuseBinding(pod, body);
  if (refusal !== undefined) return { kind: 'refused', refusal };
  const nodeName = textAt(objectAt(body, 'target'), 'name');
  const { labels, annotations } = objectAt(body, 'metadata');
  const unnominated = withoutMember(objectAt(pod, 'status'), 'nominatedNodeName');
  const status = withCondition(
    unnominated,
    { type: 'PodScheduled', status: 'True' },
    context.nowText,
  );
  const withAnnotations = merge(pod.metadata, 'annotations', annotations);
  const withLabels = merge(withAnnotations, 'labels', labels);
  const metadata = merge(withLabels, 'labels', topologyLabelsOf(nodeName, context));
  const spec = withMember(objectAt(pod, 'spec'), 'nodeName', nodeName);
  return { kind: 'replace', object: { ...pod, metadata, spec, status }, body: SUCCESS };
}

function merge(
  metadata: ApiObject['metadata'],
  key: 'annotations' | 'labels',
  added: JsonObject[string],
): ApiObject['metadata'] {
  const members = objectAt({ added }, 'added');
  if (Object.keys(members).length === 0) return metadata;
  return withMember(metadata, key, { ...objectAt(metadata, key), ...members });
}

function refuseBinding(pod: ApiObject, body: JsonObject): Refusal | undefined {
  const { name, uid, deletionTimestamp } = pod.metadata;
  const metadata = objectAt(body, 'metadata');
  if (textAt(metadata, 'name') !== name) {
    return badRequest('name in URL does not match name in Binding object');
  }
  if (textAt(objectAt(body, 'target'), 'name') === '') {
    // The API server answers 500 without a reason here; clients see just that.
    return { code: 500, reason: '', message: 'target.name: Required value' };
  }
  const asked = textAt(metadata, 'uid');
  if (asked !== '' && asked !== uid) {
    const precondition = `UID in precondition: ${asked}, UID in object meta: ${uid}`;
    return conflict('pods', name, `Precondition failed: ${precondition}`);
  }
  const spec = objectAt(pod, 'spec');
  const nodeName = textAt(spec, 'nodeName');
  if (deletionTimestamp !== undefined) {
    return conflict(
      'pods/binding',
      name,
      `pod ${name} is being deleted, cannot be assigned to a host`,
    );
  }
  if (nodeName !== '') {
    const assigned = `pod ${name} is already assigned to node ${JSON.stringify(nodeName)}`;
    return conflict('pods/binding', name, assigned);
  }
  return listAt(spec, 'schedulingGates').length > 0
    ? conflict('pods/binding', name, `pod ${name} has non-empty .spec.schedulingGates`)
    : undefined;
}

function badRequest(message: string): Refusal {
  return { code: 400, reason: 'BadRequest', message };
}

function conflict(kind: string, name: string, reason: string): Refusal {
  const message = `Operation cannot be fulfilled on ${kind} ${JSON.stringify(name)}: ${reason}`;
  return { code: 409, reason: 'Conflict', message, details: { name, kind } };
}

/** Grace and preconditions of the options are the deletion's matter; a dry run leaves no condition. */
function evict({ object: pod, body, context, query }: ActionInput): ActionOutcome {
  if (textAt(objectAt(body, 'metadata'), 'name') !== pod.metadata.name) {
    const message = 'name in URL does not match name in Eviction object';
    return { kind: 'refused', refusal: badRequest(message) };
  }
  const { kind: _kind, apiVersion: _apiVersion, ...options } = objectAt(body, 'deleteOptions');
  const dryRun = [...textsAt(options, 'dryRun'), ...query.getAll('dryRun')];
  if (dryRun.length > 0) return { kind: 'delete', options: { ...options, dryRun } };
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  const status = withCondition(objectAt(pod, 'status'), condition, context.nowText);
  return { kind: 'delete', options, object: { ...pod, status } };
}

/** The condition in place of the one of its type, or at the end; its time moves only with its status. */
function withCondition(
  status: JsonObject,
  condition: JsonObject & { readonly type: string; readonly status: string },
  nowText: string,
): JsonObject {
  const conditions = listAt(status, 'conditions');
  const index = conditions.findIndex((it) => it['type'] === condition.type);
  const previous = conditions[index];
  const isSame = previous?.['status'] === condition.status;
  const lastTransitionTime = (isSame ? previous['lastTransitionTime'] : undefined) ?? nowText;
  const next = { ...condition, lastProbeTime: null, lastTransitionTime };
  const all = previous === undefined ? [...conditions, next] : conditions.with(index, next);
  return { ...status, conditions: all };
}
