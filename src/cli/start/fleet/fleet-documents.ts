/**
 * The FleetDaemonSets that `npm start -- --fleet` applies, made of examples/fleet/fleet-agent.yaml (issue 18).
 *
 * First the image that is proven, to all clusters at once; then the release that is rolled out in the example's stages. Both are read by
 * the reader of `rollcall fleet apply`, with all of its refusals; one that the reader refuses is a bug here.
 */
import { readFile } from 'node:fs/promises';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { applyJsonPatch } from '@rollcall/base/patch/json-patch.ts';
import type { FleetBreach, FleetReading } from '../../../core/fleet/fleet-daemon-set.ts';
import type { FleetReader } from '../../../ports/fleet-reader.ts';
import { PROVEN_IMAGE } from './fleet-plan.ts';
import type { PlayedRelease } from './fleet-plan.ts';

/** One that can be applied. */
export type ReadFleet = Extract<FleetReading, { readonly kind: 'fleet' }>;

/** The two of a play. */
export interface FleetDocuments {
  readonly proven: ReadFleet;
  readonly played: ReadFleet;
}

const IMAGE = '/spec/template/spec/template/spec/containers/0/image';
const CANARY_POLICY = '/spec/overrides/0/strategicMerge/metadata/annotations/rollcall.dev~1rollout';

/** Reads the example, and makes both. Throws when it is not what it was. */
export async function readFleetDocuments(
  file: string,
  release: PlayedRelease,
  { onBreach, reader }: { readonly onBreach: FleetBreach; readonly reader: FleetReader },
): Promise<FleetDocuments> {
  const example = demand(reader.read(await readFile(file, 'utf8'), noFile));
  const policy = `{maxUnavailable: 3, soak: ${String(release.canarySoakSeconds)}s}`;
  const common = [
    { op: 'replace', path: CANARY_POLICY, value: policy },
    { op: 'replace', path: '/spec/strategy/onBreach', value: onBreach },
  ];
  const made = (patch: readonly JsonObject[]): ReadFleet =>
    demand(reader.readDocument(edited(example.document, [...common, ...patch])));
  return {
    proven: made([
      { op: 'replace', path: IMAGE, value: PROVEN_IMAGE },
      { op: 'replace', path: '/spec/strategy/stages', value: [{ name: 'rest', soak: '0s' }] },
    ]),
    played: made([{ op: 'replace', path: IMAGE, value: release.image }]),
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
