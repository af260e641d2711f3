/**
 * Defaults of a pod's spec, wherever it stands: in a pod or in a template. A spec that has them all comes back as the
 * very same object.
 *
 * That identity is what keeps updates cheap, and it must hold: a template of a DaemonSet is defaulted on every write,
 * and a default that were not stable would raise its generation (spec 2.13). What only pods get (requests from limits,
 * host ports, tolerations, priority, tokens) is in pods/.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  editItemsAt,
  editObjectAt,
  textAt,
  withDefaults,
  withMember,
} from '../../shared/json-edit.ts';
import { roundUpResourceList } from '../../shared/resource-lists.ts';
import { applyContainerDefaults, roundUpResources } from './container-defaults.ts';
import { applyVolumeDefaults } from './volume-defaults.ts';

const SPEC_DEFAULTS = {
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  schedulerName: 'default-scheduler',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
};

/** Defaults that pods and templates share. */
export function applyPodSpecDefaults(spec: JsonObject): JsonObject {
  let result = withDefaults(spec, SPEC_DEFAULTS);
  result = mirrorServiceAccount(result);
  result = editItemsAt(result, 'volumes', applyVolumeDefaults);
  result = editItemsAt(result, 'initContainers', applyContainerDefaults);
  result = editItemsAt(result, 'containers', applyContainerDefaults);
  result = editItemsAt(result, 'ephemeralContainers', applyContainerDefaults);
  result = editObjectAt(result, 'overhead', roundUpResourceList);
  return editObjectAt(result, 'resources', roundUpResources);
}

/** `serviceAccount` is the old name of `serviceAccountName`; both are shown, the new one wins. */
export function mirrorServiceAccount(spec: JsonObject): JsonObject {
  const name = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount');
  if (name === '') return spec;
  return withMember(withMember(spec, 'serviceAccountName', name), 'serviceAccount', name);
}
