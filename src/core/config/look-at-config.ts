/**
 * One run's look at the content that is part of a revision: what counts now, and what changed (ADR 0061).
 *
 * Never acts on ignorance: an object that cannot be read counts as it was known last, and one that becomes known for the
 * first time is taken as what pods run. So turning it on or off, a watcher that begins anew, another key and an hour
 * without rights restart nothing; only a hash that differs from one under the same key, of the same object, is a change.
 * Pure; what it answers is recorded with the plan.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { ConfigName, ConfigObservation, ObservedConfig } from '../model/projections.ts';
import type { ConfigRecord, RolloutRecord } from '../model/rollout-record.ts';
import type { ConfigSelection } from '../policy/rollout-policy.ts';
import { revisionOf } from '../pod/revision.ts';
import { ABSENT_HASH, hashTogether, scopeOf } from './content-hash.ts';
import { configNameText, findConfigReferences } from './references.ts';
import type { ConfigReference } from './references.ts';
import { renameRevision, withoutContent } from './rename-revisions.ts';

/** What one run knows. */
export interface ConfigInput {
  /** Of the policy; absent: content is no part of the revision. */
  readonly selection: ConfigSelection | undefined;
  readonly daemonSet: DaemonSetObject;
  /** controller-revision-hash of its template. */
  readonly templateHash: string;
  /** As the watcher told last; absent: it told nothing. */
  readonly observed: ObservedConfig | undefined;
  readonly rollout: RolloutRecord | undefined;
  /** False where pods are not made by Rollcall, or two of them stand on a node: content is reported, and decides nothing. */
  readonly isStaged: boolean;
  readonly nowMs: number;
}

/** What is wrong with one object, as the watcher told. */
export type ConfigProblem = ConfigName & {
  readonly problem: NonNullable<ConfigObservation['problem']>;
};

/** What one run finds. */
export interface ConfigLook {
  /** The record to go on from, with its revisions named as they are now. */
  readonly rollout: RolloutRecord | undefined;
  /** To be recorded; absent: nothing is known. */
  readonly config: ConfigRecord | undefined;
  /** The word of the revision that is current now. */
  readonly revision: string;
  /** Objects whose content changed since the look before. */
  readonly changed: readonly ConfigName[];
  readonly problems: readonly ConfigProblem[];
  /** `no-key`: the cluster has no key, so nothing is hashed. `unknown`: nothing was told yet. */
  readonly state: 'off' | 'unknown' | 'no-key' | 'known';
  readonly leftOutCount: number;
}

/** Looks once. */
export function lookAtConfig(input: ConfigInput): ConfigLook {
  const { selection, daemonSet, templateHash, observed, rollout, isStaged } = input;
  if (selection === undefined) {
    const off = { config: undefined, changed: [], problems: [], leftOutCount: 0 };
    return { ...off, rollout: plainly(rollout), revision: templateHash, state: 'off' };
  }
  const { references, leftOutCount } = findConfigReferences(daemonSet, selection);
  const before = rollout?.config;
  const { config, changed } = nextRecord(references, before, input);
  const problems = problemsOf(references, observed);
  const told = { config, changed, problems, leftOutCount, state: stateOf(observed, config) };
  if (!isStaged || config === undefined) {
    return { ...told, rollout: plainly(rollout), revision: templateHash };
  }
  const revision = revisionOf(templateHash, config);
  const isRenamed = changed.length === 0 && before?.template === templateHash;
  const renamed = isRenamed || before === undefined ? adopted(rollout, input, revision) : rollout;
  return { ...told, rollout: renamed, revision };
}

function plainly(rollout: RolloutRecord | undefined): RolloutRecord | undefined {
  return rollout === undefined ? undefined : withoutContent(rollout);
}

/** What is rolled out of this template is what content stands for now, since none of it changed. */
function adopted(
  rollout: RolloutRecord | undefined,
  { templateHash }: ConfigInput,
  revision: string,
): RolloutRecord | undefined {
  if (rollout === undefined) return undefined;
  const isOfTemplate = rollout.hash === templateHash || rollout.hash.startsWith(`${templateHash}+`);
  return isOfTemplate ? renameRevision(rollout, rollout.hash, revision) : rollout;
}

interface NextRecord {
  readonly config: ConfigRecord | undefined;
  readonly changed: readonly ConfigName[];
}

function nextRecord(
  references: readonly ConfigReference[],
  before: ConfigRecord | undefined,
  { observed, templateHash: template, isStaged, nowMs }: ConfigInput,
): NextRecord {
  const key = observed?.key ?? before?.key;
  if (key === undefined) return { config: undefined, changed: [] };
  const known = before?.key === key ? before : undefined;
  const objects = resolve(references, { known, observed });
  const hash = hashTogether(objects);
  const scope = scopeOf(key, objects);
  if (known?.scope !== scope) {
    return { config: { template, key, scope, hash, baseline: hash, objects }, changed: [] };
  }
  const changed = objects.filter((object, index) => object.hash !== known.objects[index]?.hash);
  const names = changed.map(({ kind, name }) => ({ kind, name }));
  // Where nobody labels pods, what they began with is told by their age alone.
  const baseline = isStaged ? known.baseline : hash;
  const since = names.length > 0 ? { atMs: nowMs, objects: names } : known.changed;
  return {
    config: { template, key, scope, hash, baseline, objects, ...defined({ changed: since }) },
    changed: names,
  };
}

type KnownObject = ConfigRecord['objects'][number];

/** Each object that is known: as the watcher told, else as it was known last; what pods do without may be absent. */
function resolve(
  references: readonly ConfigReference[],
  from: {
    readonly known: ConfigRecord | undefined;
    readonly observed: ObservedConfig | undefined;
  },
): readonly KnownObject[] {
  const seen = new Map(from.observed?.objects.map((each) => [configNameText(each), each]));
  const last = new Map(from.known?.objects.map((each) => [configNameText(each), each.hash]));
  return references.flatMap((reference) => {
    const { kind, name, isOptional } = reference;
    const text = configNameText(reference);
    const told = seen.get(text);
    const absent = isOptional && told?.problem === 'missing' ? ABSENT_HASH : undefined;
    const hash = told?.hash ?? last.get(text) ?? absent;
    return hash === undefined ? [] : [{ kind, name, hash }];
  });
}

function problemsOf(
  references: readonly ConfigReference[],
  observed: ObservedConfig | undefined,
): readonly ConfigProblem[] {
  const wanted = new Map(references.map((each) => [configNameText(each), each]));
  return (observed?.objects ?? []).flatMap(({ kind, name, problem }) => {
    const reference = wanted.get(configNameText({ kind, name }));
    if (problem === undefined || reference === undefined) return [];
    return problem === 'missing' && reference.isOptional ? [] : [{ kind, name, problem }];
  });
}

function stateOf(
  observed: ObservedConfig | undefined,
  config: ConfigRecord | undefined,
): ConfigLook['state'] {
  if (observed !== undefined && observed.key === undefined) return 'no-key';
  return config === undefined ? 'unknown' : 'known';
}
