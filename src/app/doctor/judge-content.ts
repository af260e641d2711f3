/**
 * Findings about content that policies have in their revisions: what keeps it from being known (ADR 0061).
 *
 * Pure. What is not known restarts nothing, so a key or a right that is missing is seen nowhere else but in an Event: changes then
 * reach pods unstaged. Names of objects, never a hash of one. A cluster without such a policy has no finding.
 */
import { counted } from '@rollcall/base/counted.ts';
import type { ContentFact, ContentTrouble, DoctorFacts } from './facts.ts';
import { failed, notChecked, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';
import { someNames } from './some-names.ts';

const GRANT =
  'kubectl get daemonsets -A -o json | node scripts/launch.mjs scripts/install/content-rights.ts | kubectl apply -f -';
const MAKE_KEY =
  'kubectl -n rollcall-system create secret generic rollcall-config-key --from-literal=key="$(openssl rand -hex 32)"';

/** One finding for each thing that is wrong. */
export function judgeContent({ content }: Pick<DoctorFacts, 'content'>): readonly Finding[] {
  if (content.kind === 'unchecked') return [notChecked('content', content.why)];
  const facts = content.value;
  if (facts.length === 0) return [];
  const found = [judgeKey(facts), judgeUntold(facts), ...judgeTroubles(facts)].filter(
    (one) => one !== undefined,
  );
  if (found.length > 0) return found;
  const seen = `${counted(facts.length, 'DaemonSet has content in its revision', 'DaemonSets have content in their revision')}, and all of it is read`;
  return [ok('content', 'content-ok', seen)];
}

function judgeKey(facts: readonly ContentFact[]): Finding | undefined {
  const names = facts.filter(({ state }) => state === 'no-key').map(({ name }) => name);
  if (names.length === 0) return undefined;
  return failed('content', 'content-no-key', {
    seen: `the watcher has no key to hash with, so content is part of no revision: ${someNames(names)}`,
    next: `${MAKE_KEY} (unless it is there, and only the right to read it is missing: ${GRANT})`,
  });
}

function judgeUntold(facts: readonly ContentFact[]): Finding | undefined {
  const names = facts.filter(({ state }) => state === 'untold').map(({ name }) => name);
  if (names.length === 0) return undefined;
  return warning('content', 'content-untold', {
    seen: `the watcher has told nothing of the content of: ${someNames(names)}`,
    next: 'Wait a minute after the policy was written; then look at the watcher’s release and log.',
  });
}

/** What to do about each trouble, and how grave it is. */
const TROUBLES: Readonly<
  Record<
    ContentTrouble,
    { readonly grade: typeof failed; readonly says: string; readonly next: string }
  >
> = {
  forbidden: { grade: failed, says: 'the watcher may not read', next: GRANT },
  missing: {
    grade: warning,
    says: 'templates name what is not there',
    next: 'Create it, mark it optional in the template, or take its name out of the policy (config).',
  },
  unread: {
    grade: warning,
    says: 'could not be read for a while',
    next: 'Look at the watcher’s log, and at the API server; what was known last counts.',
  },
  beyond: {
    grade: warning,
    says: 'more than 32 objects, and the last ones by name count for nothing',
    next: 'Name those that matter in the policy (config: {configMaps: […]}).',
  },
};

function judgeTroubles(facts: readonly ContentFact[]): readonly Finding[] {
  return Object.entries(TROUBLES).flatMap(([trouble, { grade, says, next }]) => {
    const objects = facts.flatMap(({ name, objects: of }) =>
      of.filter((each) => each.trouble === trouble).map(({ text }) => `${text} of ${name}`),
    );
    if (objects.length === 0) return [];
    return [
      grade('content', `content-${trouble}`, { seen: `${says}: ${someNames(objects)}`, next }),
    ];
  });
}
