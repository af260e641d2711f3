/**
 * S4 and S16 from outside, beside a built-in controller: what Rollcall sends there, and whether a delete was its to time.
 *
 * Judged when a delete of ours takes effect, by the commits of the API server, the operator's changes of the mode and virtual time
 * alone. In mode copilot a pod may go only if its DaemonSet asked for it by annotation and OnDelete, if it is not of
 * the template that stands, and if it has not ended: the built-in controller does away with those. What was otherwise while a
 * delete may have been under way excuses it. A template is restored once for what was halted, where the policy says so, and
 * only one that was proven (staged-revisions.ts).
 */
import { canonicalJson, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Effect } from '../../../src/core/model/effects.ts';
import type { ClusterMode } from '../../../src/core/model/registration.ts';
import { controllerUid } from '../simulated-objects.ts';
import type { SimulatedApiServer } from './api-server.ts';
import { phaseOf } from './controllers.ts';
import type { StageAudit } from './stage-audit.ts';
import { UNDER_WAY_MS, policyOf } from './staged-pods.ts';

/** What was so from a moment on, newest last. */
type History<T> = { readonly fromMs: number; readonly value: T }[];

interface SetRecord {
  readonly timed: History<boolean>;
  readonly rollback: History<boolean>;
  /** Templates, as text. */
  readonly templates: History<string>;
  /** Templates that were restored away from, since somebody last changed his mind. */
  readonly left: Set<string>;
}

const KINDS: readonly Effect['kind'][] = [
  'delete-pod',
  'restore-template',
  'create-event',
  'patch-event',
  'remove-taint',
  'set-condition',
];

export function forbiddenInCopilot(effects: readonly Effect[]): readonly string[] {
  const foreign = effects.filter(({ kind }) => !KINDS.includes(kind));
  return foreign.map(({ kind, name }) => `S4: ${kind} of ${name} in mode copilot`);
}

export interface CopilotSurroundings {
  readonly clock: Clock;
  readonly stages: StageAudit;
  readonly report: (text: string) => void;
}

/** Watches one cluster; only notes until it is on. */
export class CopilotAudit {
  /** True once a built-in controller is at work. */
  isOn = false;
  /** Deletes and restored templates that were judged: none means that a test looked at nothing. */
  judged = 0;
  restored = 0;
  readonly #api: SimulatedApiServer;
  readonly #on: CopilotSurroundings;
  readonly #modes: History<ClusterMode> = [];
  readonly #sets = new Map<string, SetRecord>();

  constructor(api: SimulatedApiServer, surroundings: CopilotSurroundings) {
    this.#api = api;
    this.#on = surroundings;
    api.subscribe((commit) => {
      if (commit === undefined) {
        this.#sets.clear();
        for (const set of api.list('daemonsets')) this.#look(set);
      } else if (commit.kind === 'daemonsets' && commit.type !== 'deleted') {
        this.#look(commit.object);
      }
    });
  }

  /** The operator's registration says so from now on. */
  noteMode(mode: ClusterMode): void {
    note(this.#modes, mode, this.#on.clock.monotonicMs());
  }

  /** A delete of ours is about to take effect. */
  judge(victim: KubernetesObject): void {
    const modes = this.#lately(this.#modes);
    const uid = controllerUid(victim);
    const record = this.#sets.get(uid ?? '');
    // In takeover other rules hold, and other audits.
    if (!this.isOn || record === undefined || modes.includes('takeover')) return;
    this.judged += 1;
    const { name } = victim.metadata;
    if (!modes.includes('copilot')) this.#on.report(`S4: ${name} goes in mode ${modes.join()}`);
    if (!this.#lately(record.timed).includes(true)) {
      this.#on.report(`S4: ${name} goes, whose DaemonSet does not ask for it`);
    }
    if (['Failed', 'Succeeded'].includes(phaseOf(victim))) {
      this.#on.report(`S4: ${name} goes, which has ended: the built-in controller's business`);
    }
    const made = this.#templateOf(victim);
    const templates = this.#lately(record.templates);
    if (made !== undefined && templates.every((template) => template === made)) {
      this.#on.report(`S16: ${name} goes, which is of the template that stands`);
    }
  }

  /** A template is about to be restored by us. */
  judgeRestore(set: KubernetesObject, template: JsonObject): void {
    const record = this.#sets.get(set.metadata.uid);
    if (!this.isOn || record === undefined) return;
    this.restored += 1;
    const { name } = set.metadata;
    if (!this.#lately(record.rollback).includes(true)) {
      this.#on.report(`S16: the template of ${name} is restored, and nobody asked for it`);
    }
    const halted = textOf(set);
    if (record.left.has(halted)) {
      this.#on.report(`S16: the template of ${name} is restored again after the same halt`);
    }
    record.left.add(halted);
    const { containers } = template['spec'] as {
      readonly containers: readonly { readonly image: string }[];
    };
    const revision = containers.map(({ image }) => image).join(' ');
    if (!this.#on.stages.isProven(set, revision)) {
      this.#on.report(`S16: ${name} goes back to ${revision}, which nothing proved`);
    }
  }

  /** Somebody took up what was halted, or what was recorded is lost: it may be halted, and restored, anew. */
  forgetRestores(uid?: string): void {
    for (const [each, { left }] of this.#sets) if (uid === undefined || uid === each) left.clear();
  }

  #lately<T>(history: History<T>): readonly T[] {
    const fromMs = this.#on.clock.monotonicMs() - UNDER_WAY_MS;
    const first = history.findLastIndex((entry) => entry.fromMs < fromMs);
    return history.slice(Math.max(0, first)).map(({ value }) => value);
  }

  #look(set: KubernetesObject): void {
    const nowMs = this.#on.clock.monotonicMs();
    const { uid } = set.metadata;
    const record: SetRecord = this.#sets.get(uid) ?? {
      timed: [],
      rollback: [],
      templates: [],
      left: new Set(),
    };
    this.#sets.set(uid, record);
    const policy = policyOf(set);
    const { updateStrategy } = set['spec'] as {
      readonly updateStrategy?: { readonly type?: string };
    };
    note(record.timed, policy !== undefined && updateStrategy?.type === 'OnDelete', nowMs);
    note(record.rollback, policy?.onHalt === 'rollback', nowMs);
    note(record.templates, textOf(set), nowMs);
    // Without a policy nothing is recorded.
    if (policy === undefined) record.left.clear();
  }

  /** The template that a pod was made of, by its hash label; undefined: no revision tells. */
  #templateOf({ metadata }: KubernetesObject): string | undefined {
    const hash = metadata.labels?.['controller-revision-hash'];
    const revision = this.#api
      .list('controllerrevisions')
      .find((each) => each.metadata.labels?.['controller-revision-hash'] === hash);
    const data = revision?.['data'] as
      { readonly spec: { readonly template: JsonObject } } | undefined;
    if (data === undefined) return undefined;
    const { $patch: _patch, ...template } = data.spec.template;
    return canonicalJson(template);
  }
}

function textOf(set: KubernetesObject): string {
  return canonicalJson((set['spec'] as { readonly template: Json }).template);
}

function note<T>(history: History<T>, value: T, fromMs: number): void {
  if (history.at(-1)?.value !== value) history.push({ fromMs, value });
}
