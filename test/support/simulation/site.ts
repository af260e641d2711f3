/**
 * A cluster in the world: API server, controllers, and the functions' way to it.
 *
 * Requests take time. What a test makes of one is decided by `intervene` (effects) and `answer`
 * (reads); the observer sees every batch before anything can befall it.
 */
import type { ClusterUid } from '../../../src/core/model/identifiers.ts';
import type { ClusterRegistration, StartUp } from '../../../src/core/model/registration.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Effect, DeletePodEffect, Outcome } from '../../../src/core/model/effects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type {
  ClusterConnector,
  ConnectRefusal,
  LiveRead,
} from '../../../src/ports/cluster/cluster-access.ts';
import { admissionOf } from '../simulated-admission.ts';
import type { Intervention } from '../simulated-hooks.ts';
import { SimulatedApiServer, type CommitListener } from './api-server.ts';
import type { AvailabilityAudit } from './availability-audit.ts';
import type { BuiltInLoop } from './built-in-loop.ts';
import type { CopilotAudit } from './copilot-audit.ts';
import { CopyAudit } from './copy-audit.ts';
import type { ShrinkAudit } from './removal-audit.ts';
import { OrderAudit } from './order-audit.ts';
import type { StageAudit } from './stage-audit.ts';
import { START_UP_TAINT, StartUpAudit } from './start-up-audit.ts';
import { SimulatedControllers } from './controllers.ts';
import type { Observer, SenderFacts } from './observer.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { controllerUid, refusal } from '../simulated-objects.ts';

/** What the functions' role may do in one cluster. */
interface FunctionRights {
  /** In takeover they may do whatever they ask for. */
  role: 'takeover' | 'copilot';
  /** True: somebody took the role away. */
  isTaken: boolean;
  /** Names of DaemonSets that listed.yaml has. */
  readonly listed: Set<string>;
  /** Whether the Roles of `--rollback` are there. */
  mayRestore: boolean;
}

/** The refusal of a request that changes something; undefined: it may pass. */
function refuseEffect(
  effect: Effect,
  { role, isTaken, listed, mayRestore }: FunctionRights,
  api: SimulatedApiServer,
): Outcome | undefined {
  if (isTaken) return refusal('forbidden');
  if (role === 'takeover') return undefined;
  switch (effect.kind) {
    case 'create-event':
    case 'patch-event':
    case 'set-condition':
    case 'remove-taint': // its opt-in overlay is installed wherever a world has start-up taints
      return undefined;
    case 'restore-template':
      return mayRestore && listed.has(effect.name) ? undefined : refusal('forbidden');
    case 'delete-pod':
      return mayDelete(effect, listed, api) ? undefined : refusal('admission');
    default:
      return refusal('forbidden');
  }
}

function mayDelete(
  { name, namespace, uid, resourceVersion }: DeletePodEffect,
  listed: ReadonlySet<string>,
  api: SimulatedApiServer,
): boolean {
  const pod = api.find('pods', name, namespace);
  const isListed = pod === undefined || listed.has(ownerName(pod, api) ?? '');
  return uid !== '' && resourceVersion !== '' && isListed;
}

/** Reads that the role does not have. */
const NEVER = /^LIST (pods|whole pods|controllerrevisions)/;

/** The refusal of a read; undefined: it may pass. */
function refuseRead(what: string, { role, isTaken }: FunctionRights): LiveRead<never> | undefined {
  const isRefused = isTaken || (role === 'copilot' && NEVER.test(what));
  return isRefused ? { kind: 'unavailable', message: 'forbidden', isRefused } : undefined;
}

function ownerName(pod: KubernetesObject, api: SimulatedApiServer): string | undefined {
  const uid = controllerUid(pod);
  return api.list('daemonsets').find(({ metadata }) => metadata.uid === uid)?.metadata.name;
}

/** An API server whose etcd is restored is away for this long, and its connections are gone. */
const RESTORE_MS = 10_000;

export interface SiteSurroundings {
  readonly clock: Clock;
  readonly observer: Observer;
  readonly onCommit: CommitListener;
}

/** One cluster. */
export class Site {
  readonly api: SimulatedApiServer;
  readonly controllers: SimulatedControllers;
  readonly availability: AvailabilityAudit;
  readonly shrinks: ShrinkAudit;
  readonly stages: StageAudit;
  readonly order: OrderAudit;
  readonly copilot: CopilotAudit;
  readonly copies: CopyAudit;
  readonly startUps: StartUpAudit;
  /** What the functions' role allows. */
  readonly rights: FunctionRights = {
    role: 'takeover',
    isTaken: false,
    listed: new Set(),
    mayRestore: false,
  };

  /** The built-in controller, where one is at work. */
  builtIn: BuiltInLoop | undefined;
  requestDelayMs: () => number = () => 2;
  /** What stands between a registration and its endpoint; undefined: nothing speaks against it. */
  admit: (registration: ClusterRegistration) => Promise<ConnectRefusal | undefined> = () =>
    Promise.resolve(undefined);
  /** False: nothing answers at the endpoint. */
  isReachable = true;
  intervene: (effect: Effect) => Intervention | undefined | Promise<Intervention | undefined> =
    () => undefined;
  afterEffect: (effect: Effect) => void | Promise<void> = () => undefined;
  answer: (what: string, name: string) => LiveRead<never> | undefined = () => undefined;

  /** What a LimitRange of the namespace gives to containers that ask for nothing; undefined: there is none. */
  limits: JsonObject | undefined;
  /** A webhook gives each pod what its template does not have. */
  isInjecting = false;
  /** A quota leaves no room for a pod. */
  isFull = false;

  #restoredAtMs = Number.NEGATIVE_INFINITY;

  constructor(uid: ClusterUid, { clock, observer, onCommit }: SiteSurroundings) {
    this.api = new SimulatedApiServer(uid, clock);
    this.api.podsLinger = true;
    this.api.isAway = () => clock.monotonicMs() < this.#restoredAtMs + RESTORE_MS;
    this.api.hooks = {
      beforeEffect: async (effect) => {
        if (!(await this.#reach(clock))) {
          return { kind: 'answer', outcome: { kind: 'ambiguous', message: 'connection lost' } };
        }
        this.copies.judge(effect);
        const outcome = refuseEffect(effect, this.rights, this.api);
        return outcome === undefined ? this.intervene(effect) : { kind: 'answer', outcome };
      },
      afterEffect: (effect) => this.afterEffect(effect),
      onApplied: (effect) => {
        observer.logs.noteApplied(effect);
      },
      onRead: async (what, name) => {
        if (await this.#reach(clock))
          return refuseRead(what, this.rights) ?? this.answer(what, name);
        return { kind: 'unavailable', message: 'connection lost', isRefused: false };
      },
    };
    this.api.subscribe((commit) => {
      if (commit === undefined) this.#restoredAtMs = clock.monotonicMs();
      onCommit(commit);
    });
    this.availability = observer.watchApi(this.api, clock);
    this.shrinks = observer.watchShrinks(this.api, clock);
    this.stages = observer.watchStages(this.api, clock);
    this.order = new OrderAudit(this.api, clock, (text) => {
      observer.report(text);
    });
    this.copilot = observer.watchCopilot(this.api, clock, this.stages);
    this.copies = new CopyAudit(this.api, clock, (text) => {
      observer.report(text);
    });
    this.startUps = new StartUpAudit(this.api, clock, (text) => {
      observer.report(text);
    });
    this.api.hooks.onTaintRemoval = (before, after) => {
      this.startUps.judge(before, after);
    };
    this.api.hooks.onConditionSet = (node) => {
      this.startUps.judgeServed(node);
    };
    this.stages.isStageTrue = () => this.rights.role === 'takeover';
    this.api.hooks.onPodDelete = (pod) => {
      this.availability.judge(pod);
      this.shrinks.judge(pod);
      this.stages.judge(pod);
      this.order.judge(pod);
      this.copilot.judge(pod);
    };
    this.api.hooks.onTemplateRestore = (set, template) => {
      this.copilot.judgeRestore(set, template);
    };
    this.controllers = new SimulatedControllers(this.api, clock);
  }

  /** Admission is installed: pods and copies are held to templates (ADR 0063). */
  guard(): void {
    this.copies.isGuarded = true;
    this.api.hooks.admit = admissionOf(this.api);
  }

  /** Nodes that join from now on have the start-up taint, which DaemonSets tolerate. */
  taintJoining(counts: StartUp['counts']): void {
    this.api.joiningTaints = [START_UP_TAINT];
    this.startUps.counts = counts;
  }

  /** An operator is about to take up the rollouts of a DaemonSet. */
  noteResume(uid: string): void {
    this.stages.halts.noteResume(uid);
    this.copilot.forgetRestores(uid);
  }

  /** A request takes time; while etcd is restored, and for a while after, none arrives. */
  async #reach(clock: Clock): Promise<boolean> {
    const wasAway = this.api.isAway();
    await clock.sleep(this.requestDelayMs());
    return !wasAway && !this.api.isAway();
  }
}

/** The connector of one invocation: to whatever cluster stands at the endpoint, under observation. */
export function observedConnector(options: {
  readonly clock: Clock;
  readonly observer: Observer;
  readonly sender: Omit<SenderFacts, 'registration'>;
  readonly siteOf: () => Site;
}): ClusterConnector {
  const { clock, observer, sender, siteOf } = options;
  return {
    connect: async (registration) => {
      await clock.sleep(siteOf().requestDelayMs());
      const { api, isReachable } = siteOf();
      const refusal = await siteOf().admit(registration);
      if (refusal !== undefined) return { kind: 'refused', refusal };
      if (registration.authentication.kind === 'none') {
        return { kind: 'refused', refusal: { kind: 'no-credential' } };
      }
      if (!isReachable) {
        return { kind: 'refused', refusal: { kind: 'unavailable', message: 'nobody answers' } };
      }
      if (api.clusterUid !== registration.clusterUid) {
        return { kind: 'refused', refusal: { kind: 'wrong-cluster', foundUid: api.clusterUid } };
      }
      const access = observer.watchAccess(api, api, { ...sender, registration });
      return { kind: 'connected', access };
    },
    forget: () => undefined,
  };
}
