/**
 * What RBAC and admission of mode copilot leave the functions (infra/copilot): they look at single objects, delete pods of
 * listed DaemonSets by UID and version, and tell Events; with the optional right they restore the template of a listed one.
 *
 * Stands in the API server's own place: what is refused here was sent all the same, so who sent it is for the observer.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { DeletePodEffect, Effect, Outcome } from '../../../src/core/model/effects.ts';
import type { LiveRead } from '../../../src/ports/cluster/cluster-access.ts';
import { controllerUid, refusal } from '../simulated-objects.ts';
import type { SimulatedApiServer } from './api-server.ts';

/** What the functions' role may do in one cluster. */
export interface FunctionRights {
  /** In takeover they may do whatever they ask for. */
  role: 'takeover' | 'copilot';
  /** True: somebody took the role away. */
  isTaken: boolean;
  /** Names of DaemonSets that listed.yaml has. */
  readonly listed: Set<string>;
  /** Whether the Roles of `--rollback` are there. */
  mayRestore: boolean;
}

/** The refusal of a request that changes something; undefined: it may pass. */
export function refuseEffect(
  effect: Effect,
  { role, isTaken, listed, mayRestore }: FunctionRights,
  api: SimulatedApiServer,
): Outcome | undefined {
  if (isTaken) return refusal('forbidden');
  if (role === 'takeover') return undefined;
  switch (effect.kind) {
    case 'create-event':
    case 'patch-event':
    case 'set-condition':
    case 'remove-taint': // its opt-in overlay is installed wherever a world has start-up taints
      return undefined;
    case 'restore-template':
      return mayRestore && listed.has(effect.name) ? undefined : refusal('forbidden');
    case 'delete-pod':
      return mayDelete(effect, listed, api) ? undefined : refusal('admission');
    default:
      return refusal('forbidden');
  }
}

function mayDelete(
  { name, namespace, uid, resourceVersion }: DeletePodEffect,
  listed: ReadonlySet<string>,
  api: SimulatedApiServer,
): boolean {
  const pod = api.find('pods', name, namespace);
  const isListed = pod === undefined || listed.has(ownerName(pod, api) ?? '');
  return uid !== '' && resourceVersion !== '' && isListed;
}

/** Reads that the role does not have. */
const NEVER = /^LIST (pods|whole pods|controllerrevisions)/;

/** The refusal of a read; undefined: it may pass. */
export function refuseRead(
  what: string,
  { role, isTaken }: FunctionRights,
): LiveRead<never> | undefined {
  const isRefused = isTaken || (role === 'copilot' && NEVER.test(what));
  return isRefused ? { kind: 'unavailable', message: 'forbidden', isRefused } : undefined;
}

function ownerName(pod: KubernetesObject, api: SimulatedApiServer): string | undefined {
  const uid = controllerUid(pod);
  return api.list('daemonsets').find(({ metadata }) => metadata.uid === uid)?.metadata.name;
}
