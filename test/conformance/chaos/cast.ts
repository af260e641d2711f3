/**
 * Who plays: the fake nodes and the three DaemonSets of the chaos suite, and where their pods belong.
 *
 * The strategies are never edited: what a budget was is known at any time from the name alone. Versions of
 * a template carry the label `version`. What belongs where is computed here, from what nodes carry, and
 * not with anything of src/core: the judge must not err in the same way.
 */
import type { KubernetesObject } from '../control-plane/api.ts';
import { fakeNode } from '../control-plane/nodes.ts';
import { testDaemonSet } from '../scenarios/daemon-set.ts';

/** Labels and taints that move pods. */
export const PLACES = {
  storageLabel: 'chaos.test/storage',
  noSchedule: 'chaos.test/no-schedule',
  noExecute: 'chaos.test/no-execute',
  /** Of a NotReady node; no automatic toleration covers it (spec 2.6). */
  notReady: 'node.kubernetes.io/not-ready',
  neverReady: 'rollcall.test/never-ready',
  /** Of a machine that an autoscaler is about to end. */
  toBeDeleted: 'ToBeDeletedByClusterAutoscaler',
} as const;

export interface Part {
  readonly maxUnavailable: number;
  readonly maxSurge: number;
  readonly minReadySeconds: number;
  readonly readyDelayMs: number;
  /** Only on nodes with the storage label. */
  readonly isForStorage: boolean;
}

/** The DaemonSets by name. */
export const PARTS: Readonly<Record<string, Part>> = {
  agent: part({ maxUnavailable: 4, readyDelayMs: 300 }),
  mesh: part({ maxSurge: 4, minReadySeconds: 1, readyDelayMs: 500 }),
  storage: part({ maxUnavailable: 1, minReadySeconds: 2, isForStorage: true }),
};

/** Names of the DaemonSets. */
export const PART_NAMES: readonly string[] = Object.keys(PARTS);

export function partOf(name: string): Part {
  const found = PARTS[name];
  if (found === undefined) throw new Error(`nobody is called ${name}`);
  return found;
}

function part(given: Partial<Part>): Part {
  return {
    maxUnavailable: 0,
    maxSurge: 0,
    minReadySeconds: 0,
    readyDelayMs: 0,
    isForStorage: false,
    ...given,
  };
}

/** A version of a template: what its pods are labelled with, and whether their image can be pulled. */
export interface TemplateVersion {
  readonly version: string;
  readonly isBad: boolean;
}

/** A DaemonSet of the cast at a version. */
export function daemonSetOf(name: string, template: TemplateVersion): KubernetesObject {
  const { maxUnavailable, maxSurge, minReadySeconds, readyDelayMs, isForStorage } = partOf(name);
  return testDaemonSet({
    name,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } },
    minReadySeconds,
    podLabels: { version: template.version },
    podAnnotations: { 'rollcall.test/ready-delay-ms': String(readyDelayMs) },
    image: imageOf(template),
    ...(isForStorage ? { nodeSelector: { [PLACES.storageLabel]: 'true' } } : {}),
  });
}

export function editOf(template: TemplateVersion): unknown {
  return {
    spec: {
      template: {
        metadata: { labels: { version: template.version } },
        spec: { containers: [{ name: 'agent', image: imageOf(template) }] },
      },
    },
  };
}

function imageOf({ version, isBad }: TemplateVersion): string {
  return `registry.example/${isBad ? 'cannot-pull' : 'agent'}:${version}`;
}

/** Names of the nodes that exist at the beginning. */
export function nodeNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `node-${String(index + 1).padStart(3, '0')}`);
}

/** A node; every fourth has storage. */
export function castNode(name: string): KubernetesObject {
  const labels = isMadeForStorage(name) ? { [PLACES.storageLabel]: 'true' } : {};
  return fakeNode({ name, labels });
}

/** True of the name of a node that is made with storage. */
export function isMadeForStorage(name: string): boolean {
  return Number(name.replaceAll(/\D/g, '')) % 4 === 0;
}

export interface Site {
  readonly labels: Readonly<Record<string, string>>;
  readonly taintKeys: readonly string[];
}

const KEEPING_AWAY: readonly string[] = [
  PLACES.noSchedule,
  PLACES.noExecute,
  PLACES.notReady,
  PLACES.toBeDeleted,
];

/** Whether a DaemonSet's pod belongs on the node: a new one would be made. */
export function belongs(name: string, site: Site): boolean {
  return isSelected(name, site) && !site.taintKeys.some((key) => KEEPING_AWAY.includes(key));
}

/** Whether a pod that is there may stay. */
export function mayStay(name: string, site: Site): boolean {
  return isSelected(name, site) && !site.taintKeys.includes(PLACES.noExecute);
}

function isSelected(name: string, { labels }: Site): boolean {
  return !partOf(name).isForStorage || labels[PLACES.storageLabel] === 'true';
}
