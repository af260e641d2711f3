/**
 * The admission plug-ins that are on by default, as far as they change or refuse new pods: ServiceAccount, Priority,
 * DefaultTolerationSeconds, RuntimeClass, PodTopologyLabels, in that order.
 *
 * Differs from Kubernetes: a PriorityClass marked globalDefault is not looked for (that needs a list of all of them); a
 * missing service account is refused at once, without waiting for the controller that creates `default`.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../../objects/api-object.ts';
import type { Refusal, RuleContext } from '../../shared/resource.ts';
import { numberAt, objectAt, textAt, withMember } from '../../shared/json-edit.ts';
import { admitServiceAccount } from './service-account-admission.ts';
import { podForbidden } from './forbidden.ts';
import { withDefaultTolerations } from './default-tolerations.ts';
import { admitRuntimeClass } from './runtime-class-admission.ts';

const TOPOLOGY_LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** The pod as it is admitted, or why it is not. */
export function admitPod(pod: ApiObject, context: RuleContext): ApiObject | Refusal {
  const withAccount = admitServiceAccount(pod, context);
  if (isRefusal(withAccount)) return withAccount;
  const withPriority = admitPriority(withAccount, context);
  if (isRefusal(withPriority)) return withPriority;
  const classed = admitRuntimeClass(withDefaultTolerations(withPriority), context);
  return isRefusal(classed) ? classed : admitTopology(classed, context);
}

function isRefusal(outcome: ApiObject | Refusal): outcome is Refusal {
  return !('metadata' in outcome);
}

function admitPriority(pod: ApiObject, context: RuleContext): ApiObject | Refusal {
  const spec = objectAt(pod, 'spec');
  const resolved = resolvePriority(textAt(spec, 'priorityClassName'), context);
  if (resolved === undefined) {
    const name = textAt(spec, 'priorityClassName');
    return podForbidden(pod, `no PriorityClass with name ${name} was found`);
  }
  const asked = numberAt(spec, 'priority');
  if (asked !== undefined && asked !== resolved.priority) {
    return podForbidden(
      pod,
      `the integer value of priority (${String(asked)}) must not be provided in pod spec; priority admission controller computed ${String(resolved.priority)} from the given PriorityClass name`,
    );
  }
  const policy = textAt(spec, 'preemptionPolicy');
  if (policy !== '' && policy !== resolved.preemptionPolicy) {
    return podForbidden(
      pod,
      `the string value of PreemptionPolicy (${policy}) must not be provided in pod spec; priority admission controller computed ${resolved.preemptionPolicy} from the given PriorityClass name`,
    );
  }
  return withMember(pod, 'spec', { ...spec, ...resolved });
}

function resolvePriority(
  className: string,
  context: RuleContext,
): { readonly priority: number; readonly preemptionPolicy: string } | undefined {
  if (className === '') return { priority: 0, preemptionPolicy: 'PreemptLowerPriority' };
  const found = context.read({ resource: 'priorityclasses.scheduling.k8s.io', name: className });
  if (found === undefined) return undefined;
  return {
    priority: numberAt(found, 'value') ?? 0,
    preemptionPolicy: textAt(found, 'preemptionPolicy') || 'PreemptLowerPriority',
  };
}

/** A pod that is created bound gets its node's zone and region as labels. */
function admitTopology(pod: ApiObject, context: RuleContext): ApiObject {
  const nodeName = textAt(objectAt(pod, 'spec'), 'nodeName');
  if (nodeName === '') return pod;
  const labels = topologyLabelsOf(nodeName, context);
  if (Object.keys(labels).length === 0) return pod;
  const all = { ...objectAt(pod.metadata, 'labels'), ...labels };
  return { ...pod, metadata: withMember(pod.metadata, 'labels', all) };
}

/** Zone and region of a node, as its labels say; empty for an unknown node. */
export function topologyLabelsOf(nodeName: string, context: RuleContext): JsonObject {
  const node = context.read({ resource: 'nodes', name: nodeName });
  if (node === undefined) return {};
  const labels = objectAt(node.metadata, 'labels');
  const present = TOPOLOGY_LABELS.filter((key) => labels[key] !== undefined);
  return Object.fromEntries(present.map((key) => [key, labels[key]]));
}
