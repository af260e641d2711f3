/**
 * What others write to a DaemonSet: marks of their own, server-side apply by two managers, a PUT that erases metadata,
 * a status, a change that is put back at once, and the same object made again under its name.
 */
import { ApiError } from '../conformance/control-plane/api.ts';
import type { ApiRequest, KubernetesObject } from '../conformance/control-plane/api.ts';
import type { FlippedField, OthersOperation } from './scenario.ts';
import { applyForm, type SetSpec } from './set-spec.ts';
import type { StepOutcome, StepTarget } from './step-target.ts';
import { waitForChange } from './wait-for-change.ts';
import { markOf } from './write-all.ts';

type SetWriter = Extract<OthersOperation, { readonly op: `set-${string}` }>;

const APPLY = 'application/apply-patch+yaml';
const GONE_DEADLINE_MS = 45_000;
/** A version that no other step draws, for as long as a flip lasts. */
const FLIPPED_VERSION = 999;

/** Applies the step. */
export async function applySetWriter(target: StepTarget, step: SetWriter): Promise<StepOutcome> {
  const { side, place, index } = target;
  const path = `${collectionPath(place.namespace)}/${step.set}`;
  const current = await side.admin.get(path);
  switch (step.op) {
    case 'set-annotate':
      await side.admin.patch(`${path}?fieldManager=annotator`, markOf('annotations', index));
      return 'done';
    case 'set-mark':
      await side.admin.patch(`${path}?fieldManager=marker`, markOf(step.field, index));
      return 'done';
    case 'set-writers':
      return writeAtOnce(target, path, step.version);
    case 'set-apply':
      return applyByTwo(target, { path, current, version: step.version });
    case 'set-put':
      return replaceWhole(target, path, current);
    case 'set-status':
      return writeStatus(target, path);
    case 'set-flip':
      return flip(target, { path, current, field: step.field });
    case 'set-replace':
      return makeAgain(target, path, current);
  }
}

export function collectionPath(namespace: string): string {
  return `/apis/apps/v1/namespaces/${namespace}/daemonsets`;
}

/**
 * As a person does it. Any other manager would pause the DaemonSet for ten minutes, if Rollcall happens to read it
 * before its next status, as is promised (status-writers.ts).
 */
async function writeStatus({ side }: StepTarget, path: string): Promise<StepOutcome> {
  const status = { numberReady: 0, numberAvailable: 0 };
  await side.admin.patch(`${path}/status?fieldManager=kubectl-edit`, { status });
  return 'done';
}

/**
 * One applies a mark of its own, the other the whole object as it stands in Git, as Argo CD and Flux do. The mark comes
 * first: a new revision copies the annotations of its moment.
 */
async function applyByTwo(
  target: StepTarget,
  entry: {
    readonly path: string;
    readonly current: KubernetesObject;
    readonly version: number | undefined;
  },
): Promise<StepOutcome> {
  const { current, path, version } = entry;
  const { name, namespace, labels } = current.metadata;
  const identity = { apiVersion: 'apps/v1', kind: 'DaemonSet' };
  const form = version === undefined ? {} : { version };
  const spec = applyForm(current['spec'] as SetSpec, form, target.place);
  const annotations = { 'others.rollcall.test/tracking': String(target.index) };
  const bodies = {
    'argocd-controller': { ...identity, metadata: { name, namespace, annotations } },
    flux: { ...identity, metadata: { name, namespace, labels }, spec },
  };
  for (const [manager, body] of Object.entries(bodies)) {
    await demand(target, {
      method: 'PATCH',
      path: `${path}?fieldManager=${manager}&force=true`,
      body,
      contentType: APPLY,
    });
  }
  return 'done';
}

/**
 * Three writers at the same moment: the template by server-side apply, a label by a patch, another by an update that
 * starts again when it lost. They write different fields, so that their order decides nothing.
 */
async function writeAtOnce(
  target: StepTarget,
  path: string,
  version: number,
): Promise<StepOutcome> {
  const { side, place, index } = target;
  const identity = { apiVersion: 'apps/v1', kind: 'DaemonSet' };
  const metadata = { name: path.split('/').at(-1), namespace: place.namespace };
  const containers = [{ name: 'agent', image: `registry.example/agent:${String(version)}` }];
  const labelled = (who: string): Record<string, string> => ({
    [`others.rollcall.test/${who}`]: String(index),
  });
  const update = async (): Promise<void> => {
    for (;;) {
      const current = await side.admin.get(path);
      const labels = { ...current.metadata.labels, ...labelled('updater') };
      const body = { ...current, metadata: { ...current.metadata, labels } };
      const request = { method: 'PUT', path: `${path}?fieldManager=updater`, body } as const;
      const response = await side.admin.request(request);
      if (response.status === 409) continue;
      if (response.status >= 400) throw new ApiError(request, response);
      return;
    }
  };
  await Promise.all([
    demand(target, {
      method: 'PATCH',
      path: `${path}?fieldManager=image-updater&force=true`,
      body: { ...identity, metadata, spec: { template: { spec: { containers } } } },
      contentType: APPLY,
    }),
    side.admin.patch(`${path}?fieldManager=patcher`, { metadata: { labels: labelled('patcher') } }),
    update(),
  ]);
  return 'done';
}

/** The whole object without a version: labels and annotations of others are gone (kubeadm). */
async function replaceWhole(
  target: StepTarget,
  path: string,
  current: KubernetesObject,
): Promise<StepOutcome> {
  await demand(target, { method: 'PUT', path, body: bare(current) });
  return 'done';
}

function bare({ metadata: { name, namespace }, spec }: KubernetesObject): unknown {
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name, namespace }, spec };
}

/** Changes something and puts it back, with nothing in between: one may be seen, or both, or neither. */
async function flip(
  { side, place, index }: StepTarget,
  entry: {
    readonly path: string;
    readonly current: KubernetesObject;
    readonly field: FlippedField;
  },
): Promise<StepOutcome> {
  const { path, current, field } = entry;
  const spec = current['spec'] as SetSpec;
  const { minReadySeconds = 0 } = spec as { readonly minReadySeconds?: number };
  const { containers } = spec.template.spec;
  const images = (list: typeof containers): unknown => ({
    spec: { template: { spec: { containers: list } } },
  });
  const changes: Readonly<Record<FlippedField, readonly unknown[]>> = {
    annotation: [
      { metadata: { annotations: { 'others.rollcall.test/flip': String(index) } } },
      { metadata: { annotations: { 'others.rollcall.test/flip': null } } },
    ],
    minReadySeconds: [
      { spec: { minReadySeconds: minReadySeconds + 5 } },
      { spec: { minReadySeconds } },
    ],
    template: [
      images(applyForm(spec, { version: FLIPPED_VERSION }, place).template.spec.containers),
      images(containers),
    ],
  };
  for (const change of changes[field]) await side.admin.patch(path, change);
  return 'done';
}

/** `kubectl replace --force`: deleted, and the same made at once under its name, while the old pods still run. */
async function makeAgain(
  target: StepTarget,
  path: string,
  current: KubernetesObject,
): Promise<StepOutcome> {
  const { side, place } = target;
  await side.admin.delete(path, { propagationPolicy: 'Background' });
  const { uid } = current.metadata;
  const isThere = (): boolean =>
    side.mirror.at(place).daemonSets.some((it) => it.metadata.uid === uid);
  const endsAtMs = performance.now() + GONE_DEADLINE_MS;
  while (isThere()) {
    if (performance.now() > endsAtMs) return 'stays';
    await waitForChange([side.mirror], { place, timeoutMs: GONE_DEADLINE_MS });
  }
  await side.admin.post(collectionPath(place.namespace), bare(current));
  return 'done';
}

async function demand({ side }: StepTarget, request: ApiRequest): Promise<void> {
  const response = await side.admin.request(request);
  if (response.status >= 400) throw new ApiError(request, response);
}
