/**
 * What is known at the moment when Rollcall should have settled and has not: nodes and pods as they are,
 * and the last lines of every program's log. A failure on another machine leaves nothing else behind.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubernetesObject } from '../control-plane/api.ts';
import { listAll } from '../control-plane/watch.ts';
import type { Theatre } from './theatre.ts';

const LINES_MAX = 25;
const LINE_CHARACTERS_MAX = 400;
const LOGS = [
  'engine.log',
  'watcher.log',
  'control-plane/controllerManager.log',
  'control-plane/scheduler.log',
  'control-plane/kwok.log',
];

/** Lines for people. */
export async function gatherEvidence({ admin, directory }: Theatre): Promise<readonly string[]> {
  const lists = await Promise.all([
    listAll(admin, '/api/v1/nodes'),
    listAll(admin, '/apis/apps/v1/namespaces/default/daemonsets'),
    listAll(admin, '/api/v1/namespaces/default/pods'),
  ]);
  const objects = lists.flatMap(({ items }) => items.map(describe));
  const logs = await Promise.all(LOGS.map((name) => lastLines(directory, name)));
  return ['objects:', ...objects, ...logs.flat()];
}

function describe(object: KubernetesObject): string {
  const { name, labels = {}, generation, resourceVersion } = object.metadata;
  const { nodeName, taints } = object['spec'] as {
    readonly nodeName?: string;
    readonly taints?: unknown;
  };
  const shown = {
    name,
    resourceVersion,
    labels,
    ...(generation === undefined ? {} : { generation, status: object['status'] }),
    ...(taints === undefined ? {} : { taints }),
    ...(nodeName === undefined ? {} : { nodeName, ...podState(object) }),
  };
  return `  ${JSON.stringify(shown)}`;
}

function podState(pod: KubernetesObject): object {
  const { deletionTimestamp } = pod.metadata;
  const { phase, conditions = [] } = pod['status'] as {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  const ready = conditions.find(({ type }) => type === 'Ready')?.status;
  return { phase, ready, deletionTimestamp };
}

async function lastLines(directory: string, name: string): Promise<readonly string[]> {
  const text = await readFile(join(directory, name), 'utf8').catch(
    (cause: unknown) => `cannot be read: ${String(cause)}`,
  );
  const lines = text.trimEnd().split('\n').slice(-LINES_MAX);
  return [`${name}:`, ...lines.map((line) => `  ${line.slice(0, LINE_CHARACTERS_MAX)}`)];
}
