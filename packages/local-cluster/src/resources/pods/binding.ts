/**
 * POST pods/NAME/binding: the scheduler gives a pod its node, once and for good.
 *
 * The node need not exist. Labels and annotations of the binding go to the pod, and the node's zone and region with them.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import type { ActionInput, ActionOutcome, Refusal, Subresource } from '../shared/resource.ts';
import { listAt, objectAt, textAt, withMember, withoutMember } from '../shared/json-edit.ts';
import { topologyLabelsOf } from './admission/admission.ts';
import { withCondition } from './conditions.ts';

const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** The subresource. */
export const BINDING: Subresource = {
  kind: 'action',
  name: 'binding',
  bodyKind: { group: '', version: 'v1', kind: 'Binding' },
  run: bind,
};

function bind(input: ActionInput): ActionOutcome {
  const { object: pod, body, context } = input;
  const refusal = refuse(pod, body);
  if (refusal !== undefined) return { kind: 'refused', refusal };
  const target = objectAt(body, 'target');
  const nodeName = textAt(target, 'name');
  const bindingMetadata = objectAt(body, 'metadata');
  const topology = textAt(target, 'kind') === 'Node' ? topologyLabelsOf(nodeName, context) : {};
  const status = withCondition(
    withoutMember(objectAt(pod, 'status'), 'nominatedNodeName'),
    { type: 'PodScheduled', status: 'True' },
    context.nowText,
  );
  let metadata = merge(pod.metadata, 'annotations', objectAt(bindingMetadata, 'annotations'));
  metadata = merge(metadata, 'labels', { ...objectAt(bindingMetadata, 'labels'), ...topology });
  const spec = withMember(objectAt(pod, 'spec'), 'nodeName', nodeName);
  return { kind: 'replace', object: { ...pod, metadata, spec, status }, body: SUCCESS };
}

function merge(
  metadata: ApiObject['metadata'],
  key: 'annotations' | 'labels',
  added: JsonObject,
): ApiObject['metadata'] {
  if (Object.keys(added).length === 0) return metadata;
  return withMember(metadata, key, { ...objectAt(metadata, key), ...added });
}

function refuse(pod: ApiObject, body: JsonObject): Refusal | undefined {
  const { name } = pod.metadata;
  const bindingMetadata = objectAt(body, 'metadata');
  if (textAt(bindingMetadata, 'name') !== name) {
    const message = 'name in URL does not match name in Binding object';
    return { code: 400, reason: 'BadRequest', message };
  }
  return (
    refuseTarget(objectAt(body, 'target')) ??
    refusePreconditions(pod, bindingMetadata) ??
    refusePod(pod)
  );
}

/** The API server answers 500 without a reason here; clients see just that. */
function refuseTarget(target: JsonObject): Refusal | undefined {
  const kind = textAt(target, 'kind');
  const problems: string[] = [];
  if (kind !== '' && kind !== 'Node') {
    problems.push(
      `target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`,
    );
  }
  if (textAt(target, 'name') === '') problems.push('target.name: Required value');
  if (problems.length === 0) return undefined;
  const message = problems.length === 1 ? problems.join('') : `[${problems.join(', ')}]`;
  return { code: 500, reason: '', message };
}

function refusePreconditions(pod: ApiObject, bindingMetadata: JsonObject): Refusal | undefined {
  for (const [key, words] of [
    ['uid', 'UID'],
    ['resourceVersion', 'ResourceVersion'],
  ] as const) {
    const asked = textAt(bindingMetadata, key);
    if (asked === '' || asked === pod.metadata[key]) continue;
    return conflict(
      'pods',
      pod,
      `Precondition failed: ${words} in precondition: ${asked}, ${words} in object meta: ${pod.metadata[key]}`,
    );
  }
  return undefined;
}

function refusePod(pod: ApiObject): Refusal | undefined {
  const { name } = pod.metadata;
  const spec = objectAt(pod, 'spec');
  const nodeName = textAt(spec, 'nodeName');
  if (pod.metadata.deletionTimestamp !== undefined) {
    return conflict(
      'pods/binding',
      pod,
      `pod ${name} is being deleted, cannot be assigned to a host`,
    );
  }
  if (nodeName !== '') {
    return conflict(
      'pods/binding',
      pod,
      `pod ${name} is already assigned to node ${JSON.stringify(nodeName)}`,
    );
  }
  if (listAt(spec, 'schedulingGates').length > 0) {
    return conflict('pods/binding', pod, `pod ${name} has non-empty .spec.schedulingGates`);
  }
  return undefined;
}

function conflict(kind: string, pod: ApiObject, reason: string): Refusal {
  const { name } = pod.metadata;
  return {
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${kind} ${JSON.stringify(name)}: ${reason}`,
    details: { name, kind },
  };
}
