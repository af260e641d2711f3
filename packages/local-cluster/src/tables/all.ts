/**
 * Every table of the local API server, by resource.
 *
 * The compiler sees to it that no resource with rules of its own is left out; what is only stored has name and age.
 */
import type { LivingName, ResourceName } from '../objects/api-object.ts';
import { CONTROLLER_REVISIONS_TABLE, DAEMON_SETS_TABLE } from './apps.ts';
import { EVENTS_TABLE } from './events.ts';
import { NODES_TABLE } from './nodes.ts';
import {
  CONFIG_MAPS_TABLE,
  LEASES_TABLE,
  NAMESPACES_TABLE,
  PRIORITY_CLASSES_TABLE,
  SECRETS_TABLE,
  SERVICE_ACCOUNTS_TABLE,
} from './plain-objects.ts';
import { POD_TEMPLATES_TABLE } from './pod-templates.ts';
import { PODS_TABLE } from './pods.ts';
import { BINDINGS_TABLE, ROLES_TABLE } from './rbac.ts';
import type { TableShape } from './table.ts';

const byResource: Readonly<Record<LivingName, TableShape>> = {
  namespaces: NAMESPACES_TABLE,
  nodes: NODES_TABLE,
  pods: PODS_TABLE,
  podtemplates: POD_TEMPLATES_TABLE,
  events: EVENTS_TABLE,
  configmaps: CONFIG_MAPS_TABLE,
  secrets: SECRETS_TABLE,
  serviceaccounts: SERVICE_ACCOUNTS_TABLE,
  'daemonsets.apps': DAEMON_SETS_TABLE,
  'controllerrevisions.apps': CONTROLLER_REVISIONS_TABLE,
  'leases.coordination.k8s.io': LEASES_TABLE,
  'clusterroles.rbac.authorization.k8s.io': ROLES_TABLE,
  'clusterrolebindings.rbac.authorization.k8s.io': BINDINGS_TABLE,
  'roles.rbac.authorization.k8s.io': ROLES_TABLE,
  'rolebindings.rbac.authorization.k8s.io': BINDINGS_TABLE,
  'priorityclasses.scheduling.k8s.io': PRIORITY_CLASSES_TABLE,
};

/** The tables. */
export const TABLES: ReadonlyMap<ResourceName, TableShape> = new Map(
  Object.entries(byResource) as [ResourceName, TableShape][],
);
