/**
 * Why a pod finds no node or a container is not made, as far as a message of scheduler or kubelet names it (ADR 0079).
 *
 * A message is somebody's text: it is searched for what is known, and nothing else of it is kept. Counts of nodes go, since a
 * daemon's pod is pinned to one, and so does the refusal of all others: what is left changes only when the cause does.
 */
import { boundedWord } from './bounded-word.ts';
import type { Sharing } from './reading.ts';

const NAME = '[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?';
const KEY = '[-._a-zA-Z0-9]{1,253}';

/** What is searched for, and what is told of it; `$1` and `$2` stand for names. */
type Known = readonly (readonly [pattern: RegExp, told: string])[];

/** Of schedulers, one to a node: filters in the words of `kube-scheduler`. */
const OF_SCHEDULERS: Known = [
  [/Insufficient ([a-zA-Z0-9](?:[-._/a-zA-Z0-9]{0,251}[a-zA-Z0-9])?)/g, 'Insufficient $1'],
  [/Too many pods/g, 'Too many pods'],
  [/node\(s\) didn't have free ports/g, 'no free host port'],
  [/node\(s\) were unschedulable/g, 'the node is cordoned'],
  [/untolerated taint \{([-._/a-zA-Z0-9]{1,317})/g, 'taint $1'],
  [/untolerated taint\(s\)/g, 'a taint'],
  [/node\(s\) didn't match pod (anti-affinity|affinity) rules/g, 'pod $1'],
  [/node\(s\) didn't satisfy existing pods anti-affinity rules/g, 'anti-affinity of other pods'],
  [/node\(s\) didn't match pod topology spread constraints/g, 'topology spread'],
  [/volume node affinity conflict/g, 'a volume of another node'],
  [/exceed max volume count/g, 'no room for another volume'],
  [/unbound immediate PersistentVolumeClaims/g, 'an unbound PersistentVolumeClaim'],
  [new RegExp(`persistentvolumeclaim "(${NAME})" not found`, 'g'), 'PersistentVolumeClaim $1'],
];

/** Of kubelets, where a container's configuration cannot be put together. */
const OF_KUBELETS: Known = [
  [new RegExp(`configmap "(${NAME})" not found`, 'g'), 'ConfigMap $1 is missing'],
  [new RegExp(`secret "(${NAME})" not found`, 'g'), 'Secret $1 is missing'],
  [
    new RegExp(`couldn't find key (${KEY}) in (ConfigMap|Secret) ${NAME}/(${NAME})`, 'g'),
    'key $1 of $2 $3 is missing',
  ],
  [/runAsNonRoot and image will run as root/g, 'runAsNonRoot, and the image runs as root'],
];

/** What a scheduler's message says that keeps a pod from its node; undefined: nothing that is known. */
export function causeOfScheduler(
  message: string | undefined,
  sharing: Sharing,
): string | undefined {
  // What follows is of preemption, and says the same of fewer pods.
  const [own] = (message ?? '').split('preemption:', 1);
  return findKnown(own, OF_SCHEDULERS, sharing);
}

/** What a kubelet's message says that is missing. */
export function causeOfKubelet(message: string | undefined, sharing: Sharing): string | undefined {
  return findKnown(message, OF_KUBELETS, sharing);
}

/** More of a message is not searched. */
const SEARCHED_MAX = 4096;

function findKnown(text: string | undefined, known: Known, sharing: Sharing): string | undefined {
  const searched = (text ?? '').slice(0, SEARCHED_MAX);
  const found = known.flatMap(([pattern, told]) =>
    [...searched.matchAll(pattern)].map((match) =>
      told.replaceAll(/\$(\d)/g, (_sign, index: string) => match[Number(index)] ?? ''),
    ),
  );
  return boundedWord([...new Set(found)].sort().join(', '), sharing);
}
