/**
 * Steps of operators who freeze and thaw: a cluster, the stack, a DaemonSet by name, as `rollcall freeze` and `thaw` do.
 *
 * The audit hears of a freeze once its write was answered, and of a thaw before it is written. Whoever thaws hints the keys.
 */
import { freezeScope, thawScope } from '../../../src/app/freeze/change-freeze.ts';
import type { StackScope } from '../../../src/core/may-act/freeze.ts';
import type { AuditedScope } from './freeze-audit.ts';
import type { StepContext } from './step-context.ts';
import type { World } from './world.ts';

/** Freezes the cluster, or lifts the freeze and hints the keys, as the operator's tool does. */
export async function freezeCluster({ world, decider, dice, sets }: StepContext): Promise<boolean> {
  await setClusterFreeze(world, dice.chance(0.3), sets);
  decider.note('freeze-cluster');
  return false;
}

/** Freezes the stack or a DaemonSet, or thaws it and hints its keys, whatever stood before. */
export async function freezeStack({ world, decider, dice, sets }: StepContext): Promise<boolean> {
  const scope: StackScope = dice.chance(0.5)
    ? { kind: 'stack' }
    : { kind: 'daemon-set', namespace: 'ns', name: dice.pick(sets) };
  if (dice.chance(0.35)) await freeze(world, scope);
  else await thaw(world, scope, sets);
  decider.note('freeze-stack');
  return false;
}

/** Everything that is frozen is thawed: nobody wants it any more. */
export async function thawAll(world: World): Promise<void> {
  const names = world.api.list('daemonsets').map(({ metadata }) => metadata.name);
  const { all, daemonSets } = world.freezes.peek();
  if (all !== undefined) await thaw(world, { kind: 'stack' }, names);
  for (const key of Object.keys(daemonSets)) {
    const [namespace = '', name = ''] = key.split('/', 2);
    await thaw(world, { kind: 'daemon-set', namespace, name }, names);
  }
  if ((await world.registration())?.isFrozen === true) await setClusterFreeze(world, false, names);
}

async function freeze(world: World, scope: StackScope): Promise<void> {
  const note = { by: 'ann', why: 'a drill', atMs: world.clock.nowMs() };
  const { kind } = await freezeScope(world, scope, note);
  world.note(`freeze ${auditedOf(scope)}: ${kind}`);
  world.observer.freezes.noteFrozen(auditedOf(scope), world.clock.monotonicMs());
}

async function thaw(world: World, scope: StackScope, names: readonly string[]): Promise<void> {
  world.observer.freezes.noteThaw(auditedOf(scope));
  const { kind } = await thawScope(world, scope);
  world.note(`thaw ${auditedOf(scope)}: ${kind}`);
  if (kind !== 'thawed') return;
  // Nothing else changed that would.
  for (const name of scope.kind === 'stack' ? names : [scope.name]) world.hint(name);
}

async function setClusterFreeze(
  world: World,
  isFrozen: boolean,
  names: readonly string[],
): Promise<void> {
  const { freezes } = world.observer;
  if (!isFrozen) freezes.noteThaw('cluster');
  const wasFrozen = (await world.registration())?.isFrozen === true;
  await world.reconfigure({ isFrozen });
  if (isFrozen) freezes.noteFrozen('cluster', world.clock.monotonicMs());
  else if (wasFrozen) for (const name of names) world.hint(name);
}

function auditedOf(scope: StackScope): AuditedScope {
  return scope.kind === 'stack' ? 'stack' : `set/${scope.namespace}/${scope.name}`;
}
