/**
 * Which clusters a choice means: by their names and the labels of their registrations. Pure.
 * A name that no registration has is no error: a cluster may be registered later, or be gone.
 */
import { compileSelector } from '@rollcall/base/label-selector.ts';
import type { ClusterRegistration } from '../model/registration.ts';
import type { ClusterChoice, FleetPlacement } from './fleet-daemon-set.ts';

/** The part of a registration that choices read. */
export type ChosenBy = Pick<ClusterRegistration, 'id' | 'labels'>;

/** A choice, compiled once for many clusters; absent: every cluster. */
export function compileChoice(choice: ClusterChoice | undefined): (cluster: ChosenBy) => boolean {
  if (choice === undefined) return () => true;
  const names: ReadonlySet<string> = new Set(choice.names);
  const { selector } = choice;
  const matches = selector === undefined ? () => false : compileSelector(selector).matches;
  return ({ id, labels }) => names.has(id) || matches(labels);
}

/** A placement, compiled: what it excludes is out, whatever else it says. */
export function compilePlacement({
  choice,
  exclude,
}: FleetPlacement): (cluster: ChosenBy) => boolean {
  const isChosen = compileChoice(choice);
  const isExcluded = exclude === undefined ? () => false : compileChoice(exclude);
  return (cluster) => isChosen(cluster) && !isExcluded(cluster);
}
