/** Objects that the simulated API server stores as they are sent. */
import type { Effect } from '../../src/core/model/effects.ts';

/** What is stored as it is sent. */
export const CREATED = {
  'create-revision': 'controllerrevisions',
  'create-copy': 'podtemplates',
  'create-event': 'events',
} as const;

export type PlainCreate = Extract<Effect, { kind: keyof typeof CREATED }>;

/** True for one of them. */
export function isPlainCreate(effect: Effect): effect is PlainCreate {
  return effect.kind in CREATED;
}
