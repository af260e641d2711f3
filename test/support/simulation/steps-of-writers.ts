/**
 * Steps of others who write what Rollcall writes or decides by: installers that erase metadata, a status that somebody
 * else wrote, and edits that are undone before anybody looked. None of them gives a pod a reason to go.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Kind } from '../simulated-hooks.ts';
import { setImage } from './look.ts';
import { editableSet, type StepContext } from './step-context.ts';
import type { World } from './world.ts';

/** An installer puts a DaemonSet back whole, same spec: metadata that is not its own is gone (kubeadm). */
export function applyAgain({ world, dice }: StepContext): boolean {
  const name = editableSet(world, dice);
  if (name === undefined) return false;
  world.api.change('daemonsets', { namespace: 'ns', name }, (object) => {
    const { uid, resourceVersion, creationTimestamp, generation = 1 } = object.metadata;
    const own = { name, namespace: 'ns', uid, resourceVersion, creationTimestamp, generation };
    return { ...object, metadata: own as KubernetesObject['metadata'] };
  });
  return true;
}

/** Somebody else writes a DaemonSet's status, with counts of his own. */
export function writePeerStatus({ world, dice }: StepContext): boolean {
  const name = editableSet(world, dice);
  const status =
    name === undefined ? undefined : world.api.find('daemonsets', name, 'ns')?.['status'];
  if (name === undefined || status === undefined) return false;
  const counts = { numberReady: dice.between(0, 9), desiredNumberScheduled: dice.between(0, 9) };
  world.api.change('daemonsets', { namespace: 'ns', name }, (object) => ({
    ...object,
    status: { ...(status as JsonObject), ...counts },
  }));
  return true;
}

/** An edit that is undone within one flush of the watcher, or just after it: of a template, or of a node's labels. */
export function editAndUndo(context: StepContext): boolean {
  const { world, dice } = context;
  const name = editableSet(world, dice);
  const undoneMs = dice.pick([0, 1, 20, 300]);
  if (name === undefined) return false;
  if (dice.chance(0.5)) {
    const former = world.api.find('daemonsets', name, 'ns')?.['spec'] as JsonObject;
    setImage(world, name, `undone-${dice.between(1, 3)}`);
    context.later(undoneMs, () => {
      const found = world.api.find('daemonsets', name, 'ns');
      if (found?.metadata.deletionTimestamp !== undefined || found === undefined) return;
      world.api.editDaemonSet(name, () => former);
    });
    return true;
  }
  const nodes = world.api.list('nodes');
  if (nodes.length === 0) return false;
  const node = dice.pick(nodes);
  const { labels = {} } = node.metadata;
  const other = labels['disk'] === 'ssd' ? 'hdd' : 'ssd';
  write(world, { kind: 'nodes', object: node }, { labels: { ...labels, disk: other } });
  context.later(undoneMs, () => {
    write(world, { kind: 'nodes', object: node }, { labels });
  });
  return true;
}

interface StoredObject {
  readonly kind: Kind;
  readonly object: KubernetesObject;
}

/** Writes metadata of an object that still exists; with nothing to write its version grows all the same. */
export function write(world: World, { kind, object }: StoredObject, metadata: JsonObject): void {
  const { name, namespace, uid } = object.metadata;
  if (world.api.find(kind, name, namespace)?.metadata.uid !== uid) return;
  world.api.change(kind, { namespace: namespace ?? '', name }, (stored) => ({
    ...stored,
    metadata: { ...stored.metadata, ...metadata },
  }));
}
