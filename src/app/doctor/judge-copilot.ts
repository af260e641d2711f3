/**
 * Findings about the DaemonSets of a cluster in copilot: a policy without effect, and one that admission does not let act.
 *
 * Pure. Whoever opts in expects staged rollouts; each of these keeps them from happening, and nothing else says so aloud.
 */
import { counted } from '@rollcall/base/counted.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { DoctorFacts } from './facts.ts';
import { notChecked, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';
import { someNames } from './some-names.ts';

const NAME_THEM =
  'kubectl get daemonsets -A -o json | node scripts/launch.mjs scripts/install/copilot-policy.ts | kubectl apply -f -';

/** None but in copilot. */
export function judgeCopilot(
  { mode }: ClusterRegistration,
  { observed, listed, fleets }: Pick<DoctorFacts, 'observed' | 'listed' | 'fleets'>,
): readonly Finding[] {
  if (mode !== 'copilot') return [];
  if (observed.kind === 'unchecked') return [notChecked('copilot', observed.why)];
  const { followed, rollingUpdate } = observed.value;
  const rolling = rollingUpdate.length === 0 ? [] : [judgeRolling(rollingUpdate)];
  // What a fleet brings is named by its own rights (judge-fleets.ts), and may be listed as well.
  const ofFleets = fleets.kind === 'checked' ? fleets.value.placed : [];
  return [...rolling, judgeNames(followed, listed, ofFleets)];
}

function judgeRolling(names: readonly string[]): Finding {
  return warning('copilot', 'copilot-rolling-update', {
    seen: `their policy has no effect, because the built-in controller rolls them (RollingUpdate): ${someNames(names)}`,
    next: 'Set updateStrategy.type to OnDelete between two rollouts (docs/copilot.md), or remove the annotation.',
  });
}

function judgeNames(
  followed: readonly string[],
  listed: DoctorFacts['listed'],
  ofFleets: readonly string[],
): Finding {
  if (listed.kind === 'unchecked') {
    const next = 'Pass --kubeconfig FILE --context NAME to have the admission policy looked at.';
    return notChecked('copilot', listed.why, next);
  }
  const named = [...listed.value, ...ofFleets];
  const unnamed = followed.filter((name) => !named.includes(name));
  if (unnamed.length > 0) {
    return warning('copilot', 'copilot-not-named', {
      seen: `admission lets none of their pods go, so their rollouts wait: ${someNames(unnamed)}`,
      next: NAME_THEM,
    });
  }
  const known = [...followed, ...ofFleets];
  const surplus = listed.value.filter((name) => !known.includes(name));
  if (surplus.length > 0) {
    return warning('copilot', 'copilot-named-too-many', {
      seen: `named, so that their pods could be deleted, though they do not opt in: ${someNames(surplus)}`,
      next: NAME_THEM,
    });
  }
  const seen = `${counted(followed.length, 'DaemonSet opts in, and admission names it', 'DaemonSets opt in, and admission names them')}`;
  return ok('copilot', 'copilot-ok', seen);
}
