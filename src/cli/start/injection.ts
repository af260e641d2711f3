/**
 * Plays a bad rollout: once everything has settled, a DaemonSet asks for stages; once that was seen, it gets the revision
 * that fails; then the rollout is halted, or goes through.
 *
 * Each step waits for what the functions have recorded, never for a time. An edit that fails ends the program: there is
 * nothing to watch then. What the table shows of the rollout meanwhile is not decided here.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { plainText } from '../command-line/text-table.ts';
import { INJECTION_TARGET, failingPatch, optInPatch } from './injected-failure.ts';
import type { InjectedFailure } from './injected-failure.ts';
import type { ClusterOverview, DaemonSetOverview } from '../../engine/overview.ts';

/** What an injection needs. */
export interface InjectionOptions {
  readonly failure: InjectedFailure;
  /** Strategic merge patch of the target. Rejects when it is refused. */
  readonly patch: (body: JsonObject) => Promise<void>;
  readonly say: (text: string) => void;
}

/** How far it is. */
type Progress =
  | { readonly step: 'settle' }
  | { readonly step: 'opt-in' }
  | { readonly step: 'roll'; readonly former: string }
  | { readonly step: 'end' };

const TARGET_NAME = `${INJECTION_TARGET.namespace}/${INJECTION_TARGET.name}`;

/** One injection, from start to end. */
export class Injection {
  readonly #options: InjectionOptions;
  #progress: Progress = { step: 'settle' };

  constructor(options: InjectionOptions) {
    this.#options = options;
  }

  /** Looks at the clusters, and does what is due. What it waits for; undefined: the rollout was halted, or went through. */
  async advance(
    clusters: readonly ClusterOverview[],
    isSettled: boolean,
  ): Promise<string | undefined> {
    if (this.#progress.step === 'end') return undefined;
    const target = findTarget(clusters);
    if (this.#progress.step === 'roll') return this.#watch(this.#progress.former, target);
    if (this.#progress.step === 'opt-in') return this.#roll(target);
    return isSettled && target !== undefined ? this.#optIn() : 'the clusters to settle';
  }

  async #optIn(): Promise<string> {
    await this.#options.patch(optInPatch());
    this.#say('asks to be rolled in stages');
    this.#progress = { step: 'opt-in' };
    return POLICY_SEEN;
  }

  async #roll(target: DaemonSetOverview | undefined): Promise<string> {
    const { failure, patch } = this.#options;
    const rollout = target?.rollout;
    // Over a data directory of before, the rollout may have been halted.
    const isAtRest = rollout?.phase === 'Done' || rollout?.phase === 'Halted';
    if (target === undefined || rollout === undefined || !isAtRest) return POLICY_SEEN;
    await patch(failingPatch(failure, target.generation));
    this.#say(`gets a revision that fails: ${failure}`);
    this.#progress = { step: 'roll', former: rollout.revision };
    return ROLLOUT_BEGUN;
  }

  #watch(former: string, target: DaemonSetOverview | undefined): string | undefined {
    const rollout = target?.rollout;
    if (rollout === undefined || rollout.revision === former) return ROLLOUT_BEGUN;
    const { phase, summary } = rollout;
    if (phase !== 'Halted' && phase !== 'Done') {
      return `the rollout of ${TARGET_NAME} to be halted, or done`;
    }
    this.#say(`${TOLD[phase]}: ${plainText(summary)}`);
    this.#progress = { step: 'end' };
    return undefined;
  }

  #say(text: string): void {
    this.#options.say(`inject: ${TARGET_NAME} of ${INJECTION_TARGET.cluster} ${text}`);
  }
}

const POLICY_SEEN = 'the policy to be seen';
const ROLLOUT_BEGUN = 'the rollout to begin';
const TOLD = { Halted: 'is held', Done: 'went through, nothing halted it' };

function findTarget(clusters: readonly ClusterOverview[]): DaemonSetOverview | undefined {
  return clusters
    .find(({ cluster }) => cluster === INJECTION_TARGET.cluster)
    ?.daemonSets.find(
      ({ namespace, name }) =>
        namespace === INJECTION_TARGET.namespace && name === INJECTION_TARGET.name,
    );
}
