/**
 * What each controller gets: shared mirrors, a client under its own user, time, a log.
 *
 * A controller reads the mirrors, which may be a moment behind, and asks the client where it must be sure; it writes
 * through the client only. Nothing here runs.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { LocalClient } from '../../client/local-client.ts';
import type { KnownKinds } from './known-resources.ts';
import type { Mirrors, PodsByNode } from './mirrors.ts';

/** What can be set. */
export interface ControllerSettings {
  /** The cluster's authority, published as kube-root-ca.crt; absent: not published. */
  readonly caPem?: string;
}

/** What a controller works with. */
export interface ControllerContext {
  readonly mirrors: Mirrors;
  readonly kinds: KnownKinds;
  readonly podsByNode: PodsByNode;
  readonly client: LocalClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: ControllerSettings;
}

/** A running controller. */
export interface RunningController {
  /** Resolves when what was begun is finished. */
  readonly stop: () => Promise<void>;
}

/** Starts a controller; it works from the next microtask on. */
export type StartController = (context: ControllerContext) => RunningController;
