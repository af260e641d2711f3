/**
 * Reading policies, and FleetDaemonSets from the text of a file or from what is stored: texts are users', and reading
 * never throws.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Share, PolicyReading } from '../core/policy/rollout-policy.ts';
import type { FleetReading } from '../core/fleet/fleet-daemon-set.ts';

/** A file that a FleetDaemonSet names. */
export type NamedFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly message: string };

/** Reads FleetDaemonSets. */
export interface FleetReader {
  /** `openFile` opens what `spec.templateFile` names; invalid: every problem by its field. */
  read(text: string, openFile: (name: string) => NamedFile): FleetReading;
  /** What `read` gave as the document, and was stored; perhaps by another release. */
  readDocument(document: JsonObject): FleetReading;
  /** A policy that stops after a canary of so many nodes until it is given again without this; it was read before, and is valid. */
  limitPolicy(text: string, nodes: Share): string;
  /** The same policy, which waits for no approval and no window: for a cluster that goes back. */
  ungatePolicy(text: string): string;
}

/** Reads texts of the annotation `rollcall.dev/rollout`. */
export interface PolicyReader {
  /** `undefined` or blank: none. Anything else is a policy, or invalid with every problem by its field. */
  read(text: string | undefined): PolicyReading;
}
