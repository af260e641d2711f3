/**
 * Why a pod never started, as its Events tell: volumes and sandboxes show nowhere else.
 *
 * Of the kubelet's and the attach controller's words only those that are known count, and of their messages only names in known
 * places: an Event's text is its writer's, and may quote a mount option or a path. Events may be rate-limited, gone after
 * an hour, or not ours to read: then no cause is known, and that is said. Whether a rollout halts does not depend on any of this.
 */
import type { PodCause, PodEvent } from '../model/projections.ts';
import type { Breach } from '../model/rollout-record.ts';

const SAYS: Readonly<Record<string, string>> = {
  FailedMount: 'a volume cannot be mounted',
  FailedAttachVolume: 'a volume cannot be attached',
  FailedMapVolume: 'a volume cannot be mapped',
  FailedCreatePodSandBox: 'the sandbox cannot be made, which is mostly the node’s',
  NetworkNotReady: 'the network of the node is not ready',
  FailedPrepareDynamicResources: 'a device cannot be prepared',
  FailedCreatePodContainer: 'the pod’s cgroup cannot be made',
};

const NAME = '[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?';
/** The names in a kubelet's message: `MountVolume.SetUp failed for volume "config" : configmap "agent" not found`. */
const NAMES: readonly (readonly [RegExp, (name: string, kind: string) => string])[] = [
  [new RegExp(`for volume "(${NAME})"`), (name) => `volume ${name}`],
  [
    new RegExp(`(?:configmap|secret|persistentvolumeclaim) "(${NAME})" not found`),
    (name, kind) => `${kind} ${name} is missing`,
  ],
  [
    new RegExp(`driver name (${NAME}) not found`),
    (name) => `CSI driver ${name} is not on the node`,
  ],
  [new RegExp(`plugin type="(${NAME})"`), (name) => `network plugin ${name}`],
];

/** The cause that a pod's Events name. */
export function causeOfEvents(events: readonly PodEvent[]): PodCause {
  const [newest] = events
    .filter(({ reason }) => Object.hasOwn(SAYS, reason))
    .sort((left, right) => (right.atMs ?? 0) - (left.atMs ?? 0) || compareDetail(left, right));
  const says = newest === undefined ? undefined : SAYS[newest.reason];
  if (newest === undefined || says === undefined) return { kind: 'silent' };
  const detail = detailOf(newest.message);
  const named = detail === '' ? '' : ` (${detail})`;
  return { kind: 'known', words: `${newest.reason}: ${says}${named}` };
}

/** Of two that were told at once the one that says more. */
function compareDetail(left: PodEvent, right: PodEvent): number {
  return detailOf(right.message).length - detailOf(left.message).length;
}

function detailOf(message: string): string {
  return NAMES.flatMap(([pattern, say]) => {
    const [whole = '', name] = pattern.exec(message) ?? [];
    return name === undefined ? [] : [say(name, whole.split(' ', 1)[0] ?? '')];
  }).join(', ');
}

/** The breach with what the Events of its pods tell: the first cause that is known, else why there is none. */
export function withCause(breach: Breach, causes: readonly PodCause[]): Breach {
  const known = causes.find(({ kind }) => kind === 'known');
  const words = known?.kind === 'known' ? known.words : `no cause is known: ${whyNone(causes)}`;
  return { ...breach, message: `${breach.message}; ${words}` };
}

function whyNone(causes: readonly PodCause[]): string {
  return causes.some(({ kind }) => kind === 'unreadable')
    ? 'its Events cannot be read'
    : 'no Event tells one';
}
