/**
 * The releases that `npm start -- --fleet` rolls out: what is proven everywhere first, and the one that follows it, good or bad (issue 18). Pure.
 *
 * Local machines run no containers: an image's name asks for the failure (docs/simulation.md). How long the canary's nodes are watched
 * follows from the failure: as long as its evidence needs, where users would have hours for any of them.
 */

/** What can be injected into a fleet. */
export const FLEET_FAILURES = ['bad-image', 'crash-loop', 'kernel', 'slow-api'] as const;

/** One of them. */
export type FleetFailure = (typeof FLEET_FAILURES)[number];

/** What a release is, and what it needs to be seen. */
export interface PlayedRelease {
  readonly image: string;
  /** How long pods of the canary have to be well inside their cluster. */
  readonly canarySoakSeconds: number;
  /** How long the cluster of the canary has traffic before, so that there is something to compare with. */
  readonly compareMs: number;
}

const IMAGE = 'registry.example/fleet-agent';

/** What is proven before. */
export const PROVEN_IMAGE = `${IMAGE}:1.0.0`;

/** Long enough for pods that come up, and crash twice or cannot be pulled for half a minute. */
const SOAK_SECONDS = 20;
/** A kernel that panics after ten seconds makes its node NotReady 50 s later. */
const NODE_SOAK_SECONDS = 80;
/** Six quarters of a minute before and after, and some: core/health/answer-times.ts. */
const API_SOAK_SECONDS = 140;
const API_COMPARE_MS = 105_000;

const REQUESTS: Readonly<Record<FleetFailure, string>> = {
  'bad-image': 'pull-fails',
  'crash-loop': 'exit-1-2s',
  kernel: 'panic-5.10-10s',
  // Three nodes: three quarters of a second more for each request.
  'slow-api': 'load-api-250ms',
};

/** The release that is rolled out in stages; a good one where nothing is injected. */
export function playedRelease(failure: FleetFailure | undefined): PlayedRelease {
  const request = failure === undefined ? '' : `-simulate-${REQUESTS[failure]}`;
  return {
    image: `${IMAGE}:2.0.0${request}`,
    canarySoakSeconds: soakOf(failure),
    compareMs: failure === 'slow-api' ? API_COMPARE_MS : 0,
  };
}

function soakOf(failure: FleetFailure | undefined): number {
  if (failure === 'kernel') return NODE_SOAK_SECONDS;
  return failure === 'slow-api' ? API_SOAK_SECONDS : SOAK_SECONDS;
}
