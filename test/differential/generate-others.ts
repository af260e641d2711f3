/**
 * Draws what others write between the steps of a scenario: managers that change nothing but metadata, server-side
 * apply, installers that erase metadata, a status that somebody else wrote, users who edit and undo at once, pods that
 * are evicted, deleted by name a second time, or lose a label.
 *
 * Dice of its own, and it changes nothing in the model: what else a seed draws is the same without it. Pure.
 */
import type { Seeded } from '../conformance/scenarios/seeded.ts';
import { drawRow, type DrawRow } from './draw-row.ts';
import { anyNode, type Model } from './generate-model.ts';
import type { Operation } from './scenario.ts';

/** How often others write after what was drawn. */
const OTHERS_RATE = 0.3;
/** Versions that no other edit has. */
const VERSIONS_FROM = 1000;

/** What may happen, how often, and whether only to sets whose rollouts end well. */
const DRAWS: readonly DrawRow[] = [
  [3, 'any', (_model, set) => ({ op: 'set-annotate', set })],
  [3, 'any', () => ({ op: 'all-annotate' })],
  [3, 'any', () => ({ op: 'all-rewrite' })],
  [3, 'any', (_model, set) => ({ op: 'set-apply', set })],
  [
    2,
    'calm',
    ({ nextVersion }, set) => ({ op: 'set-apply', set, version: VERSIONS_FROM + nextVersion }),
  ],
  [2, 'any', (_model, set) => ({ op: 'set-put', set })],
  [2, 'any', (_model, set) => ({ op: 'set-status', set })],
  [2, 'calm', (_model, set) => ({ op: 'set-replace', set })],
  [
    2,
    'any',
    ({ seeded }, set) => ({
      op: 'set-flip',
      set,
      field: seeded.pick(['annotation', 'minReadySeconds']),
    }),
  ],
  [2, 'calm', (_model, set) => ({ op: 'set-flip', set, field: 'template' })],
  [3, 'any', (model, set) => ({ op: 'pod-evict', set, node: anyNode(model) })],
  [3, 'any', (model, set) => ({ op: 'pod-delete-again', set, node: anyNode(model) })],
  [
    4,
    'any',
    (model, set) => ({
      op: 'pod-strip',
      set,
      node: anyNode(model),
      label: model.seeded.pick(['app', 'controller-revision-hash', 'pod-template-generation']),
    }),
  ],
];

/** What others do next; mostly nothing. */
export function drawOthers(model: Model, seeded: Seeded): readonly Operation[] {
  return drawRow({ rate: OTHERS_RATE, rows: DRAWS }, model, seeded);
}
