/** All resources of the local API server: those with rules of their own, and all others that the release serves. */
import { DAEMON_SETS } from './daemonsets.ts';
import { NAMESPACES } from './namespaces.ts';
import { NODES } from './nodes.ts';
import { PLAIN_KINDS } from './plain-kinds.ts';
import { PODS } from './pods/definition.ts';
import type { Resource } from './shared/resource.ts';
import { storedResources } from './stored/kinds.ts';

/** One for each LivingName. */
export const LIVING_RESOURCES: readonly Resource[] = [
  NAMESPACES,
  NODES,
  PODS,
  DAEMON_SETS,
  ...PLAIN_KINDS,
];

/** The built-in ones. */
export const RESOURCES: readonly Resource[] = [
  ...LIVING_RESOURCES,
  ...storedResources(LIVING_RESOURCES),
];
