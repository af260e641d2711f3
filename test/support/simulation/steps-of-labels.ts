/** Steps of somebody who takes a label off nodes without knowing which DaemonSets select by it (Reddit, March 2023). */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { StepContext } from './step-context.ts';
import { write } from './steps-of-writers.ts';
import type { World } from './world.ts';

const LABEL = 'disk';
const SECOND_MS = 1000;

/** Takes the label off all nodes within a second, or off one after the other; where half of them lack it, puts it back. */
export function stripLabels(context: StepContext): boolean {
  const { world, dice, later } = context;
  const nodes = world.api.list('nodes');
  const labelled = nodes.filter(({ metadata }) => metadata.labels?.[LABEL] === 'ssd');
  if (labelled.length * 2 < nodes.length) {
    for (const node of nodes) relabel(world, node, 'ssd');
    return nodes.length > 0;
  }
  const isAtOnce = dice.chance(0.5);
  const apartMs = dice.between(20 * SECOND_MS, 60 * SECOND_MS);
  for (const [index, node] of labelled.entries()) {
    const delayMs = isAtOnce ? dice.between(0, SECOND_MS) : index * apartMs;
    later(delayMs, () => {
      relabel(world, node, undefined);
    });
  }
  return true;
}

function relabel(world: World, node: KubernetesObject, value: string | undefined): void {
  const found = world.api.find('nodes', node.metadata.name);
  if (found === undefined) return;
  const { [LABEL]: _former, ...others } = found.metadata.labels ?? {};
  const labels = value === undefined ? others : { ...others, [LABEL]: value };
  write(world, { kind: 'nodes', object: found }, { labels });
}
