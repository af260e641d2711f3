/**
 * Audits what a watcher sent against what the API server committed: a mark vouches for everything
 * up to it (rows 80, 84, 89; protocol 2, 3).
 *
 * Replays all accepted messages of each epoch in their order. At every cut with a mark for nodes, the
 * nodes sent so far must be exactly the nodes as they stood at that version. Knows messages and
 * commits only; to be used where etcd was not restored.
 */
import { canonicalJson, type Json } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Projection } from '../../../src/core/model/projections.ts';
import type {
  Delta,
  WatcherBody,
  WatcherMessage,
} from '../../../src/core/model/watcher-message.ts';
import type { SimulatedApiServer } from './api-server.ts';

/** Findings; empty when every mark was honest. `cuts` tells how many were looked at. */
export function auditMarks(
  api: SimulatedApiServer,
  messages: readonly WatcherMessage[],
): { readonly findings: readonly string[]; readonly cuts: number } {
  const epochs = new Map<string, WatcherMessage[]>();
  for (const message of messages) {
    const name = `${message.epoch}/${message.incarnation}`;
    epochs.set(name, [...(epochs.get(name) ?? []), message]);
  }
  const audits = [...epochs].map(([name, own]) => auditEpoch(api, name, own));
  return {
    findings: audits.flatMap(({ findings }) => findings),
    cuts: audits.reduce((sum, { cuts }) => sum + cuts, 0),
  };
}

function auditEpoch(
  api: SimulatedApiServer,
  name: string,
  messages: readonly WatcherMessage[],
): { readonly findings: readonly string[]; readonly cuts: number } {
  const findings: string[] = [];
  const sent = new Map<string, string>();
  let isWhole = false;
  let cuts = 0;
  for (const [index, { seq, body }] of messages.entries()) {
    if (seq !== index + 1) findings.push(`${name}: seq ${seq} in place ${index + 1}`);
    if (body.kind === 'announcement' || body.kind === 'manifest')
      isWhole = body.kind === 'manifest';
    apply(sent, body);
    const mark = 'cut' in body ? body.cut?.marks.Node : undefined;
    if (!isWhole || mark === undefined) continue;
    cuts += 1;
    findings.push(...compare({ name, seq, mark: Number(mark) }, sent, nodesAt(api, Number(mark))));
  }
  return { findings, cuts };
}

function apply(sent: Map<string, string>, body: WatcherBody): void {
  if (body.kind === 'announcement') sent.clear();
  if (body.kind === 'slices') applySlices(sent, body.slices);
  if (body.kind === 'changes') for (const delta of body.deltas) applyDelta(sent, delta);
}

function applySlices(
  sent: Map<string, string>,
  slices: readonly { readonly set: string; readonly objects: readonly { object: Projection }[] }[],
): void {
  for (const { set, objects } of slices) {
    if (set !== 'nodes') continue;
    for (const { object } of objects) {
      if (object.kind === 'Node') sent.set(object.name, factsOf(object.labels, object.taints));
    }
  }
}

function applyDelta(sent: Map<string, string>, delta: Delta): void {
  if (delta.of !== 'Node') return;
  if (delta.object?.kind === 'Node') {
    sent.set(delta.name, factsOf(delta.object.labels, delta.object.taints));
  } else sent.delete(delta.name);
}

function nodesAt(api: SimulatedApiServer, version: number): Map<string, string> {
  const nodes = new Map<string, string>();
  for (const commit of api.history) {
    if (commit.version > version || commit.kind !== 'nodes') continue;
    const { name } = commit.object.metadata;
    if (commit.type === 'deleted') nodes.delete(name);
    else nodes.set(name, factsOfNode(commit.object));
  }
  return nodes;
}

function factsOfNode(node: KubernetesObject): string {
  const { taints = [] } = (node['spec'] ?? {}) as { readonly taints?: Json };
  return factsOf(node.metadata.labels ?? {}, taints);
}

function factsOf(labels: unknown, taints: unknown): string {
  return canonicalJson([labels, taints] as Json);
}

function compare(
  cut: { readonly name: string; readonly seq: number; readonly mark: number },
  sent: ReadonlyMap<string, string>,
  stood: ReadonlyMap<string, string>,
): readonly string[] {
  const names = new Set([...sent.keys(), ...stood.keys()]);
  return [...names]
    .filter((node) => sent.get(node) !== stood.get(node))
    .map((node) => `${cut.name} seq ${cut.seq}: mark ${cut.mark} does not hold for node ${node}`);
}
