/**
 * Steps that happen to DaemonSets: created, edited, rolled back as `kubectl rollout undo` does it, deleted,
 * and made again under the same name.
 */
import { ApiError, type KubernetesObject } from '../conformance/control-plane/api.ts';
import type { StepOutcome, StepTarget } from './step-target.ts';
import { applySetWriter, collectionPath } from './apply-set-writer.ts';
import { controllerOf, revisionNumber } from './find-pods.ts';
import type { Operation, Propagation, SetForm } from './scenario.ts';
import { applyForm, newDaemonSet, type SetSpec } from './set-spec.ts';
import { waitForChange } from './wait-for-change.ts';

type SetStep = Extract<Operation, { readonly op: `set-${string}` }>;

const GONE_DEADLINE_MS = 45_000;
const STRATEGIC_MERGE = 'application/strategic-merge-patch+json';

/** Applies the step. */
export function applySetStep(target: StepTarget, step: SetStep): Promise<StepOutcome> {
  switch (step.op) {
    case 'set-create':
      return create(target, step);
    case 'set-edit':
      return edit(target, step);
    case 'set-undo':
      return undo(target, step.set);
    case 'set-delete':
      return remove(target, step);
    case 'set-remake':
      return remake(target, step);
    default:
      return applySetWriter(target, step);
  }
}

async function create(
  { side, place }: StepTarget,
  { set, form }: { readonly set: string; readonly form: SetForm },
): Promise<StepOutcome> {
  await side.admin.post(collectionPath(place.namespace), newDaemonSet(place, set, form));
  return 'done';
}

async function edit(
  { side, place }: StepTarget,
  { set, form }: { readonly set: string; readonly form: SetForm },
): Promise<StepOutcome> {
  const path = `${collectionPath(place.namespace)}/${set}`;
  for (;;) {
    const before = await side.admin.get(path);
    const body = { ...before, spec: applyForm(before['spec'] as SetSpec, form, place) };
    const response = await side.admin.request({ method: 'PUT', path, body });
    // The controller wrote the status in between.
    if (response.status === 409) continue;
    if (response.status >= 400) throw new ApiError({ method: 'PUT', path }, response);
    return 'done';
  }
}

/** The template of the revision before the last, applied as kubectl applies it. */
async function undo({ side, place }: StepTarget, set: string): Promise<StepOutcome> {
  const path = `${collectionPath(place.namespace)}/${set}`;
  const daemonSet = await side.admin.get(path);
  const { items } = await side.admin.list(
    `/apis/apps/v1/namespaces/${place.namespace}/controllerrevisions`,
  );
  const former = items
    .filter((it) => controllerOf(it)?.uid === daemonSet.metadata.uid)
    .sort((one, other) => revisionNumber(other) - revisionNumber(one))[1];
  if (former === undefined) return 'skipped';
  const response = await side.admin.request({
    method: 'PATCH',
    path,
    body: former['data'],
    contentType: STRATEGIC_MERGE,
  });
  if (response.status >= 400) throw new ApiError({ method: 'PATCH', path }, response);
  return 'done';
}

async function remove(
  { side, place }: StepTarget,
  { set, propagation }: { readonly set: string; readonly propagation: Propagation },
): Promise<StepOutcome> {
  await side.admin.delete(`${collectionPath(place.namespace)}/${set}`, {
    propagationPolicy: propagation,
  });
  return 'done';
}

/** Deletes and creates at once; where the old one stays for a while, waits until its name is free. */
async function remake(
  target: StepTarget,
  step: { readonly set: string; readonly propagation: Propagation; readonly form: SetForm },
): Promise<StepOutcome> {
  const { side, place } = target;
  const { set } = step;
  const former = await side.admin.get(`${collectionPath(place.namespace)}/${set}`);
  await remove(target, step);
  const isThere = (): boolean => side.mirror.at(place).daemonSets.some((it) => isSame(it, former));
  const endsAtMs = performance.now() + GONE_DEADLINE_MS;
  while (isThere()) {
    if (performance.now() > endsAtMs) return 'stays';
    await waitForChange([side.mirror], { place, timeoutMs: GONE_DEADLINE_MS });
  }
  return create(target, step);
}

function isSame(one: KubernetesObject, other: KubernetesObject): boolean {
  return one.metadata.uid === other.metadata.uid;
}
