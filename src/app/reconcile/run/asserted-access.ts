/**
 * A cluster's access that sends nothing by which a promise would be broken (core/invariants.ts).
 *
 * What is stopped answers as one that was certainly not sent, so its run is not complete and looks again, ever more
 * seldom; it is told as an error, because only a bug gets here.
 */
import { findEffectBreach, type Breach, type EffectRules } from '../../../core/plan/invariants.ts';
import { formatKey, type DaemonSetKey } from '../../../core/model/identifiers.ts';
import type { Effect, Outcome } from '../../../core/model/effects.ts';
import type { Intent } from '../../../core/model/state.ts';
import type { ClusterAccess, ExecuteOptions } from '../../../ports/cluster/cluster-access.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Metrics } from '../../../ports/process.ts';

interface BreachReport {
  readonly key: DaemonSetKey;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** What one run recorded and sent; serves all attempts of it. */
export class EffectAssertions {
  readonly #report: BreachReport;
  readonly #burstPodsMax: number;
  readonly #pods = new Set<string>();
  #recorded: readonly Intent[] = [];
  #creates = 0;
  #deletes = 0;
  #patches = 0;

  constructor(report: BreachReport, burstPodsMax: number) {
    this.#report = report;
    this.#burstPodsMax = burstPodsMax;
  }

  /** One error line and one metric. */
  report({ invariant, message }: Breach): void {
    const { key, log, metrics } = this.#report;
    metrics.count('ReconcileInvariants', { outcome: invariant });
    log.error('a promise would have been broken; what would have done so was left out', {
      key: formatKey(key),
      code: invariant,
      detail: message,
    });
  }

  /** From now on these may be sent. */
  noteRecorded(intents: readonly Intent[]): void {
    this.#recorded = intents;
  }

  /** Wraps an access for the effects of this DaemonSet, in a cluster of this mode. */
  wrap(access: ClusterAccess, of: Pick<EffectRules, 'uid' | 'mode' | 'startUp'>): ClusterAccess {
    const execute = async (
      effects: readonly Effect[],
      options: ExecuteOptions,
    ): Promise<readonly Outcome[]> => {
      const stopped = effects.map((effect) => this.#take(effect, of));
      const sound = effects.filter((_effect, index) => stopped[index] === undefined);
      const outcomes = [...(sound.length === 0 ? [] : await access.execute(sound, options))];
      return stopped.map((breach): Outcome =>
        breach === undefined
          ? (outcomes.shift() ?? { kind: 'ambiguous', message: 'no outcome' })
          : { kind: 'unsent', message: `${breach.invariant}: ${breach.message}` },
      );
    };
    return { ...access, execute };
  }

  /** Notes that an effect is sent, unless it must not be. */
  #take(effect: Effect, of: Pick<EffectRules, 'uid' | 'mode' | 'startUp'>): Breach | undefined {
    const rules: EffectRules = {
      ...of,
      namespace: this.#report.key.namespace,
      burstPodsMax: this.#burstPodsMax,
      recorded: this.#recorded,
    };
    const [creates, deletes, patches] = [this.#creates, this.#deletes, this.#patches];
    const breach = findEffectBreach(effect, rules, { creates, deletes, patches, pods: this.#pods });
    if (breach !== undefined) {
      this.report(breach);
      return breach;
    }
    if (effect.kind === 'create-pod') {
      this.#creates += 1;
      this.#pods.add(effect.name);
    }
    if (effect.kind === 'delete-pod') this.#deletes += 1;
    if (effect.kind === 'patch' && effect.resource === 'pods') this.#patches += 1;
    return undefined;
  }
}
