/**
 * Finds the node on which a pod step makes sense: the one that is written, or the next one by name where both
 * clusters have such a pod. Placement decides which nodes have pods, and a drawn scenario cannot know it.
 */
import { readPod } from '../conformance/control-plane/observed-records.ts';
import { findSubjects } from './find-pods.ts';
import type { Pair } from './pair.ts';
import { nodeNameOf, roleOfNode, type Place } from './place.ts';
import type { Step } from './scenario.ts';

/** The step on a node that has what it is about; unchanged where none has. */
export function resolveStep(pair: Pair, place: Place, step: Step): Step {
  if (!step.op.startsWith('pod-') || step.op === 'pod-orphan' || !('set' in step)) return step;
  if (!('node' in step)) return step;
  const { op, set } = step;
  const [original = new Set<string>(), rollcall = new Set<string>()] = [
    pair.original,
    pair.rollcall,
  ].map(({ mirror }) => {
    const pods = findSubjects(mirror.at(place), { op, set });
    return new Set(pods.map((pod) => readPod(pod).node ?? ''));
  });
  const nodes = [...original].filter((it) => rollcall.has(it)).sort();
  const written = nodeNameOf(place, step.node);
  const node = nodes.find((it) => it >= written) ?? nodes[0];
  return node === undefined ? step : { ...step, node: roleOfNode(place, node) };
}
