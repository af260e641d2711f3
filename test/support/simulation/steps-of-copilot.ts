/**
 * Steps of a cluster with a built-in controller: what befalls that one, and who takes from Rollcall what it works by: rights,
 * the opt-in, the strategy, the mode. All of it is put back, later or when faults stop.
 *
 * Each does nothing where no built-in controller is at work.
 */
import { POLICY_ANNOTATION } from '../../../src/core/policy/rollout-policy.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { setMode } from './copilot-world.ts';
import { editableSet, type StepContext } from './step-context.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const AN_HOUR: readonly [number, number] = [10 * MINUTE_MS, 60 * MINUTE_MS];
/** A delete that was under way when a mode was left is over by then (docs/modes.md). */
const LEAVING_MS = 90 * SECOND_MS;

/** The built-in controller has no leader: for seconds, or for as long as an hour. */
export function leaderless({ world, dice, later }: StepContext): boolean {
  const { builtIn } = world.site;
  if (builtIn === undefined) return false;
  builtIn.leave('leaderless');
  const shortly: readonly [number, number] = [5 * SECOND_MS, 3 * MINUTE_MS];
  later(dice.between(...(dice.chance(0.3) ? AN_HOUR : shortly)), () => {
    builtIn.comeBack('leaderless');
  });
  return true;
}

/** It is late for minutes, or two of it work side by side. */
export function slowBuiltIn({ world, dice, later }: StepContext): boolean {
  const { builtIn } = world.site;
  if (builtIn === undefined) return false;
  const lateMs = dice.pick([200, 5 * SECOND_MS, 45 * SECOND_MS]);
  const former = builtIn.delayMs;
  builtIn.delayMs = () => lateMs;
  builtIn.isTwofold = dice.chance(0.5);
  later(dice.between(MINUTE_MS, 8 * MINUTE_MS), () => {
    builtIn.delayMs = former;
    builtIn.isTwofold = false;
  });
  return true;
}

/** The role, the entry in the list of names, or the optional right is gone, for as long as an hour. */
export function takeRights({ world, dice, later }: StepContext): boolean {
  const { builtIn, rights } = world.site;
  if (builtIn === undefined) return false;
  const what = dice.pick(['role', 'name', 'restore'] as const);
  const { mayRestore } = rights;
  const name = editableSet(world, dice);
  if (what === 'role') rights.isTaken = true;
  else if (what === 'restore') rights.mayRestore = !mayRestore;
  else if (name !== undefined) rights.listed.delete(name);
  const shortly: readonly [number, number] = [MINUTE_MS, 5 * MINUTE_MS];
  later(dice.between(...(dice.chance(0.5) ? AN_HOUR : shortly)), () => {
    if (what === 'role') rights.isTaken = false;
    else if (what === 'restore') rights.mayRestore = mayRestore;
    else if (name !== undefined) rights.listed.add(name);
  });
  return true;
}

/** The annotation is taken away, and put back as it was before any pause. */
export function optOut({ world, dice, later }: StepContext): boolean {
  const name = editableSet(world, dice);
  const found = name === undefined ? undefined : world.api.find('daemonsets', name, 'ns');
  const text = found?.metadata.annotations?.[POLICY_ANNOTATION];
  if (name === undefined || text === undefined || world.site.builtIn === undefined) return false;
  const annotate = (policy: string | undefined): void => {
    const set = world.api.find('daemonsets', name, 'ns');
    if (set === undefined) return;
    const { [POLICY_ANNOTATION]: _policy, ...others } = set.metadata.annotations ?? {};
    const annotations = policy === undefined ? others : { ...others, [POLICY_ANNOTATION]: policy };
    world.api.change('daemonsets', { namespace: 'ns', name }, (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations },
    }));
  };
  annotate(undefined);
  later(dice.between(10 * SECOND_MS, 15 * MINUTE_MS), () => {
    annotate(text.replace(/\npaused: true/g, ''));
  });
  return true;
}

/** Somebody sets RollingUpdate in the middle of it, and OnDelete again: the built-in controller rolls meanwhile. */
export function rollByItself({ world, dice, later }: StepContext): boolean {
  const name = editableSet(world, dice);
  if (name === undefined || world.site.builtIn === undefined) return false;
  const setStrategy = (updateStrategy: JsonObject): void => {
    if (world.api.find('daemonsets', name, 'ns') === undefined) return;
    world.api.editDaemonSet(name, (spec) => ({ ...spec, updateStrategy }));
  };
  setStrategy({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } });
  later(dice.between(2 * SECOND_MS, 4 * MINUTE_MS), () => {
    setStrategy({ type: 'OnDelete' });
  });
  return true;
}

/** The operator only observes for a while, or takes over: then the built-in controller is switched off first. */
export function changeMode({ world, dice, later }: StepContext): boolean {
  const { builtIn, rights } = world.site;
  if (builtIn === undefined || rights.role !== 'copilot') return false;
  const forMs = dice.between(20 * SECOND_MS, 15 * MINUTE_MS);
  setMode(world, 'observe');
  if (dice.chance(0.5)) {
    later(forMs, () => {
      setMode(world, 'copilot');
    });
    return true;
  }
  builtIn.leave('switched-off');
  later(LEAVING_MS, () => {
    rights.role = 'takeover';
    setMode(world, 'takeover');
  });
  later(LEAVING_MS + forMs, () => {
    setMode(world, 'observe');
  });
  later(2 * LEAVING_MS + forMs, () => {
    rights.role = 'copilot';
    setMode(world, 'copilot');
    builtIn.comeBack('switched-off');
  });
  return true;
}

/** A GitOps tool puts the template that stands now back each minute, whoever changes it: also over a rollback. */
export function healBack({ world, dice, later }: StepContext): boolean {
  const name = editableSet(world, dice);
  const found = name === undefined ? undefined : world.api.find('daemonsets', name, 'ns');
  if (name === undefined || found === undefined || world.site.builtIn === undefined) return false;
  const { template } = found['spec'] as { readonly template: JsonObject };
  for (let round = 1; round <= dice.between(3, 12); round += 1) {
    later(round * MINUTE_MS, () => {
      const set = world.api.find('daemonsets', name, 'ns');
      const standing = (set?.['spec'] as { readonly template?: JsonObject } | undefined)?.template;
      if (set === undefined || JSON.stringify(standing) === JSON.stringify(template)) return;
      world.api.editDaemonSet(name, (spec) => ({ ...spec, template }));
    });
  }
  return true;
}

/** A node is cordoned and its pods are deleted, daemons as well; later it is let in again. */
export function drainNode({ world, dice, later }: StepContext): boolean {
  const nodes = world.api.list('nodes');
  if (nodes.length === 0 || world.site.builtIn === undefined) return false;
  const { name, uid } = dice.pick(nodes).metadata;
  const cordon = (isCordoned: boolean): void => {
    if (world.api.find('nodes', name)?.metadata.uid !== uid) return;
    const taints = [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }];
    const spec = isCordoned ? { unschedulable: true, taints } : { taints: [] };
    world.api.change('nodes', { namespace: '', name }, (node) => ({ ...node, spec }));
  };
  cordon(true);
  for (const pod of world.api.list('pods')) {
    if (nodeOf(pod) === name) world.controllers.deletePod(pod);
  }
  later(dice.between(10 * SECOND_MS, 10 * MINUTE_MS), () => {
    cordon(false);
  });
  return true;
}
