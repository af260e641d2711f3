/**
 * Draws what happens to nodes, and keeps the rough model of what exists up to date.
 */
import type { Seeded } from '../conformance/scenarios/seeded.ts';
import type { Taint } from '../conformance/control-plane/nodes.ts';
import { anyNode, type Model } from './generate-model.ts';
import type { Operation } from './scenario.ts';

export function joinNode(model: Model): Operation {
  const { seeded } = model;
  const node = `n${model.nextNode}`;
  model.nextNode += 1;
  model.nodes.add(node);
  const labels = {
    ...(seeded.next() < 0.4 ? { pool: seeded.pick(['a', 'b']) } : {}),
    ...(seeded.next() < 0.4 ? { disk: seeded.pick(['ssd', 'hdd']) } : {}),
  };
  if (seeded.next() < 0.8) return { op: 'node-join', node, labels };
  const taint = drawTaint(seeded);
  noteTaint(model, node, taint);
  return { op: 'node-join', node, labels, taints: [taint] };
}

export function leaveNode(model: Model): Operation {
  const node = anyNode(model);
  model.nodes.delete(node);
  model.notReady.delete(node);
  model.taintKeys.delete(node);
  return { op: 'node-leave', node };
}

/** A label that DaemonSets may select changes, or goes. */
export function labelNode(model: Model): Operation {
  const { seeded } = model;
  const node = anyNode(model);
  const key = seeded.pick(['pool', 'disk']);
  const values = key === 'pool' ? ['a', 'b', null] : ['ssd', 'hdd', null];
  return { op: 'node-label', node, key, value: seeded.pick(values) };
}

function drawTaint(seeded: Seeded): Taint {
  const key = seeded.pick(['dedicated', 'maintenance']);
  const effect = seeded.pick([
    'NoSchedule',
    'NoSchedule',
    'NoExecute',
    'PreferNoSchedule',
  ] as const);
  return seeded.next() < 0.5 ? { key, effect } : { key, value: 'yes', effect };
}

function noteTaint({ taintKeys }: Model, node: string, { key }: Taint): void {
  taintKeys.set(node, (taintKeys.get(node) ?? new Set()).add(key));
}

export function taintNode(model: Model): Operation {
  const node = anyNode(model);
  const taint = drawTaint(model.seeded);
  noteTaint(model, node, taint);
  return { op: 'node-taint', node, taint };
}

export function untaintNode({ seeded, taintKeys }: Model): Operation {
  const node = seeded.pick([...taintKeys.keys()]);
  const keys = taintKeys.get(node) ?? new Set();
  const key = seeded.pick([...keys]);
  keys.delete(key);
  if (keys.size === 0) taintKeys.delete(node);
  return { op: 'node-untaint', node, key };
}

export function spoilNode(model: Model): Operation {
  const node = anyNode(model);
  model.notReady.add(node);
  return { op: 'node-not-ready', node };
}

export function mendNode({ seeded, notReady }: Model): Operation {
  const node = seeded.pick([...notReady]);
  notReady.delete(node);
  return { op: 'node-ready', node };
}
