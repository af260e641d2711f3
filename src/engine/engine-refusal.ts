/**
 * Why the engine will not manage a cluster as asked: for the person who asked.
 */

/** Codes of refusals; docs/reference.md lists them. */
export type EngineRefusalCode =
  | 'endpoint-invalid'
  | 'unreachable'
  | 'not-a-cluster'
  | 'not-allowed'
  | 'other-cluster'
  | 'built-in-controller-runs'
  | 'probe-failed'
  | 'registry-busy'
  | 'already-registered'
  | 'still-managed'
  | 'lease-held'
  | 'handover-failed'
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
