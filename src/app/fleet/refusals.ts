/**
 * Why `rollcall fleet` cannot tell or do something, in words, each with what to do next.
 *
 * Codes are public (docs/cli.md). None of these changed anything.
 */
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetKey, FleetProblem } from '../../core/fleet/fleet-daemon-set.ts';

/** Why not. */
export type FleetRefusalCode =
  /** The file, or what is stored, is no FleetDaemonSet that can be used. */
  | 'invalid'
  /** In a cluster it would be no DaemonSet. */
  | 'not-renderable'
  | 'unknown-fleet'
  /** Somebody else applied or deleted it meanwhile. */
  | 'changed'
  | 'too-large';

/** A refusal. */
export interface FleetRefusal {
  readonly kind: 'refused';
  readonly code: FleetRefusalCode;
  readonly message: string;
  readonly remedy: string;
  /** By field; with the cluster where it is one's. */
  readonly problems: readonly (FleetProblem & { readonly cluster?: string })[];
}

const WORDS: Readonly<Record<FleetRefusalCode, readonly [message: string, remedy: string]>> = {
  invalid: [
    'it cannot be used as it is written.',
    'Repair the fields above; docs/fleets.md describes them, infra/schema/fleet-daemon-set.schema.json is for editors.',
  ],
  'not-renderable': [
    'what some clusters would be given is no DaemonSet. Nothing was stored.',
    'Repair the overrides that are named; `rollcall fleet plan -f FILE` tells what is left.',
  ],
  'unknown-fleet': [
    'there is no such FleetDaemonSet in this stack.',
    'List them with: rollcall fleet get',
  ],
  changed: [
    'somebody else applied or deleted it meanwhile. Nothing was changed.',
    'Look at it with `rollcall fleet describe`, then repeat the command.',
  ],
  'too-large': [
    'it is too large to be stored, even compressed. Nothing was stored.',
    'Take out what is no part of a DaemonSet; name clusters by labels.',
  ],
};

/** A refusal for a FleetDaemonSet; undefined: its file does not say which. */
export function refuseFleet(
  code: FleetRefusalCode,
  key: FleetKey | undefined,
  problems: FleetRefusal['problems'] = [],
): FleetRefusal {
  const [message, remedy] = WORDS[code];
  const what = key === undefined ? 'the FleetDaemonSet' : formatFleetKey(key);
  return { kind: 'refused', code, message: `${what}: ${message}`, remedy, problems };
}
