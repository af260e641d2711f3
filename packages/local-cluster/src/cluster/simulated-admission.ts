/**
 * An admission webhook on request: a Node with the annotation `simulate.rollcall.dev/refuse-pods: <label>=<value>` takes no
 * new pods with that label, as where a policy forbids them (docs/try-it.md).
 *
 * The API server has no admission policies and calls no webhooks; this stands in for one, so that people can see what a
 * refusal of some nodes' pods does. It knows a pod's node by spec.nodeName or by the node affinity that pins daemon pods.
 */
import { jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { ApiObject } from '../objects/api-object.ts';
import type { Refusal, Resource, RuleContext } from '../resources/shared/resource.ts';

const REFUSE_ANNOTATION = 'simulate.rollcall.dev/refuse-pods';

/** The resources, with the webhook before the pods' own admission. */
export function withSimulatedAdmission(resources: readonly Resource[]): readonly Resource[] {
  return resources.map((resource) => {
    if (resource.resourceName !== 'pods') return resource;
    const { rules } = resource;
    const admit = (pod: ApiObject, context: RuleContext): ApiObject | Refusal =>
      refusalOf(pod, context) ?? rules.admit?.(pod, context) ?? pod;
    return { ...resource, rules: { ...rules, admit } };
  });
}

function refusalOf(pod: ApiObject, context: RuleContext): Refusal | undefined {
  const name = pinnedNode(pod);
  if (name === undefined) return undefined;
  const node = context.read({ resource: 'nodes', name });
  const asked = node?.metadata.annotations?.[REFUSE_ANNOTATION];
  if (asked === undefined) return undefined;
  const [key = '', value = ''] = asked.split('=');
  if (pod.metadata.labels?.[key] !== value) return undefined;
  return {
    code: 403,
    reason: 'Forbidden',
    message: `admission webhook "simulate.rollcall.dev" denied the request: node ${name} takes no pods with ${asked}`,
  };
}

/** The one node that a pod can go to; undefined when it has a choice. */
function pinnedNode(pod: ApiObject): string | undefined {
  const nodeName = jsonMember(pod['spec'], 'nodeName');
  if (typeof nodeName === 'string' && nodeName !== '') return nodeName;
  const affinity = jsonMember(jsonMember(pod['spec'], 'affinity'), 'nodeAffinity');
  const required = jsonMember(affinity, 'requiredDuringSchedulingIgnoredDuringExecution');
  const [field] = jsonItems(
    jsonMember(jsonItems(jsonMember(required, 'nodeSelectorTerms'))[0], 'matchFields'),
  );
  const [value] = jsonItems(jsonMember(field, 'values'));
  return jsonMember(field, 'key') === 'metadata.name' && typeof value === 'string'
    ? value
    : undefined;
}
