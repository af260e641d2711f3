/**
 * Why the engine will not manage a cluster as asked: for the person who asked.
 */

/** Codes of refusals; docs/reference/codes.md lists them. */
export type EngineRefusalCode =
  /** The address of the API server may not be connected to. */
  | 'endpoint-invalid'
  /** The API server does not answer. */
  | 'unreachable'
  /** No Kubernetes API server answers there. */
  | 'not-a-cluster'
  /** The credential lacks a right. */
  | 'not-allowed'
  /** The data directory belongs to another cluster. */
  | 'other-cluster'
  /** The built-in controller is on, so a takeover would collide with it. */
  | 'built-in-controller-runs'
  /** The probe of the takeover failed. */
  | 'probe-failed'
  /** Another writer changed the registration meanwhile. */
  | 'registry-busy'
  /** The cluster is registered already. */
  | 'already-registered'
  /** With `--release`: another process of Rollcall holds the Lease of the watcher. */
  | 'still-managed'
  /** Another installation renews the Lease of the watcher. `--take-lease` overrules it. */
  | 'lease-held'
  /** With `--release`: handing back failed. */
  | 'handover-failed'
  /** A local cluster could not start. */
  | 'local-cluster';

/** A refusal: what happened, why, and what to do next. */
export class EngineRefusal extends Error {
  readonly code: EngineRefusalCode;
  readonly remedy: string;

  constructor(options: {
    readonly code: EngineRefusalCode;
    readonly message: string;
    readonly remedy: string;
    readonly cause?: unknown;
  }) {
    super(options.message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'EngineRefusal';
    this.code = options.code;
    this.remedy = options.remedy;
  }
}
