/** Small questions that tests ask of a world. */
import assert from 'node:assert/strict';
import { nodeName, uid } from '../../../src/core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { slotName } from '../../../src/core/pod/naming.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { controllerUid } from '../simulated-objects.ts';
import { phaseOf } from './controllers.ts';
import type { WatcherProcess } from './watcher-process.ts';
import type { World } from './world.ts';

/** Pods whose controller is the DaemonSet that now stands under this name. */
export function podsOf(world: World, name: string): readonly KubernetesObject[] {
  const uid = world.api.find('daemonsets', name, 'ns')?.metadata.uid;
  return world.api.list('pods').filter((pod) => uid !== undefined && controllerUid(pod) === uid);
}

/** The one pod of a DaemonSet on a node. */
export function podOn(world: World, name: string, node: string): KubernetesObject {
  const found = podsOf(world, name).filter((pod) => nodeOf(pod) === node);
  assert.equal(found.length, 1, `pods of ${name} on ${node}`);
  return found[0] as KubernetesObject;
}

/** The watcher that was started last and not stopped. */
export function theWatcher(world: World): WatcherProcess {
  const last = world.watchers.at(-1);
  assert.ok(last !== undefined, 'no watcher runs');
  return last;
}

/** The slot name of a node, for a DaemonSet that stands now. */
export function slotOn(world: World, name: string, node: string): string {
  const found = world.api.find('daemonsets', name, 'ns');
  assert.ok(found !== undefined, `no DaemonSet ${name}`);
  const daemonSetUid = uid(found.metadata.uid);
  return slotName({ daemonSetName: name, daemonSetUid, node: nodeName(node) });
}

/** Gives a DaemonSet another image, as a user does: a rolling update begins. */
export function setImage(world: World, name: string, tag: number | string): void {
  world.api.editDaemonSet(name, (spec) => {
    const template = spec['template'] as JsonObject;
    const containers = [{ name: 'main', image: `${name}:${tag}` }];
    const podSpec = { ...(template['spec'] as JsonObject), containers };
    return { ...spec, template: { ...template, spec: podSpec } };
  });
}

/** The image of a pod. */
export function imageOf(pod: KubernetesObject): string {
  const { containers } = pod['spec'] as {
    readonly containers: readonly { readonly image: string }[];
  };
  return containers.map(({ image }) => image).join(', ');
}

/** Calls back at every commit with the number of pods of a DaemonSet that are ready and stay. */
export function watchReady(
  world: World,
  name: string,
  onCount: (ready: number) => void,
): () => void {
  return world.api.subscribe((commit) => {
    if (commit?.kind !== 'pods') return;
    const ready = podsOf(world, name).filter(
      (pod) => phaseOf(pod) === 'Running' && pod.metadata.deletionTimestamp === undefined,
    );
    onCount(new Set(ready.map(nodeOf)).size);
  });
}
