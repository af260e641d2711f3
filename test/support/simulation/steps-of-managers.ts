/**
 * Steps of other managers: they write what is none of our business, to every kind of object that we read or write.
 *
 * A server-side apply of equal values, a rewrite of the store after a key rotation, a lock in an annotation: versions and
 * managedFields move, and nothing that a plan rests on does. Whoever takes a version for content stands still for ever.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Kind } from '../simulated-hooks.ts';
import type { StepContext } from './step-context.ts';
import type { World } from './world.ts';

const KINDS = [
  'daemonsets',
  'pods',
  'nodes',
  'controllerrevisions',
  'leases',
] as const satisfies readonly Kind[];

/** Writes of one series, and how far apart: ten a second. */
const SERIES_WRITES = 100;
const SERIES_STEP_MS = 100;

type Edit = (object: KubernetesObject) => KubernetesObject;

/** Every object is written back as it is: nothing but versions move, and who is noted to have written. */
export function rewriteObjects({ world, dice }: StepContext): boolean {
  const manager = dice.pick(['flux', 'argocd-controller', 'storage-migrator']);
  for (const kind of KINDS) editAll(world, kind, managedBy(manager));
  return true;
}

/** Every object of one kind, or of all kinds, gets an annotation. */
export function annotateObjects({ world, dice }: StepContext): boolean {
  const kinds = dice.chance(0.5) ? [dice.pick(KINDS)] : KINDS;
  const value = String(dice.between(1, 1000));
  return kinds.map((kind) => editAll(world, kind, annotatedWith(value))).some(Boolean);
}

/** One DaemonSet is annotated, or just written, ten times a second for a while. */
export function annotateOften({ world, dice }: StepContext): boolean {
  const [set] = world.api.list('daemonsets');
  if (set === undefined) return false;
  const isSeen = dice.chance(0.5);
  const { name } = set.metadata;
  const write = (left: number): void => {
    const found = world.api.find('daemonsets', name, 'ns');
    if (found === undefined || left === 0) return;
    const edit = isSeen ? annotatedWith(String(left)) : managedBy('locker');
    world.api.change('daemonsets', { namespace: 'ns', name }, edit);
    world.clock.after(SERIES_STEP_MS, () => {
      write(left - 1);
    });
  };
  write(SERIES_WRITES);
  return true;
}

function editAll(world: World, kind: Kind, edit: Edit): boolean {
  const objects = world.api.list(kind);
  for (const { metadata } of objects) {
    const { namespace = '', name } = metadata;
    world.api.change(kind, { namespace, name }, edit);
  }
  return objects.length > 0;
}

/** managedFields as a server-side apply leaves them; the status is not among what it holds. */
const managedBy = (manager: string): Edit =>
  edited({
    managedFields: [{ manager, operation: 'Apply', fieldsV1: { 'f:spec': {} } }],
  });

const annotatedWith =
  (value: string): Edit =>
  (object) =>
    edited({ annotations: { ...object.metadata.annotations, 'example.com/seen': value } })(object);

const edited =
  (change: object): Edit =>
  (object) => ({ ...object, metadata: { ...object.metadata, ...change } });
