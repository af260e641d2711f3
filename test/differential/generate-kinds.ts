/**
 * Draws what came later into the scenarios: numeric labels and Gt/Lt, matchFields, templates that name a node, selectors
 * that overlap, minReadySeconds that no scenario outlasts, marks that mean nothing, writers at the same moment.
 *
 * Dice of its own: what else a seed draws is the same without it. Some fields are added to steps that were drawn
 * anyway, and some steps come in between. Pure.
 */
import type { Seeded } from '../conformance/scenarios/seeded.ts';
import { drawRow, type DrawRow } from './draw-row.ts';
import { anyNode, type Model } from './generate-model.ts';
import type { Operation, SetForm, Step } from './scenario.ts';

/** Longer than any scenario. */
export const LONG_READY_SECONDS = 3600;

/** How often a step of these comes after what was drawn. */
const KINDS_RATE = 0.25;
/** Versions that no other edit has. */
const VERSIONS_FROM = 2000;
/** Numbers as labels hold them: one with a leading zero, and what is none. */
const CORES = ['2', '4', '8', '08', '16', 'many'] as const;
const BOUNDS = ['3', '4', '8'] as const;
const FIELD = ['labels', 'annotations'] as const;

export function withKinds(model: Model, seeded: Seeded, steps: readonly Step[]): readonly Step[] {
  return steps.map((step) => withKind({ ...model, seeded }, step));
}

function withKind(model: Model, step: Step): Step {
  const { seeded } = model;
  switch (step.op) {
    case 'node-join': {
      if (seeded.next() >= 0.7) return step;
      return { ...step, labels: { ...step.labels, cores: seeded.pick(CORES) } };
    }
    case 'set-create':
    case 'set-remake':
      return { ...step, form: { ...step.form, ...newForm(model, step.form) } };
    case 'set-edit':
      return { ...step, form: { ...step.form, ...changeOf(model, step.form) } };
    default:
      return step;
  }
}

function newForm(model: Model, { pool, disk }: SetForm): Partial<SetForm> {
  const { seeded } = model;
  return {
    ...(pool === undefined && disk === undefined ? drawPlacement(model) : {}),
    ...(seeded.next() < 0.06 ? { minReadySeconds: LONG_READY_SECONDS } : {}),
    ...(seeded.next() < 0.3 ? { selector: 'shared' as const } : {}),
  };
}

/** One way to choose nodes, not several: too few nodes would be left, and most steps without a subject. */
function drawPlacement(model: Model): Partial<SetForm> {
  const { seeded } = model;
  const chance = seeded.next();
  if (chance < 0.3) return { cores: drawCores(seeded) };
  if (chance < 0.55) return { fields: drawFields(model) };
  return chance < 0.65 ? { nodeName: anyNode(model) } : {};
}

/** Of the template alone, and only where it changes anyway. */
function changeOf(model: Model, form: SetForm): Partial<SetForm> {
  const { seeded } = model;
  if (form.version === undefined) return {};
  const change = <Value>(draw: () => Value): Value | null => (seeded.next() < 0.6 ? draw() : null);
  return {
    ...(seeded.next() < 0.15 ? { cores: change(() => drawCores(seeded)) } : {}),
    ...(seeded.next() < 0.12 ? { fields: change(() => drawFields(model)) } : {}),
    ...(seeded.next() < 0.06 ? { nodeName: change(() => anyNode(model)) } : {}),
  };
}

function drawCores(seeded: Seeded): NonNullable<SetForm['cores']> {
  return { operator: seeded.pick(['Gt', 'Lt'] as const), value: seeded.pick(BOUNDS) };
}

function drawFields(model: Model): NonNullable<SetForm['fields']> {
  const nodes = [...new Set([anyNode(model), anyNode(model)])];
  return { operator: model.seeded.pick(['In', 'NotIn', 'NotIn'] as const), nodes };
}

const DRAWS: readonly DrawRow[] = [
  [
    4,
    'any',
    (model) => ({
      op: 'node-label',
      node: anyNode(model),
      key: 'cores',
      value: model.seeded.pick([...CORES, null]),
    }),
  ],
  [
    2,
    'any',
    (model) => ({ op: 'node-mark', node: anyNode(model), field: model.seeded.pick(FIELD) }),
  ],
  [
    2,
    'any',
    (model, set) => ({
      op: 'pod-mark',
      set,
      node: anyNode(model),
      field: model.seeded.pick(FIELD),
    }),
  ],
  [2, 'any', (model, set) => ({ op: 'set-mark', set, field: model.seeded.pick(FIELD) })],
  [
    2,
    'any',
    ({ seeded }, set) => ({
      op: 'set-edit',
      set,
      form: { minReadySeconds: seeded.pick([0, LONG_READY_SECONDS]) },
    }),
  ],
  [
    3,
    'calm',
    ({ nextVersion }, set) => ({ op: 'set-writers', set, version: VERSIONS_FROM + nextVersion }),
  ],
];

/** A step of these; mostly none. */
export function drawKinds(model: Model, seeded: Seeded): readonly Operation[] {
  return drawRow({ rate: KINDS_RATE, rows: DRAWS }, model, seeded);
}
