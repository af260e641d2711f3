/**
 * Pods that a webhook pinned to no node: it gave them a node selector that no node has.
 *
 * The scheduler finds no place for them, and whoever reads the end state leaves them out. Pure.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';

/** The selector that no node has: a pod that asks for it stays Pending. */
export const NOWHERE: JsonObject = { 'simulation.example/nowhere': 'true' };

/** True for a pod that no node will ever do for. */
export function isPinnedNowhere(pod: KubernetesObject): boolean {
  return JSON.stringify(pod['spec']).includes(Object.keys(NOWHERE).join());
}
