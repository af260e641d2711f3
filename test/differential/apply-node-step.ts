/**
 * Steps that happen to nodes: they join, leave, are made again, and change labels, taints and readiness.
 *
 * Pods of a node that left are deleted as pod garbage collection does it, without its minute of quarantine.
 */
import { ApiError, type KubernetesObject } from '../conformance/control-plane/api.ts';
import { fakeNode, setNodeReady, type Taint } from '../conformance/control-plane/nodes.ts';
import { nodeNameOf, PLACE_LABEL } from './place.ts';
import type { Operation } from './scenario.ts';
import { markOf } from './write-all.ts';
import type { StepOutcome, StepTarget } from './step-target.ts';

type NodeStep = Extract<Operation, { readonly op: `node-${string}` }>;
type JoinStep = Extract<NodeStep, { readonly op: 'node-join' }>;
type ChangeStep = Exclude<NodeStep, { readonly op: 'node-join' }>;

/** Applies the step. */
export async function applyNodeStep(target: StepTarget, step: NodeStep): Promise<StepOutcome> {
  const { side, place } = target;
  const name = nodeNameOf(place, step.node);
  const isThere = side.mirror.at(place).nodes.some((it) => it.metadata.name === name);
  if (isThere === (step.op === 'node-join')) return 'skipped';
  if (step.op === 'node-join') await join(target, step);
  else await change(target, name, step);
  return 'done';
}

async function join({ side, place }: StepTarget, step: JoinStep): Promise<void> {
  const name = nodeNameOf(place, step.node);
  const labels = { ...step.labels, [PLACE_LABEL]: place.id };
  const taints = step.taints ?? [];
  await side.admin.post('/api/v1/nodes', fakeNode({ name, labels, taints, registersReady: true }));
}

async function change(target: StepTarget, name: string, step: ChangeStep): Promise<unknown> {
  const { admin } = target.side;
  const path = `/api/v1/nodes/${name}`;
  switch (step.op) {
    case 'node-leave':
      return leave(target, name);
    case 'node-remake':
      return remake(target, path);
    case 'node-not-ready':
    case 'node-ready':
      return setNodeReady(admin, name, step.op === 'node-ready');
    case 'node-label':
      return admin.patch(path, { metadata: { labels: { [step.key]: step.value } } });
    case 'node-mark':
      return admin.patch(`${path}?fieldManager=marker`, markOf(step.field, target.index));
    case 'node-cordon':
      return admin.patch(path, { spec: { unschedulable: true } });
    case 'node-uncordon':
      return admin.patch(path, { spec: { unschedulable: null } });
    case 'node-taint':
      return changeTaints(target, path, (taints) => [
        ...taints.filter((it) => it.key !== step.taint.key),
        step.taint,
      ]);
    case 'node-untaint':
      return changeTaints(target, path, (taints) => taints.filter((it) => it.key !== step.key));
  }
}

async function leave({ side, place }: StepTarget, name: string): Promise<void> {
  await side.admin.delete(`/api/v1/nodes/${name}`);
  const path = `/api/v1/namespaces/${place.namespace}/pods`;
  const { items } = await side.admin.list(`${path}?fieldSelector=spec.nodeName%3D${name}`);
  for (const { metadata } of items) {
    await side.admin.request({
      method: 'DELETE',
      path: `${path}/${metadata.name}`,
      body: { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } },
    });
  }
}

async function remake({ side }: StepTarget, path: string): Promise<void> {
  const former = await side.admin.get(path);
  await side.admin.delete(path);
  await side.admin.post('/api/v1/nodes', successorOf(former));
}

/** The node as its kubelet registers it again: labels and taints of its own, and Ready. */
function successorOf(former: KubernetesObject): KubernetesObject {
  const { name, labels } = former.metadata;
  const { taints = [] } = former['spec'] as { readonly taints?: readonly Taint[] };
  return fakeNode({
    name,
    ...(labels === undefined ? {} : { labels }),
    taints: taints.filter((it) => !it.key.startsWith('node.kubernetes.io/')),
    registersReady: labels?.['rollcall.test/never-ready'] !== 'true',
  });
}

/** Taints are a list: read, changed and written back, again if somebody else wrote in between. */
async function changeTaints(
  { side }: StepTarget,
  path: string,
  changeList: (taints: readonly Taint[]) => readonly Taint[],
): Promise<void> {
  for (;;) {
    const node = await side.admin.get(path);
    const { taints = [] } = node['spec'] as { readonly taints?: readonly Taint[] };
    const response = await side.admin.request({
      method: 'PATCH',
      path,
      body: {
        metadata: { resourceVersion: node.metadata.resourceVersion },
        spec: { taints: changeList(taints) },
      },
    });
    if (response.status === 409) continue;
    if (response.status >= 400) throw new ApiError({ method: 'PATCH', path }, response);
    return;
  }
}
