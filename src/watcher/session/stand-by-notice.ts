/**
 * Tells the own stack that this watcher stands by, as another installation holds the Lease (ADR 0024).
 *
 * An announcement that no snapshot follows: the view is incomplete from then on, so no run acts on what nobody keeps. Its
 * epoch is the version of the Lease as it was read: above every epoch of this stack, below the one that takes it back.
 */
import { epoch, incarnation } from '../../core/model/identifiers.ts';
import type { ClusterId, ClusterUid } from '../../core/model/identifiers.ts';
import type { LeaseFacts } from '../lease/lease-object.ts';
import { Sender } from '../outbox/sender.ts';
import { announcement } from './epoch.ts';
import type { SessionDependencies } from './epoch.ts';

type NoticeDependencies = Omit<SessionDependencies, 'source'>;

/** Says it once for each holder, until the queue has it or the standing by is over. */
export class StandByNotice {
  readonly #on: NoticeDependencies;
  #toldOf: string | undefined;
  #sending = new AbortController();

  constructor(dependencies: NoticeDependencies) {
    this.#on = dependencies;
  }

  /** True if it is told now for the first time. */
  tell(
    { installation, version }: Pick<LeaseFacts, 'installation' | 'version'>,
    of: { readonly cluster: ClusterId; readonly clusterUid: ClusterUid },
  ): boolean {
    if (installation === undefined || version === undefined) return false;
    if (installation === this.#toldOf) return false;
    this.over();
    this.#toldOf = installation;
    const { random, options, memory } = this.#on;
    const { sendBackoffBaseMs: backoffBaseMs, sendBackoffCapMs: backoffCapMs } = options;
    const header = { ...of, epoch: epoch(version), incarnation: incarnation(random.uniqueId()) };
    const sending = { ...this.#on, backoffBaseMs, backoffCapMs };
    const sender = new Sender(sending, header, this.#sending.signal);
    const said = announcement('start', memory.sliceCount);
    void sender.send(sender.freeze({ kind: 'announcement', ...said, standsBy: installation }));
    return true;
  }

  /** Nothing of it is sent any more; whoever stands by again says so again. */
  over(): void {
    this.#toldOf = undefined;
    this.#sending.abort();
    this.#sending = new AbortController();
  }
}
