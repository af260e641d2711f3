/**
 * All resources of the local API server.
 *
 * Those with rules of their own stand in the order in which discovery lists them within their groups; all others that the release
 * serves are stored and nothing more.
 */
import { CONFIG_MAPS } from './configmaps/definition.ts';
import { CONTROLLER_REVISIONS } from './controllerrevisions/definition.ts';
import { DAEMON_SETS } from './daemonsets/definition.ts';
import { EVENTS } from './events/definition.ts';
import { LEASES } from './leases/definition.ts';
import { NAMESPACES } from './namespaces/definition.ts';
import { NODES } from './nodes/definition.ts';
import { PODS } from './pods/definition.ts';
import { POD_TEMPLATES } from './podtemplates/definition.ts';
import { PRIORITY_CLASSES } from './priorityclasses/definition.ts';
import { CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS } from './rbac/bindings.ts';
import { CLUSTER_ROLES, ROLES } from './rbac/roles.ts';
import type { Resource } from './shared/resource.ts';
import { SECRETS } from './secrets/definition.ts';
import { SERVICE_ACCOUNTS } from './serviceaccounts/definition.ts';
import { storedResources } from './stored/kinds.ts';

/** One for each LivingName. */
export const LIVING_RESOURCES: readonly Resource[] = [
  CONFIG_MAPS,
  EVENTS,
  NAMESPACES,
  NODES,
  PODS,
  POD_TEMPLATES,
  SECRETS,
  SERVICE_ACCOUNTS,
  CONTROLLER_REVISIONS,
  DAEMON_SETS,
  LEASES,
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  ROLE_BINDINGS,
  ROLES,
  PRIORITY_CLASSES,
];

/** The built-in ones. */
export const RESOURCES: readonly Resource[] = [
  ...LIVING_RESOURCES,
  ...storedResources(LIVING_RESOURCES),
];
