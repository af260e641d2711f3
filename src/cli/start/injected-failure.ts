/**
 * The bad rollouts that `npm start -- --inject` plays on a local cluster: which DaemonSet, what asks for stages, and what its
 * new revision does (issue 17). Pure.
 *
 * Local machines run no containers: an image's name asks for the failure (docs/simulation.md). The version in it is the
 * DaemonSet's next generation, so that each injection is a revision of its own, also over a data directory of before.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { POLICY_ANNOTATION } from '../../core/policy/rollout-policy.ts';

/** What can be injected. */
export const INJECTED_FAILURES = ['bad-image', 'crash-loop', 'slow-leak', 'flap'] as const;

/** One of them. */
export type InjectedFailure = (typeof INJECTED_FAILURES)[number];

/** An example that every node of a local cluster has a pod of. */
export const INJECTION_TARGET = {
  cluster: 'local-1',
  namespace: 'node-agents',
  name: 'log-collector',
} as const;

const CONTAINER = 'collector';
/** In seconds, what a platform engineer would give minutes: it is watched. */
const POLICY = 'canary: {nodes: 2}\nmaxUnavailable: 2\nsoak: 30s\nonBreach: pause\n';

const REQUESTS: Readonly<Record<InjectedFailure, string>> = {
  'bad-image': 'pull-fails',
  'crash-loop': 'exit-1-2s',
  'slow-leak': 'oom-20s', // during the soak
  flap: 'flap-5s',
};

/** Strategic merge patch by which the DaemonSet asks to be rolled in stages. */
export function optInPatch(): JsonObject {
  return { metadata: { annotations: { [POLICY_ANNOTATION]: POLICY } } };
}

/** Strategic merge patch of its template to the revision that fails. */
export function failingPatch(failure: InjectedFailure, generation: number): JsonObject {
  const version = `2.0.${String(generation + 1)}`;
  const image = `registry.example/log-collector:${version}-simulate-${REQUESTS[failure]}`;
  // Readiness can only flap where somebody asks.
  const readinessProbe = {
    httpGet: { path: '/ready', port: 8080 },
    periodSeconds: 1,
    failureThreshold: 1,
  };
  const container = { name: CONTAINER, image, ...(failure === 'flap' ? { readinessProbe } : {}) };
  return {
    spec: {
      updateStrategy: { type: 'RollingUpdate' },
      template: { spec: { containers: [container] } },
    },
  };
}
