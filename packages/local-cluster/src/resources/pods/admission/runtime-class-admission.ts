/**
 * Admission plug-in RuntimeClass: a pod that names a class must find it, and is given its overhead and its scheduling.
 *
 * An overhead that the pod brings must be the one of its class. Differs from Kubernetes: the handler of a class means nothing,
 * since no runtime runs.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, ResourceName } from '../../../objects/api-object.ts';
import type { Refusal, RuleContext } from '../../shared/resource.ts';
import { equalJson } from '../../shared/equal-json.ts';
import {
  isPresent,
  listAt,
  objectAt,
  optionalObjectAt,
  textAt,
  textEntriesAt,
  withMember,
} from '../../shared/json-edit.ts';
import { podForbidden } from './forbidden.ts';

const RUNTIME_CLASSES = 'runtimeclasses.node.k8s.io' as ResourceName; // one of the kinds that are data

/** The pod with what its class says, or why it is refused before it is validated. */
export function admitRuntimeClass(pod: ApiObject, context: RuleContext): ApiObject | Refusal {
  const spec = objectAt(pod, 'spec');
  const name = textAt(spec, 'runtimeClassName');
  if (name === '') return pod;
  const found = context.read({ resource: RUNTIME_CLASSES, name });
  if (found === undefined) {
    return podForbidden(pod, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  }
  const fault = overheadFault(spec, found) ?? selectorFault(spec, found);
  if (fault !== undefined) return podForbidden(pod, fault);
  const overhead = overheadOf(found);
  const placed = withScheduling(spec, objectAt(found, 'scheduling'));
  const given = overhead === undefined ? placed : withMember(placed, 'overhead', overhead);
  return withMember(pod, 'spec', given);
}

/** Why a valid pod is refused: it brings an overhead that no class defined. */
export function refuseOverhead(pod: ApiObject, context: RuleContext): Refusal | undefined {
  const spec = objectAt(pod, 'spec');
  if (!isPresent(spec, 'overhead')) return undefined;
  const name = textAt(spec, 'runtimeClassName');
  const found = name === '' ? undefined : context.read({ resource: RUNTIME_CLASSES, name });
  if (found !== undefined && overheadOf(found) !== undefined) return undefined;
  return podForbidden(
    pod,
    'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  );
}

function overheadOf(runtimeClass: ApiObject): JsonObject | undefined {
  return optionalObjectAt(objectAt(runtimeClass, 'overhead'), 'podFixed');
}

function overheadFault(spec: JsonObject, runtimeClass: ApiObject): string | undefined {
  const overhead = overheadOf(runtimeClass);
  const isOther = isPresent(spec, 'overhead') && !equalJson(spec['overhead'], overhead);
  return overhead !== undefined && isOther
    ? "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    : undefined;
}

function selectorFault(spec: JsonObject, runtimeClass: ApiObject): string | undefined {
  const given = objectAt(spec, 'nodeSelector');
  for (const [key, value] of textEntriesAt(objectAt(runtimeClass, 'scheduling'), 'nodeSelector')) {
    const chosen = textAt(given, key);
    if (given[key] === undefined || chosen === value) continue;
    return `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${chosen}`;
  }
  return undefined;
}

function withScheduling(spec: JsonObject, scheduling: JsonObject): JsonObject {
  const selector = { ...objectAt(spec, 'nodeSelector'), ...objectAt(scheduling, 'nodeSelector') };
  const given = listAt(spec, 'tolerations');
  const more = listAt(scheduling, 'tolerations').filter(
    (one) => !given.some((other) => equalJson(one, other)),
  );
  const selecting = isPresent(scheduling, 'nodeSelector')
    ? withMember(spec, 'nodeSelector', selector)
    : spec;
  return more.length === 0 ? selecting : withMember(selecting, 'tolerations', [...given, ...more]);
}
