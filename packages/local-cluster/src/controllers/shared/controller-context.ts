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
import type { Mirrors } from './mirrors.ts';
import type { PodsByNode } from './pods-by-node.ts';

/** The settings that kube-controller-manager has flags for; defaults are those of 1.36. */
export interface ControllerSettings {
  /** The cluster's authority, published as kube-root-ca.crt; absent: not published. */
  readonly caPem?: string;
  /** A node whose Lease was not renewed for so long becomes Unknown. */
  readonly nodeMonitorGraceMs?: number;
  /** The same for a node that never posted a status. */
  readonly nodeStartupGraceMs?: number;
  /** Terminated pods beyond this number are deleted; 0: none is. */
  readonly terminatedPodsMax?: number;
  /** How long a pod's node must be gone before the pod is. */
  readonly orphanQuarantineMs?: number;
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
