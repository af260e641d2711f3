/** Metrics that keep their sums, so that a test can demand one. */
import type { MetricUnit, Metrics } from '../../src/ports/process.ts';

/** Metrics in memory. */
export class MemoryMetrics implements Metrics {
  private readonly counts = new Map<string, number>();
  private readonly values = new Map<string, number[]>();

  count(name: string, options?: { readonly by?: number; readonly outcome?: string }): void {
    const by = options?.by ?? 1;
    this.add(name, by);
    if (options?.outcome !== undefined) this.add(`${name}/${options.outcome}`, by);
  }

  record(name: string, value: number, _unit: MetricUnit): void {
    const values = this.values.get(name);
    if (values === undefined) this.values.set(name, [value]);
    else values.push(value);
  }

  /** Sum of a counter, over all outcomes or of one. */
  sum(name: string, outcome?: string): number {
    return this.counts.get(outcome === undefined ? name : `${name}/${outcome}`) ?? 0;
  }

  /** Recorded values of a distribution, in order. */
  recorded(name: string): readonly number[] {
    return this.values.get(name) ?? [];
  }

  /** Names of counters and distributions, with outcomes. */
  get names(): readonly string[] {
    return [...this.counts.keys(), ...this.values.keys()];
  }

  private add(name: string, by: number): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by);
  }
}
