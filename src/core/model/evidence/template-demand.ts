/**
 * What pod templates ask of nodes, as values that a record keeps: told in core/daemon-set/template-demand.ts.
 */

/** What a pod template asks of a node, as a record keeps it (core/daemon-set/template-demand.ts). */
export interface TemplateDemand {
  /** Sum of requests by resource, in the resource's own unit: cores, bytes, devices. 16 at most. */
  readonly requests: Readonly<Record<string, number>>;
  /** `TCP/9100`; 32 at most. */
  readonly hostPorts: readonly string[];
}
