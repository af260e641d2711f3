/**
 * Strays: nodes that run the new revision though their step is not open (copilot; in takeover of content, ADR 0061).
 *
 * The built-in controller makes every pod of the newest template, so a node that joins, is drained or loses its pod is ahead of its
 * stage. So is one that gets content as it is: only a template can be given back. They are watched as canaries are
 * (find-breach.ts judges every updated pod); here they are only named, for people.
 */
import type { NodeName } from '../model/identifiers.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import { nameOf } from './stage-node.ts';
import type { StagesInput } from './stages-input.ts';
import { findSteps } from './steps.ts';

/** Their names, in the order of the view. */
export function findStrays(
  record: RolloutRecord,
  { nodes, policy }: Pick<StagesInput, 'nodes' | 'policy'>,
): readonly NodeName[] {
  if (record.step.kind === 'done' || record.isReturn) return [];
  const open = new Set(findSteps(record, nodes, policy).open.map(nameOf));
  return nodes.filter((node) => node.updated !== undefined && !open.has(nameOf(node))).map(nameOf);
}
