/**
 * The JSON document of `npm start -- --json`, described in docs/reference.md.
 */
import type { ClusterOverview } from '../../engine/overview.ts';

/** How a run of `npm start` ended. */
export interface StartReport {
  readonly apiVersion: 'rollcall.dev/v1alpha1';
  readonly kind: 'StartReport';
  /** settled; timed-out (with `--exit-when-settled`); interrupted by a signal. */
  readonly result: 'settled' | 'timed-out' | 'interrupted';
  /** What it still waited for when it timed out. */
  readonly waitingFor?: string;
  readonly durationMs: number;
  readonly clusters: readonly ClusterOverview[];
}

/** Builds the document. */
export function buildReport(parts: Omit<StartReport, 'apiVersion' | 'kind'>): StartReport {
  return { apiVersion: 'rollcall.dev/v1alpha1', kind: 'StartReport', ...parts };
}
