/**
 * The bodies of every compared collection.
 */
import type { Bodies } from './body.ts';
import { EVENT_BODIES, LEASE_BODIES, NAMESPACE_BODIES, NODE_BODIES } from './cluster-objects.ts';
import { CONFIG_MAP_BODIES, SECRET_BODIES, SERVICE_ACCOUNT_BODIES } from './settings.ts';
import { CONTROLLER_REVISION_BODIES, DAEMON_SET_BODIES, POD_BODIES } from './workloads.ts';

const BODIES: Readonly<Record<string, Bodies>> = {
  nodes: NODE_BODIES,
  pods: POD_BODIES,
  namespaces: NAMESPACE_BODIES,
  events: EVENT_BODIES,
  configmaps: CONFIG_MAP_BODIES,
  secrets: SECRET_BODIES,
  serviceaccounts: SERVICE_ACCOUNT_BODIES,
  daemonsets: DAEMON_SET_BODIES,
  controllerrevisions: CONTROLLER_REVISION_BODIES,
  leases: LEASE_BODIES,
};

/** The bodies of a collection; throws for one that is not compared. */
export function bodiesOf(plural: string): Bodies {
  const bodies = BODIES[plural];
  if (bodies === undefined) throw new Error(`no bodies for ${plural}`);
  return bodies;
}
