/**
 * A right in a cluster: one verb on one resource, as RBAC grants it and access reviews ask for it. Pure.
 */

/** One verb on one resource. */
export interface Permission {
  readonly group: string;
  /** `daemonsets`, or `daemonsets/status`. */
  readonly resource: string;
  readonly verb: string;
  /** A single object, where the rule names one. */
  readonly name?: string;
  /** Where a Role gives it; absent: in all namespaces, or outside of any. */
  readonly namespace?: string;
}

/** `update apps daemonsets/status`, as a person reads it. */
export function formatPermission({ group, resource, verb, name, namespace }: Permission): string {
  const what = [verb, group, resource, name].filter((part) => (part ?? '') !== '').join(' ');
  return namespace === undefined ? what : `${what} in ${namespace}`;
}
