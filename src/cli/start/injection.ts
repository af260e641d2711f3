/**
 * The bad rollouts that `npm start -- --inject` plays on a local cluster: once everything has settled, a DaemonSet asks for
 * stages; once that was seen, it gets the revision that fails; then the rollout is halted, or goes through.
 *
 * Local machines run no containers: an image's name asks for the failure (docs/try-it.md). The version in it is the
 * DaemonSet's next generation, so that each injection is a revision of its own, also over a data directory of before.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { POLICY_ANNOTATION } from '../../core/policy/rollout-policy.ts';
import type { DaemonSetOverview } from '../../engine/overview.ts';
import { plainText } from '../command-line/text-table.ts';
import { playSteps, type Play, type Seen } from './player.ts';

export const INJECTED_FAILURES = ['bad-image', 'crash-loop', 'slow-leak', 'flap'] as const;

export type InjectedFailure = (typeof INJECTED_FAILURES)[number];

/** An example that every node of a local cluster has a pod of. */
export const INJECTION_TARGET = {
  cluster: 'local-1',
  namespace: 'node-agents',
  name: 'log-collector',
} as const;

const CONTAINER = 'collector';
/** In seconds, what a platform engineer would give minutes: it is watched. */
const POLICY = 'canary: {nodes: 2}\nmaxUnavailable: 2\nsoak: 30s\nonHalt: pause\n';

const REQUESTS: Readonly<Record<InjectedFailure, string>> = {
  'bad-image': 'pull-fails',
  'crash-loop': 'exit-1-2s',
  'slow-leak': 'oom-20s', // during the soak
  flap: 'flap-5s',
};

/** Strategic merge patch by which the DaemonSet asks to be rolled in stages. */
function optInPatch(): JsonObject {
  return { metadata: { annotations: { [POLICY_ANNOTATION]: POLICY } } };
}

/** Strategic merge patch of its template to the revision that fails. */
function failingPatch(failure: InjectedFailure, generation: number): JsonObject {
  const version = `2.0.${String(generation + 1)}`;
  const image = `registry.example/log-collector:${version}-simulate-${REQUESTS[failure]}`;
  // Readiness can only flap where a probe asks.
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

export interface InjectionOptions {
  readonly failure: InjectedFailure;
  /** Strategic merge patch of the target. Rejects when it is refused. */
  readonly patch: (body: JsonObject) => Promise<void>;
  readonly say: (text: string) => void;
}

const TARGET_NAME = `${INJECTION_TARGET.namespace}/${INJECTION_TARGET.name}`;

export function openInjection({ failure, patch, say }: InjectionOptions): Pick<Play, 'advance'> {
  const tell = (text: string): void => {
    say(`inject: ${TARGET_NAME} of ${INJECTION_TARGET.cluster} ${text}`);
  };
  let former: string | undefined;
  const advance = playSteps([
    {
      title: 'the clusters to settle',
      isDue: (seen) => seen.isSettled && findTarget(seen) !== undefined,
      act: async () => {
        await patch(optInPatch());
        tell('asks to be rolled in stages');
        return 'look-again' as const;
      },
    },
    {
      title: 'the policy to be seen',
      // Over a data directory of before, the rollout may have been halted.
      isDue: (seen) => endOf(seen) !== undefined,
      act: async (seen) => {
        const { generation = 0, rollout } = findTarget(seen) ?? {};
        former = rollout?.revision;
        await patch(failingPatch(failure, generation));
        tell(`gets a revision that fails: ${failure}`);
        return 'look-again' as const;
      },
    },
    {
      title: 'the rollout to begin',
      isDue: (seen) => ![undefined, former].includes(findTarget(seen)?.rollout?.revision),
      act: () => 'go-on',
    },
    {
      title: `the rollout of ${TARGET_NAME} to be halted, or done`,
      isDue: (seen) => endOf(seen) !== undefined,
      act: (seen) => {
        tell(endOf(seen) ?? '');
        return 'over';
      },
    },
  ]);
  return { advance };
}

const ENDS: Readonly<Record<string, string>> = {
  Halted: 'is held',
  Done: 'went through, nothing halted it',
};

/** How the target's rollout came to rest; undefined: it has none, or it goes on. */
function endOf(seen: Seen): string | undefined {
  const rollout = findTarget(seen)?.rollout;
  const end = ENDS[rollout?.phase ?? ''];
  return rollout && end && `${end}: ${plainText(rollout.summary)}`;
}

function findTarget({ clusters }: Seen): DaemonSetOverview | undefined {
  const { cluster, namespace, name } = INJECTION_TARGET;
  return clusters
    .find((one) => one.cluster === cluster)
    ?.daemonSets.find((one) => one.namespace === namespace && one.name === name);
}
