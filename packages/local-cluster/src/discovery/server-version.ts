/**
 * GET /version: the release whose behaviour the local API server follows.
 *
 * Clients compare it with their own; the suffix keeps it from passing for the real thing.
 */
import type { JsonObject } from '@rollcall/base/json.ts';

const MAJOR = '1';
const MINOR = '36';

/** Title and version of the OpenAPI documents. */
export const API_TITLE = { title: 'Kubernetes', version: `${MAJOR}.${MINOR}` };

/** The version as kubectl reads it; the suffix says what answers. */
export const SERVER_VERSION: JsonObject = {
  major: MAJOR,
  minor: MINOR,
  emulationMajor: MAJOR,
  emulationMinor: MINOR,
  minCompatibilityMajor: MAJOR,
  minCompatibilityMinor: '35',
  gitVersion: `v${MAJOR}.${MINOR}.3+rollcall-local`,
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `${process.platform}/${process.arch}`,
};
