/**
 * What is told of a mass removal: one Event, and the same sentence in the log.
 *
 * An Event holds 1,024 characters; each part is bounded. No content of an object is in it but names of nodes, label and taint keys
 * with their values as the template has them, and the field manager.
 */
import type { PlannedEvent, RemovalNotice } from '../model/plan.ts';
import type { HeldRemoval } from '../model/state.ts';
import type { RemovalAuthor } from './removal-author.ts';
import { CONFIRM_ANNOTATION } from './removal-rules.ts';

const MESSAGE_LENGTH_MAX = 1_024;

interface Told {
  readonly namespace: string;
  readonly name: string;
  readonly author: RemovalAuthor | undefined;
}

/** The Event of a notice; none of what ends by itself or was asked for. */
export function removalEvent(notice: RemovalNotice, told: Told): PlannedEvent | undefined {
  switch (notice.kind) {
    case 'held': {
      const message = `Held: ${describe(notice.held, told.author)}. ${whatToDo(notice.held, told)}`;
      return warning('RemovalHeld', message);
    }
    case 'alarmed': {
      const rest = 'Rollcall does not act here and cannot hold it.';
      return warning('RemovalSeen', `${describe(notice.held, told.author)}. ${rest}`);
    }
    case 'confirmed':
    case 'ended':
      return undefined;
  }
}

function warning(reason: PlannedEvent['reason'], message: string): PlannedEvent {
  return { type: 'Warning', reason, message: message.slice(0, MESSAGE_LENGTH_MAX) };
}

/** What goes, why, and by whom. */
export function describe(
  { pods, basePods, cause, ...held }: HeldRemoval,
  author: RemovalAuthor | undefined = held.author,
): string {
  const by = author === undefined ? '' : `; last written by ${author.manager} at ${timeOf(author)}`;
  return `${pods} of ${basePods} pods go within ten minutes: ${cause}${by}`;
}

function timeOf({ atMs }: RemovalAuthor): string {
  return new Date(atMs).toISOString();
}

function whatToDo({ token }: HeldRemoval, { namespace, name }: Told): string {
  return (
    'Take the change back, or confirm it: ' +
    `kubectl annotate daemonset --overwrite -n ${namespace} ${name} ${CONFIRM_ANNOTATION}=${token}`
  );
}
