/** Host ports that pods on the node have taken. */
import { conflicts } from '../../node-agent/shared/pod-resources.ts';
import type { Filter, FilterFailure } from './filter.ts';

const FAILURE: FilterFailure = {
  reasons: ["node(s) didn't have free ports for the requested pod ports"],
  dependsOnOtherPods: true,
};

/** Host ports by address, protocol and number. */
export const filterPorts: Filter = ({ ports }, node) => {
  if (ports.length === 0 || node.ports.length === 0) return undefined;
  const isTaken = ports.some((wanted) => node.ports.some((taken) => conflicts(wanted, taken)));
  return isTaken ? FAILURE : undefined;
};
