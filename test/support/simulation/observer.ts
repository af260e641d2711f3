/**
 * The observer: checks the promises at every commit and every write, from outside all faults.
 *
 * S1 and S2 over all pods after each commit; S3 at each delete of ours (availability-audit.ts); S4, S5,
 * S6, S9, S10 and S13 on each batch that an invocation sends; S7 by the API server itself; S8 on each write
 * to the view; S19 at each taint that goes (start-up-audit.ts); S14 and S16 at each delete of ours (shrink-audit.ts, stage-audit.ts); S17 and S18 on each batch (freeze-audit.ts, log-audit.ts). It knows nothing of the code it watches but the
 * ports. What it finds is kept as text; a test fails on the first line.
 */
import { compareResourceVersions } from '../../../src/core/model/identifiers.ts';
import type {
  CreatePodEffect,
  DeletePodEffect,
  DeleteRevisionEffect,
  Effect,
  Outcome,
  PatchEffect,
} from '../../../src/core/model/effects.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { stampOf } from '../../../src/core/model/position.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import type { DaemonSetState } from '../../../src/core/model/state.ts';
import type { ClusterMeta, Slice } from '../../../src/core/model/view-items.ts';
import type { ClusterAccess } from '../../../src/ports/cluster/cluster-access.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { NamespacedName, SliceRef, ViewStore } from '../../../src/ports/stores/view-store.ts';
import { controllerUid } from '../simulated-objects.ts';
import { SimulatedApiServer, type Commit } from './api-server.ts';
import { AvailabilityAudit } from './availability-audit.ts';
import { CopilotAudit, forbiddenInCopilot } from './copilot-audit.ts';
import { FreezeAudit } from './freeze-audit.ts';
import { LogAudit } from './log-audit.ts';
import { NameAudit } from './name-audit.ts';
import { NodeAudit } from './node-audit.ts';
import type { NotedView } from './noted-view.ts';
import { findCrowds } from './pod-audit.ts';
import { SecretAudit } from './secret-audit.ts';
import { ShrinkAudit } from './removal-audit.ts';
import { StageAudit } from './stage-audit.ts';
import { StartAudit } from './start-audit.ts';

/** Who sends, and under which registration. */
export interface SenderFacts {
  readonly key: NamespacedName;
  readonly registration: ClusterRegistration;
  readonly burstPodsMax: number;
  /** What this invocation read of the view, and when; undefined: it does not look at it. */
  readonly noted?: NotedView;
}

interface Tally {
  creates: number;
  deletes: number;
  claims: number;
  /** What the live read since the last creating batch found; undefined: there was none. */
  confirmed: { readonly uid: string; readonly isEnding: boolean } | undefined;
}

/** Watches one world. */
export class Observer {
  /** What was broken; must stay empty. */
  readonly violations: string[] = [];
  /**
   * True while users make pods that match beside ours at the very same time. Nothing can fence their
   * names (design 3); such a pod is adopted, and the younger of the two goes as a duplicate.
   */
  allowsAdopted = false;
  /** Whether a new history of the cluster may begin: etcd went back, or nobody was heard for long. */
  mayBeginAnew: () => boolean = () => true;
  /** UIDs of pods that a user made in the place of, or beside, one of ours: two of those are his doing. */
  readonly usersPods = new Set<string>();
  /** False: the machines disagree about the hour, or did; ages and minReadySeconds cannot be told then. */
  areClocksTrue: () => boolean = () => true;
  /** Hears of each broken promise at once. */
  onViolation: (text: string) => void = () => undefined;
  /** Requests of functions that change something, without Events. */
  writes = 0;
  /** Hears of each request to an API server, and for which key. */
  onRequest: (key: NamespacedName) => void = () => undefined;
  /** Hears of each 429, and how long the API server wants to be left alone. */
  onAsked: (key: NamespacedName, retryAfterMs: number) => void = () => undefined;
  #nowMs: () => number = () => 0;
  #wallMs: () => number = () => 0;
  readonly #nodes = new Map<SimulatedApiServer, NodeAudit>();
  readonly #stages: StageAudit[] = [];
  readonly #copilots: CopilotAudit[] = [];
  readonly #metas = new Map<string, ClusterMeta>();
  readonly #slices = new Map<string, Slice>();
  /** UIDs that ever stood under a DaemonSet's name. */
  readonly #uids = new Map<string, Set<string>>();
  /** UIDs of DaemonSets that ever had surge. */
  readonly #surged = new Set<string>();
  /** The DaemonSet that made a pod, by the pod's UID. */
  readonly #firstOwners = new Map<string, string>();
  readonly #reported = new Set<string>();
  /** Looks for credentials in what is written (S11). */
  readonly secrets = new SecretAudit((text) => {
    this.report(text);
  });
  /** Hears of freezes and thaws, and checks S17 on each batch. */
  readonly freezes = new FreezeAudit((text) => {
    this.report(text);
  });
  /** Checks S18. */
  readonly logs = new LogAudit((text) => {
    this.report(text);
  });

  readonly #names = new NameAudit((text) => {
    this.report(text);
  });

  readonly #starts = new StartAudit((text) => {
    this.report(text);
  });

  /** Checks S1, S2 and S7 at each commit of an API server from now on, and S3 at each delete of ours. */
  watchApi(api: SimulatedApiServer, clock: Clock): AvailabilityAudit {
    const nodes = new NodeAudit((text) => {
      this.report(text);
    });
    this.#nodes.set(api, nodes);
    api.subscribe((commit) => {
      const nowMs = clock.monotonicMs();
      if (commit === undefined) {
        this.#names.noteRestore(api, nowMs);
        nodes.noteRestore(api, nowMs);
        return;
      }
      if (commit.kind === 'nodes') nodes.noteCommit(commit, nowMs);
      if (commit.kind === 'pods') this.#names.noteCommit(commit, nowMs);
      if (commit.kind === 'daemonsets') this.#noteDaemonSet(commit);
      if (commit.kind === 'pods') this.#noteOwner(commit.object);
      const mayCrowd = commit.kind === 'pods' && commit.type !== 'deleted';
      if (mayCrowd && this.looksAtEverything()) this.#checkCrowds(api);
      // Its own checks of S1 and S5 know nothing of batches and adoption: those here do.
      const own = api.violations.splice(0).filter((text) => !/^S[15]/.test(text));
      for (const text of own) this.report(text);
    });
    const looksAt = this.looksAtEverything() ? api : new SimulatedApiServer(api.clusterUid, clock);
    const availability = new AvailabilityAudit(looksAt, clock, (text) => {
      this.report(text);
    });
    availability.areClocksTrue = () => this.areClocksTrue();
    return availability;
  }

  /** Checks S14 at each delete of ours from now on. */
  watchShrinks(api: SimulatedApiServer, clock: Clock): ShrinkAudit {
    const looksAt = this.looksAtEverything() ? api : new SimulatedApiServer(api.clusterUid, clock);
    return new ShrinkAudit(looksAt, clock, (text) => {
      this.report(text);
    });
  }

  /** Checks S16 at each pod that is made and each delete of ours from now on. */
  watchStages(api: SimulatedApiServer, clock: Clock): StageAudit {
    const looksAt = this.looksAtEverything() ? api : new SimulatedApiServer(api.clusterUid, clock);
    const stages = new StageAudit(looksAt, clock, (text) => {
      this.report(text);
    });
    this.#stages.push(stages);
    return stages;
  }

  /** Checks what is done beside a built-in controller, once there is one. */
  watchCopilot(api: SimulatedApiServer, clock: Clock, stages: StageAudit): CopilotAudit {
    const copilot = new CopilotAudit(api, {
      clock,
      stages,
      report: (text) => {
        this.report(text);
      },
    });
    this.#copilots.push(copilot);
    return copilot;
  }

  /** Access for one invocation; every batch is checked. */
  watchAccess(api: SimulatedApiServer, access: ClusterAccess, sender: SenderFacts): ClusterAccess {
    const tally: Tally = { creates: 0, deletes: 0, claims: 0, confirmed: undefined };
    return this.#counted(sender, {
      get answerTimes() {
        return access.answerTimes;
      },
      getDaemonSet: async (...query) => {
        const read = await access.getDaemonSet(...query);
        // What could not be read says nothing; what was read before it still stands.
        if (read.kind !== 'unavailable') {
          const metadata = read.kind === 'found' ? read.object.metadata : undefined;
          const isEnding = metadata?.deletionTimestamp !== undefined;
          tally.confirmed = { uid: metadata?.uid ?? '', isEnding };
        }
        return read;
      },
      applyDaemonSet: (manifest, options) => access.applyDaemonSet(manifest, options),
      readDaemonSetManagers: (key) => access.readDaemonSetManagers(key),
      getPod: (key) => access.getPod(key),
      getNode: (name) => access.getNode(name),
      getRevision: (key) => access.getRevision(key),
      getTemplateCopy: (key) => access.getTemplateCopy(key),
      getWatcherLease: () => access.getWatcherLease(),
      listPodMetadata: (namespace, selector) => access.listPodMetadata(namespace, selector),
      listPods: (namespace, selector) => access.listPods(namespace, selector),
      listPodEvents: (namespace, uid) => access.listPodEvents(namespace, uid),
      listRevisions: (namespace, selector) => access.listRevisions(namespace, selector),
      requestSnapshot: (requestId) => access.requestSnapshot(requestId),
      execute: (effects, options) => {
        this.#checkBatch({ api, sender, tally, effects });
        const noteAnswers = this.#checkRun(sender, effects);
        const at = { api, readAtMs: sender.noted?.readAtMs(), nowMs: this.#nowMs() };
        for (const effect of effects) {
          if (effect.kind !== 'create-pod') continue;
          this.#names.check(effect, at);
          if (this.areClocksTrue() && at.nowMs < options.deadlineMs) {
            const ownByMs = sender.noted?.startsByMs(effect.name);
            this.#starts.check(effect, { nowMs: this.#wallMs(), ownByMs });
          }
          if (this.areClocksTrue()) this.#nodes.get(api)?.check(effect, at.nowMs);
        }
        const outcomes = access.execute(effects, options);
        return noteAnswers === undefined ? outcomes : noteAnswers(outcomes);
      },
    });
  }

  /** S17 and S18 of a run's batch; the answer hears of the outcomes. */
  #checkRun(
    { key, noted: run }: SenderFacts,
    effects: readonly Effect[],
  ): ((outcomes: Promise<readonly Outcome[]>) => Promise<readonly Outcome[]>) | undefined {
    if (run === undefined) return undefined;
    this.freezes.check({ run, key }, effects, this.#nowMs());
    const noteAnswers = this.logs.check(run, effects);
    return (outcomes) => {
      void outcomes.then(noteAnswers, () => undefined);
      return outcomes.finally(() => {
        this.freezes.noteAnswered({ run, key }, effects);
      });
    };
  }

  /** False: S1 to S3 are judged elsewhere, in a world too wide to be looked at as a whole at each commit. */
  protected looksAtEverything(): boolean {
    return true;
  }

  #counted(sender: SenderFacts, access: ClusterAccess): ClusterAccess {
    return new Proxy(access, {
      get: (target, property) => {
        const member: unknown = Reflect.get(target, property);
        if (typeof member !== 'function') return member;
        return (...input: unknown[]): unknown => {
          this.onRequest(sender.key);
          const answer: unknown = Reflect.apply(member, target, input);
          // Beside the caller, who waits no longer for this, and to whom alone a call that fails is told.
          void Promise.resolve(answer).then(
            (told) => {
              const retryAfterMs = retryAfterOf(told);
              // Events are told beside the end of a run, which waits for no answer to them before it sends its timer.
              if (retryAfterMs > 0 && !tellsEvents(input)) this.onAsked(sender.key, retryAfterMs);
            },
            () => undefined,
          );
          return answer;
        };
      },
    });
  }

  /** The same view; S8 is checked on each write that succeeded. */
  watchView(view: ViewStore, clock: Pick<Clock, 'monotonicMs' | 'nowMs'>): ViewStore {
    this.#nowMs = () => clock.monotonicMs();
    this.#wallMs = () => clock.nowMs();
    return new Proxy(view, {
      get: (target, property) => {
        const member: unknown = Reflect.get(target, property);
        if (typeof member !== 'function') return member;
        return async (...input: unknown[]): Promise<unknown> => {
          const result: unknown = await Reflect.apply(member, target, input);
          if (String(property).startsWith('write')) this.secrets.check('the view', input);
          if (property === 'writeMeta' && result === 'written') {
            this.#checkMeta(input[0] as ClusterMeta);
            this.#names.noteMeta(input[0] as ClusterMeta, clock.monotonicMs());
          }
          if (property === 'writeSlice' && result === 'written') {
            this.#checkSlice(input[0] as SliceRef, input[1] as Slice);
            this.#names.noteSlice(input[0] as SliceRef, input[1] as Slice);
          }
          if (property === 'writeState' && result === 'written') {
            this.#names.noteState(input[1] as DaemonSetState, clock.monotonicMs());
            this.#starts.noteState(input[1] as DaemonSetState);
            for (const stages of this.#stages) stages.halts.noteWrite(input);
          }
          if (property === 'removeSlice') this.#slices.delete(refKey(input[0] as SliceRef));
          return result;
        };
      },
    });
  }

  /** What was seen of the view no longer counts: the table was lost or restored. */
  forgetView(): void {
    this.#metas.clear();
    this.#slices.clear();
    this.#names.forget();
    this.logs.forget(this.#nowMs());
    for (const stages of this.#stages) stages.forget();
    for (const copilot of this.#copilots) copilot.forgetRestores();
  }

  /** Notes a broken promise, once. */
  report(text: string): void {
    if (this.#reported.has(text)) return;
    this.#reported.add(text);
    this.violations.push(text);
    this.onViolation(text);
  }

  #noteDaemonSet({ object }: Commit): void {
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    const uids = this.#uids.get(key) ?? new Set();
    this.#uids.set(key, uids.add(object.metadata.uid));
    if (/"maxSurge":(?!0)/.test(JSON.stringify(object['spec']))) {
      this.#surged.add(object.metadata.uid);
    }
  }

  /** Who adopts the pods of another one that had surge may find two on a node. */
  #noteOwner(pod: KubernetesObject): void {
    const owner = controllerUid(pod);
    if (owner === undefined) return;
    const first = this.#firstOwners.get(pod.metadata.uid);
    if (first === undefined) this.#firstOwners.set(pod.metadata.uid, owner);
    else if (first !== owner && this.#surged.has(first)) this.#surged.add(owner);
  }

  #checkCrowds(api: SimulatedApiServer): void {
    const isOrphan = (pod: KubernetesObject): boolean => pod.metadata.name.startsWith('orphan-');
    const sets = api.list('daemonsets');
    const pods = api
      .list('pods')
      .filter((pod) => !isTakenOut(pod, sets) && !(this.allowsAdopted && isOrphan(pod)))
      .filter(({ metadata }) => !this.usersPods.has(metadata.uid));
    for (const text of findCrowds(pods, this.#surged)) this.report(text);
  }

  #checkBatch(batch: {
    readonly api: SimulatedApiServer;
    readonly sender: SenderFacts;
    readonly tally: Tally;
    readonly effects: readonly Effect[];
  }): void {
    const { api, sender, tally, effects } = batch;
    this.secrets.check('a request to the API server', effects);
    this.writes += effects.filter(
      ({ kind }) => kind !== 'create-event' && kind !== 'patch-event',
    ).length;
    if (effects.length > 0 && api.clusterUid !== sender.registration.clusterUid) {
      this.report(`S6: ${effects.length} effects for a cluster that is not registered`);
    }
    const creates = effects.filter((effect) => effect.kind === 'create-pod');
    tally.creates += creates.length;
    tally.deletes += effects.filter((effect) => effect.kind === 'delete-pod').length;
    tally.claims += effects.filter(isClaimOfPod).length;
    if (Math.max(tally.creates, tally.deletes, tally.claims) > sender.burstPodsMax) {
      const { creates: made, deletes, claims } = tally;
      this.report(`S9: ${made} creates, ${deletes} deletes and ${claims} claims in one run`);
    }
    this.#checkView(sender, effects);
    if (sender.registration.mode === 'copilot') {
      for (const text of forbiddenInCopilot(effects)) this.report(text);
    }
    for (const effect of creates) this.#checkCreate(effect, tally);
    if (creates.length > 0) tally.confirmed = undefined;
    for (const effect of effects) {
      if (effect.kind === 'delete-revision') this.#checkRevision(api, effect);
      this.#checkTarget(api, sender, effect);
    }
  }

  /** A pod is made only after a live read of its DaemonSet, at most one batch earlier (S5). */
  #checkCreate({ name, body }: CreatePodEffect, { confirmed }: Tally): void {
    const owner = controllerUid(body as unknown as KubernetesObject); // raw JSON of a pod
    if (confirmed === undefined) {
      this.report(`S5: ${name} in a batch without a live read of its DaemonSet`);
    } else if (confirmed.isEnding || confirmed.uid !== owner) {
      this.report(`S5: ${name} though its DaemonSet was seen gone, deleting or replaced`);
    }
  }

  /** A pod goes by a whole view only (S3: from a fresh read). */
  #checkView(sender: SenderFacts, effects: readonly Effect[]): void {
    const deleted = effects.find((effect) => effect.kind === 'delete-pod');
    if (deleted === undefined || sender.noted?.isWhole() !== false) return;
    this.report(`S3: ${deleted.name} deleted by a view that is not whole`);
  }

  /** A revision that a pod was made of stays while that pod lives (S10). */
  #checkRevision(api: SimulatedApiServer, effect: DeleteRevisionEffect): void {
    const revision = api.find('controllerrevisions', effect.name, effect.namespace);
    if (revision?.metadata.resourceVersion !== effect.resourceVersion) return;
    const owner = controllerUid(revision);
    const hashOf = ({ metadata }: KubernetesObject): string | undefined =>
      metadata.labels?.['controller-revision-hash'];
    const user = api
      .list('pods')
      .find((pod) => controllerUid(pod) === owner && hashOf(pod) === hashOf(revision));
    if (user !== undefined) {
      this.report(`S10: ${effect.name} deleted, of which ${user.metadata.name} was made`);
    }
  }

  #checkTarget(api: SimulatedApiServer, sender: SenderFacts, effect: Effect): void {
    if (effect.kind !== 'delete-pod' && effect.kind !== 'patch') return;
    const isDelete = effect.kind === 'delete-pod';
    if (effect.uid === '' || (isDelete && effect.resourceVersion === '')) {
      this.report(`S4: ${effect.name} lacks a precondition`);
    }
    const target = api.find(isDelete ? 'pods' : effect.resource, effect.name, effect.namespace);
    if (target === undefined || !isMet(effect, target)) return;
    const owner = controllerUid(target);
    const isAdoption = !isDelete && effect.purpose !== 'release';
    if (owner === undefined ? !isAdoption : !this.#isOurs(sender.key, owner)) {
      this.report(`S4: ${effect.kind} of ${effect.name}, which is not ours`);
    }
  }

  #isOurs(key: NamespacedName, owner: string): boolean {
    return this.#uids.get(`${key.namespace}/${key.name}`)?.has(owner) === true;
  }

  #checkMeta(meta: ClusterMeta): void {
    const former = this.#metas.get(meta.clusterUid);
    this.#metas.set(meta.clusterUid, meta);
    if (former === undefined) return;
    if (stampOf(meta) < stampOf(former)) {
      this.report(`S8: position ${stampOf(meta)} after ${stampOf(former)}`);
    }
    if (meta.era !== former.era) {
      if (!this.mayBeginAnew()) this.report(`S8: era ${meta.era} began, and etcd was not restored`);
      return;
    }
    for (const [type, mark] of Object.entries(former.marks)) {
      const next = meta.marks[type as keyof typeof meta.marks];
      if (next !== undefined && compareResourceVersions(next, mark) < 0) {
        this.report(`S8: mark of ${type} fell from ${mark} to ${next}`);
      }
    }
  }

  #checkSlice(ref: SliceRef, slice: Slice): void {
    const former = this.#slices.get(refKey(ref));
    this.#slices.set(refKey(ref), slice);
    if (former !== undefined && slice.stamp < former.stamp) {
      this.report(`S8: slice ${refKey(ref)} went back from ${former.stamp} to ${slice.stamp}`);
    }
  }
}

/** Adoptions and releases of pods: they count against a burst of their own (S9). */
function isClaimOfPod(effect: Effect): boolean {
  return effect.kind === 'patch' && effect.resource === 'pods' && effect.purpose !== 'relabel';
}

/** A user took the pod out of its DaemonSet's selector: it is no pod of it any more, though not released yet. */
function isTakenOut({ metadata }: KubernetesObject, sets: readonly KubernetesObject[]): boolean {
  const owners = metadata.ownerReferences ?? [];
  const set = sets.find(({ metadata: { uid } }) => owners.some((owner) => owner.uid === uid));
  const spec = set?.['spec'] as
    { readonly selector: { readonly matchLabels: Readonly<Record<string, string>> } } | undefined;
  const wanted = Object.entries(spec?.selector.matchLabels ?? {});
  return wanted.some(([key, value]) => metadata.labels?.[key] !== value);
}

/** A request that will not pass its precondition touches nothing, nor does a release of what nobody owns. */
function isMet(effect: DeletePodEffect | PatchEffect, target: KubernetesObject): boolean {
  const { uid, resourceVersion } = target.metadata;
  if (uid !== effect.uid) return false;
  const isRelease = effect.kind === 'patch' && effect.purpose === 'release';
  if (isRelease && controllerUid(target) === undefined) return false;
  return effect.kind === 'patch' || effect.resourceVersion === resourceVersion;
}

function refKey(ref: SliceRef): string {
  return `${ref.clusterUid} ${ref.set} ${ref.index}`;
}

/** The longest Retry-After in an answer, or in those of a batch; 0: there is none. */
function retryAfterOf(answer: unknown): number {
  const told = (Array.isArray(answer) ? answer : [answer]) as (
    { retryAfterMs?: number } | undefined
  )[];
  return Math.max(0, ...told.map((each) => each?.retryAfterMs ?? 0));
}

/** True if a call of `execute` sends Events. */
function tellsEvents([effects]: readonly unknown[]): boolean {
  return Array.isArray(effects) && effects.some((one: Effect) => one.kind.endsWith('-event'));
}
