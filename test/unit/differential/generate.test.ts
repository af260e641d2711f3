/**
 * Scenarios of the differential suite are drawn the same from the same seed, and are plain JSON.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { generateScenario } from '../../differential/generate.ts';
import { placeOf } from '../../differential/place.ts';
import { newDaemonSet, type SetSpec } from '../../differential/set-spec.ts';
import { countKinds, STEP_KINDS, type StepKind } from '../../differential/step-kinds.ts';

const STEPS_COUNT = 20;
/** What others write (generate-others.ts). */
const OTHERS: ReadonlySet<string> = new Set([
  'set-annotate',
  'set-apply',
  'set-put',
  'set-replace',
  'set-status',
  'set-flip',
  'pod-evict',
  'pod-delete-again',
  'pod-strip',
  'all-annotate',
  'all-rewrite',
  'set-mark',
  'pod-mark',
  'node-mark',
  'set-writers',
]);

function draw(seed: number, index: number): ReturnType<typeof generateScenario> {
  return generateScenario({ seed, index, stepsCount: STEPS_COUNT });
}

const KINDS_OF_SCENARIOS: readonly Readonly<Record<StepKind, number>>[] = Array.from(
  { length: 400 },
  (_, index) => countKinds(draw(11, index).steps),
);

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

interface Term {
  readonly matchExpressions?: readonly Requirement[];
  readonly matchFields?: readonly Requirement[];
}

interface DrawnSpec {
  readonly affinity?: {
    readonly nodeAffinity: {
      readonly requiredDuringSchedulingIgnoredDuringExecution: {
        readonly nodeSelectorTerms: readonly Term[];
      };
    };
  };
}

function termsOf({ affinity }: DrawnSpec): readonly Term[] {
  const required = affinity?.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution;
  return required?.nodeSelectorTerms ?? [];
}

/** Pod specs of the DaemonSets that four hundred scenarios make. */
function drawnSpecs(): readonly DrawnSpec[] {
  const steps = Array.from({ length: 400 }, (_, index) => draw(11, index).steps).flat();
  return steps
    .filter((step) => step.op === 'set-create')
    .map(({ set, form }) => newDaemonSet(placeOf('p1'), set, form)['spec'] as SetSpec)
    .map(({ template }) => template.spec as DrawnSpec);
}

describe('a drawn scenario', () => {
  it('is the same for the same seed and number, and another for another', () => {
    assert.deepEqual(draw(1, 2), draw(1, 2));
    assert.notDeepEqual(draw(1, 2).steps, draw(1, 3).steps);
    assert.notDeepEqual(draw(1, 2).steps, draw(2, 2).steps);
  });

  it('is plain JSON: what is saved is what is played', () => {
    for (let index = 0; index < 50; index += 1) {
      const scenario = draw(3, index);
      assert.deepEqual(JSON.parse(JSON.stringify(scenario)), scenario);
    }
  });

  it('draws every kind of step within two hundred scenarios', () => {
    const drawn = new Set<string>();
    for (let index = 0; index < 200; index += 1) {
      for (const { op } of draw(5, index).steps) drawn.add(op);
    }
    assert.equal(drawn.size, 43, [...drawn].sort().join(' '));
  });

  for (const kind of STEP_KINDS) {
    it(`brings ${kind} into one scenario of ten, at least`, () => {
      const having = KINDS_OF_SCENARIOS.filter((counts) => counts[kind] > 0).length;
      assert.ok(having >= KINDS_OF_SCENARIOS.length / 10, `${String(having)} of 400`);
    });
  }

  it('selects by labels and fields only as the API server accepts it', () => {
    const terms = drawnSpecs().flatMap(termsOf);
    for (const { matchExpressions = [], matchFields = [] } of terms) {
      assert.ok(matchExpressions.length + matchFields.length > 0, 'an empty term selects nothing');
    }
    const fields = terms.flatMap(({ matchFields = [] }) => matchFields);
    for (const { key, values } of fields) {
      assert.deepEqual([key, values?.length], ['metadata.name', 1]);
    }
    const expressions = terms.flatMap(({ matchExpressions = [] }) => matchExpressions);
    const numeric = expressions.filter(({ operator }) => ['Gt', 'Lt'].includes(operator));
    for (const { values } of numeric) assert.match(values?.join(' ') ?? '', /^\d+$/);
    const names = new Set([
      ...fields.map(({ operator }) => `field ${operator}`),
      ...expressions.map(({ operator }) => operator),
    ]);
    const expected = [
      'DoesNotExist',
      'Exists',
      'Gt',
      'In',
      'Lt',
      'NotIn',
      'field In',
      'field NotIn',
    ];
    assert.deepEqual([...names].sort(), expected);
  });

  it('lets others write between the steps, never between an edit and the one that overtakes it', () => {
    let count = 0;
    for (let index = 0; index < 200; index += 1) {
      const { steps } = draw(9, index);
      for (const [at, step] of steps.entries()) {
        if (!OTHERS.has(step.op)) continue;
        count += 1;
        assert.notEqual(steps[at - 1]?.isHurried, true, `${String(index)}: ${step.op}`);
      }
    }
    assert.ok(count > 200, `${String(count)} steps of others`);
  });

  it('never interrupts a rollout that could not complete: how far it came would be chance', () => {
    for (let index = 0; index < 200; index += 1) {
      const { steps } = draw(7, index);
      for (const [at, step] of steps.entries()) {
        if (step.op !== 'set-edit' || step.isHurried !== true) continue;
        const next = steps[at + 1];
        const forms = [step.form, ...(next?.op === 'set-edit' ? [next.form] : [])];
        assert.deepEqual(
          forms.filter(({ isUnhealthy }) => isUnhealthy === true),
          [],
        );
      }
    }
  });
});
