/**
 * Why `rollcall fleet` cannot tell or do something, in words, each with what to do next.
 *
 * Codes are public (docs/reference/codes.md). None of these changed anything. Why an order is refused stands in
 * app/orders.
 */
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetKey, FleetProblem } from '../../core/fleet/fleet-daemon-set.ts';

type FleetRefusalCode =
  /** The file, or what is stored, is no FleetDaemonSet that can be used. */
  | 'invalid'
  /** In a cluster it would be no DaemonSet. */
  | 'not-renderable'
  /** The API servers of some clusters would not take it. */
  | 'not-applicable'
  | 'unknown-fleet'
  /** Another caller applied or deleted it meanwhile. */
  | 'changed'
  | 'too-large'
  /** The function `fleet` has not looked at what was applied yet. */
  | 'not-begun'
  /** There is no such generation, or its document is not kept any more. */
  | 'unknown-generation';

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
    'Repair the fields above; docs/fleet.md describes them.',
  ],
  'not-renderable': [
    'some clusters could not be given what it makes of them. Nothing was stored.',
    'Repair what is named, for all or in an override for those clusters; `rollcall fleet plan -f FILE` tells what is left.',
  ],
  'not-applicable': [
    'the API servers of some clusters would not take it. Nothing was stored.',
    'Repair what is refused, grant what is missing (rollcall fleet rights CLUSTER -f FILE), agree on who owns the fields (or spec.strategy.conflicts: overwrite), or exclude those clusters. To store it all the same: --no-server-check',
  ],
  'unknown-fleet': [
    'there is no such FleetDaemonSet in this stack.',
    'List them with: rollcall fleet get',
  ],
  changed: [
    'another client applied or deleted it meanwhile. Nothing was changed.',
    'Look at it with `rollcall fleet describe FLEET`, then repeat the command.',
  ],
  'too-large': [
    'it is too large to be stored, even compressed. Nothing was stored.',
    'Take out what is no part of a DaemonSet; name clusters by labels.',
  ],
  'not-begun': [
    'what was applied last has not begun to roll: the function fleet looks at it within a minute.',
    'Look again: rollcall fleet status FLEET. To hold it now: rollcall fleet pause FLEET',
  ],
  'unknown-generation': [
    'there is no such generation, or it is not kept any more.',
    'List them with: rollcall fleet history FLEET',
  ],
};

/** A refusal for a FleetDaemonSet; undefined: its file does not say which. */
export function refuseFleet(
  code: FleetRefusalCode,
  key: FleetKey | undefined,
  problems: FleetRefusal['problems'] = [],
): FleetRefusal {
  const [message, text] = WORDS[code];
  const what = key === undefined ? 'the FleetDaemonSet' : formatFleetKey(key);
  const remedy = key === undefined ? text : text.replaceAll('FLEET', what);
  return { kind: 'refused', code, message: `${what}: ${message}`, remedy, problems };
}
