/**
 * Plans what `npm start -- --fleet` plays: its options, the releases that it
 * rolls out, and the ending that it is about. Pure.
 *
 * A play begins with fresh clusters, and is the only one that rolls their pods. So an option that
 * brings earlier clusters, or those of a kubeconfig, or keeps Rollcall from acting, contradicts it.
 * Local machines run no containers: an image's name asks for the failure (docs/try-it.md). How
 * long the canary's nodes are watched follows from the failure: as long as its evidence needs,
 * where users would have hours for any of them. With an injected failure it is a success that the
 * rollout was halted in its first ring, and went back where that was asked for; one that went
 * through, or was halted later, is the failure that stages are there to prevent.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { FleetBreach, FleetReading } from '../../core/fleet/fleet-daemon-set.ts';
import { usageError, type CommandError } from '../process/exit-codes.ts';
import type { FleetRecord } from '../../core/fleet/rollout/fleet-record.ts';
import { wayBackOf } from '../../core/fleet/rollout/way-back.ts';
import { readFile } from 'node:fs/promises';
import { isJsonObject, type JsonObject } from '@rollcall/base/json.ts';
import { applyJsonPatch } from '@rollcall/base/patch/json-patch.ts';
import type { FleetReader } from '../../ports/fleet-reader.ts';

/** Failures that can be injected into a fleet: local machines run no containers, so an image's name asks for it (docs/try-it.md). */
export const FLEET_FAILURES = ['bad-image', 'crash-loop', 'kernel', 'slow-api'] as const;

export type FleetFailure = (typeof FLEET_FAILURES)[number];

interface PlayedRelease {
  readonly image: string;
  /** How long pods of the canary have to be well inside their cluster. */
  readonly canarySoakSeconds: number;
  /** How long the cluster of the canary has traffic before, so that there is something to compare with. */
  readonly compareMs: number;
}

const IMAGE = 'registry.example/fleet-agent';

/** The image that is proven before. */
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

interface FleetChoice {
  readonly fleet?: true;
  readonly onHalt?: FleetBreach;
  readonly inject?: string;
  readonly clusters?: number;
  readonly mode?: string;
  readonly data?: string;
  readonly cold?: true;
}

/** The defaults. */
export const FLEET_DEFAULTS = {
  /** The canary's cluster, a stage of three, and one more. */
  clusters: 5,
  /** Of all clusters but the canary's: each is a thread, and there may be many. */
  nodes: 6,
  timeoutSeconds: 900,
} as const;

/** The canary's, and one that is not. */
const CLUSTERS_MIN = 2;

/** The play; undefined: no fleet. Throws CommandError (exit code 2). */
export function choosePlan(given: FleetChoice): FleetPlan | undefined {
  const { fleet, onHalt, inject, clusters, mode } = given;
  if (fleet !== true) {
    if (onHalt !== undefined)
      throw wrong('--on-halt says what becomes of a fleet: it needs --fleet.');
    return undefined;
  }
  if (inject !== undefined && !isFleetFailure(inject)) {
    throw wrong(
      `--inject ${inject} plays in one cluster; a fleet knows ${FLEET_FAILURES.join(', ')}.`,
    );
  }
  if (clusters !== undefined && clusters < CLUSTERS_MIN) {
    throw wrong(`--fleet needs ${String(CLUSTERS_MIN)} clusters at least.`);
  }
  if (mode !== undefined && mode !== 'takeover') {
    throw wrong(`--fleet rolls pods, which --mode ${mode} of a local cluster does not.`);
  }
  if (given.data !== undefined)
    throw wrong('--fleet begins with new clusters, --data goes on with old ones.');
  if (given.cold === true) throw wrong('--fleet needs nodes that are Ready, --cold has none.');
  return { onHalt: onHalt ?? 'halt', ...defined({ inject }) };
}

function isFleetFailure(text: string): text is FleetFailure {
  return FLEET_FAILURES.some((one) => one === text);
}

function wrong(message: string): CommandError {
  return usageError(message, 'Leave one of them out; `npm start -- --help` shows all options.');
}

export type FleetEnding = 'completed' | 'halted' | 'rolled-back';

export interface FleetPlan {
  readonly onHalt: FleetBreach;
  /** Absent: the release is good. */
  readonly inject?: FleetFailure;
}

/** How the rollout of this generation ended; undefined: it goes on, or has not begun. */
export function endingOf(
  record: FleetRecord | undefined,
  generation: number,
  { onHalt }: Pick<FleetPlan, 'onHalt'>,
): FleetEnding | undefined {
  if (record?.release.generation !== generation) return undefined;
  switch (record.gate.kind) {
    case 'done':
      return 'completed';
    case 'breach':
      // Where there is a way back, it has not begun yet.
      return onHalt === 'halt' || wayBackOf(record) === undefined ? 'halted' : undefined;
    case 'returned':
      return 'rolled-back';
    default:
      return undefined;
  }
}

export function isAsPlanned(
  ending: FleetEnding,
  record: Pick<FleetRecord, 'stage'>,
  { onHalt, inject }: FleetPlan,
): boolean {
  if (inject === undefined) return ending === 'completed';
  const expected: FleetEnding = onHalt === 'rollback' ? 'rolled-back' : 'halted';
  return ending === expected && record.stage === 0;
}

export type ReadFleet = Extract<FleetReading, { readonly kind: 'fleet' }>;

export interface FleetDocuments {
  readonly proven: ReadFleet;
  readonly played: ReadFleet;
}

const IMAGE_PATH = '/spec/template/spec/template/spec/containers/0/image';
const CANARY_POLICY = '/spec/overrides/0/strategicMerge/metadata/annotations/rollcall.dev~1rollout';

/** Reads the example, and makes both. Throws when it is not what it was. */
export async function readFleetDocuments(
  file: string,
  release: PlayedRelease,
  { onHalt, reader }: { readonly onHalt: FleetBreach; readonly reader: FleetReader },
): Promise<FleetDocuments> {
  const example = demand(reader.read(await readFile(file, 'utf8'), noFile));
  const policy = `{maxUnavailable: 3, soak: ${String(release.canarySoakSeconds)}s}`;
  const common = [
    { op: 'replace', path: CANARY_POLICY, value: policy },
    { op: 'replace', path: '/spec/strategy/onHalt', value: onHalt },
  ];
  const made = (patch: readonly JsonObject[]): ReadFleet =>
    demand(reader.readDocument(edited(example.document, [...common, ...patch])));
  return {
    proven: made([
      { op: 'replace', path: IMAGE_PATH, value: PROVEN_IMAGE },
      { op: 'replace', path: '/spec/strategy/stages', value: [{ name: 'rest', soak: '0s' }] },
    ]),
    played: made([{ op: 'replace', path: IMAGE_PATH, value: release.image }]),
  };
}

function edited(document: JsonObject, patch: readonly JsonObject[]): JsonObject {
  const patched = applyJsonPatch(document, patch);
  if (patched.kind !== 'patched') throw new Error(`the example of a fleet: ${patched.message}`);
  if (!isJsonObject(patched.value)) throw new Error('the example of a fleet is no object');
  return patched.value;
}

function demand(reading: FleetReading): ReadFleet {
  if (reading.kind === 'fleet') return reading;
  const [{ field, message }] = reading.problems;
  throw new Error(`the example of a fleet: ${field} ${message}`);
}

function noFile(): { readonly kind: 'unreadable'; readonly message: string } {
  return { kind: 'unreadable', message: 'the example names no file' };
}
