/**
 * What a pod asks for: requests as scheduler and kubelet add them up, host ports, and its QoS class. Pure.
 *
 * Effective request = max(sum of ordinary containers and sidecars, the largest init container on top of the sidecars
 * before it), plus the overhead. Differs from Kubernetes: requests of the pod as a whole (spec.resources) are not read.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import { parseQuantity } from '../../objects/quantity.ts';
import { isSidecar } from './pod-object.ts';
import type { ContainerSpec, PodSpec } from './pod-object.ts';

/** Amounts by resource name, in billionths of the unit. */
export type Amounts = ReadonlyMap<string, bigint>;

/** A port of the host that a container takes. */
export interface HostPort {
  readonly ip: string;
  readonly port: number;
  readonly protocol: string;
}

/** The text's amount in billionths; 0 for what is no quantity. */
export function nanosOf(text: string | undefined): bigint {
  return text === undefined ? 0n : (parseQuantity(text)?.nanos ?? 0n);
}

/** The pod's effective requests. */
export function podRequests(spec: PodSpec): Amounts {
  const total = new Map<string, bigint>();
  for (const container of spec.containers) addRequests(total, container);
  const sidecars = new Map<string, bigint>();
  const initPeak = new Map<string, bigint>();
  for (const container of spec.initContainers ?? []) {
    if (isSidecar(container)) {
      addRequests(sidecars, container);
      raise(initPeak, sidecars);
    } else {
      const sum = new Map(sidecars);
      addRequests(sum, container);
      raise(initPeak, sum);
    }
  }
  for (const [name, nanos] of sidecars) total.set(name, (total.get(name) ?? 0n) + nanos);
  raise(total, initPeak);
  const overhead = spec['overhead'];
  if (isJsonObject(overhead)) {
    for (const [name, text] of Object.entries(overhead)) {
      if (typeof text !== 'string') continue;
      total.set(name, (total.get(name) ?? 0n) + nanosOf(text));
    }
  }
  return total;
}

function addRequests(total: Map<string, bigint>, container: ContainerSpec): void {
  for (const [name, text] of Object.entries(container.resources?.requests ?? {})) {
    total.set(name, (total.get(name) ?? 0n) + nanosOf(text));
  }
}

function raise(total: Map<string, bigint>, floor: Amounts): void {
  for (const [name, nanos] of floor) {
    if (nanos > (total.get(name) ?? 0n)) total.set(name, nanos);
  }
}

/** The host ports that the pod's ordinary containers and sidecars take. */
export function hostPorts(spec: PodSpec): readonly HostPort[] {
  const containers = [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)];
  return containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, protocol = 'TCP', hostIP = '0.0.0.0' }) =>
      hostPort > 0 ? [{ ip: hostIP === '' ? '0.0.0.0' : hostIP, port: hostPort, protocol }] : [],
    ),
  );
}

/** Do two host ports exclude each other? 0.0.0.0 means every address. */
export function conflicts(left: HostPort, right: HostPort): boolean {
  if (left.port !== right.port || left.protocol !== right.protocol) return false;
  return left.ip === right.ip || left.ip === '0.0.0.0' || right.ip === '0.0.0.0';
}

/** Guaranteed, Burstable or BestEffort, by cpu and memory of all containers. */
export function qosClassOf(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  const isAnySet = containers.some(({ resources }) =>
    [resources?.requests, resources?.limits].some(
      (list) => nanosOf(list?.['cpu']) > 0n || nanosOf(list?.['memory']) > 0n,
    ),
  );
  if (!isAnySet) return 'BestEffort';
  return containers.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

function isGuaranteed({ resources }: ContainerSpec): boolean {
  return ['cpu', 'memory'].every((name) => {
    const limit = nanosOf(resources?.limits?.[name]);
    const request = resources?.requests?.[name];
    return limit > 0n && (request === undefined || nanosOf(request) === limit);
  });
}
