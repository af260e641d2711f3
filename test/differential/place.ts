/**
 * Where one scenario plays: a namespace and nodes of its own, so that several play side by side on the
 * same two clusters. Every node carries the scenario's label, and every DaemonSet selects it.
 */

export interface Place {
  readonly id: string;
  readonly namespace: string;
}

/** Label of a scenario's nodes. */
export const PLACE_LABEL = 'differential.rollcall.test/place';

/** A place by its id, which must not have been used on these clusters before. */
export function placeOf(id: string): Place {
  return { id, namespace: `differential-${id}` };
}

export function nodeNameOf(place: Place, role: string): string {
  return `${place.id}-${role}`;
}

export function roleOfNode(place: Place, name: string): string {
  return name.startsWith(`${place.id}-`) ? name.slice(place.id.length + 1) : name;
}
