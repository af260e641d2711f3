/**
 * Findings about what is registered: the item itself, freeze, mode, and the deployment that reads it.
 *
 * Pure. An unreadable item counts as frozen, and so it is said.
 */
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { defined } from '@rollcall/base/defined.ts';
import { findOutages } from '../../core/status/outages.ts';
import { describeFreeze } from '../../core/may-act/freeze.ts';
import type { Facts } from './needs.ts';
import { failed, notChecked, ok, warning, type Finding } from './finding.ts';

const NAMES_SHOWN = 5;

/** True if functions talk to this cluster's API server at all. */
export function isConnectedTo({ mode, authentication }: ClusterRegistration): boolean {
  return mode !== 'observe' || authentication.kind !== 'none';
}

export function judgeRegistration({ registration }: Facts<'registration'>): Finding {
  if (registration.kind === 'unchecked') return notChecked('registration', registration.why);
  const fact = registration.value;
  switch (fact.kind) {
    case 'found': {
      const { clusterUid, configVersion } = fact.registration;
      const seen = `registered as ${clusterUid}, version ${configVersion}`;
      return ok('registration', 'registration-ok', seen);
    }
    case 'missing':
      return failed('registration', 'registration-missing', {
        seen: 'no such cluster is registered in this stack',
        next: 'Check --stage and the id with: rollcall cluster list; register it with: rollcall cluster add',
      });
    case 'unreadable':
      return failed('registration', 'registration-unreadable', {
        seen: `${fact.message}; it counts as frozen`,
        next: 'Restore the item from the table’s backup, or remove it and add it again: rollcall cluster remove, rollcall cluster add',
      });
  }
}

export function judgeFreeze({
  id,
  isFrozen,
  frozen,
}: Pick<ClusterRegistration, 'id' | 'isFrozen' | 'frozen'>): Finding {
  if (!isFrozen) return ok('freeze', 'not-frozen', 'not frozen');
  const standing = describeFreeze({ scope: 'cluster', ...defined({ note: frozen }) });
  return warning('freeze', 'frozen', {
    seen: `${lowered(standing)}: nothing is created, deleted or changed in it`,
    next: `When that is not meant any more: rollcall thaw --cluster ${id}`,
  });
}

/** Freezes of the stack, which hold this cluster, too. */
export function judgeStackFreeze(
  { freeze }: Facts<'freeze'>,
  { namesMax }: { readonly namesMax?: number } = {},
): readonly Finding[] {
  if (freeze.kind === 'unchecked') return [notChecked('freeze', freeze.why)];
  if (freeze.value === 'unreadable') {
    return [
      failed('freeze', 'freeze-unreadable', {
        seen: 'what is frozen for the stack cannot be read; everything counts as frozen',
        next: 'Restore the item FREEZE#00 of the registry table from its backup, or remove it.',
      }),
    ];
  }
  const { all, daemonSets } = freeze.value;
  const names = Object.entries(daemonSets);
  return [
    ...(all === undefined
      ? []
      : [
          warning('freeze', 'stack-frozen', {
            seen: `${lowered(describeFreeze({ scope: 'stack', note: all }))}: nothing is created, deleted or changed in any cluster`,
            next: 'When that is not meant any more: rollcall thaw --yes',
          }),
        ]),
    ...names.slice(0, namesMax).map(([key, note]) =>
      warning('freeze', 'daemon-set-frozen', {
        seen: `${lowered(describeFreeze({ scope: 'daemon-set', note }))} in every cluster: ${key}`,
        next: `When that is not meant any more: rollcall thaw --daemon-set ${key}`,
      }),
    ),
  ];
}

function lowered(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

export function judgeMode(registration: ClusterRegistration): Finding {
  const { id, mode, authentication, takeoverProbedAtMs } = registration;
  if (mode === 'observe') {
    const seen = 'observe: the built-in controller manages the DaemonSets, Rollcall only looks';
    return ok('mode', 'mode-ok', seen);
  }
  if (authentication.kind === 'none') {
    return failed('mode', 'mode-without-credential', {
      seen: `${mode} without authentication: no function can act in the cluster`,
      next: `Give it a credential (rollcall cluster set ${id} --eks-cluster NAME --eks-region REGION, or --renewer-role-id ID), or go back: rollcall cluster set ${id} --mode observe`,
    });
  }
  if (mode === 'copilot') {
    const seen =
      'copilot: the built-in controller works, Rollcall times rollouts of those that opt in';
    return ok('mode', 'mode-ok', seen);
  }
  if (takeoverProbedAtMs === undefined) {
    return failed('mode', 'mode-never-probed', {
      seen: `${mode} without a takeover probe: nothing shows that the built-in loop is off`,
      next: `Enter takeover anew: rollcall cluster set ${id} --mode takeover`,
    });
  }
  return ok('mode', 'mode-ok', `${mode}: Rollcall manages the DaemonSets`);
}

/** Whether functions and watchers run inside `npm start`: nothing of them is installed anywhere. */
export function isInProcess(deployment: Facts['deployment']): boolean {
  return deployment.kind === 'checked' && deployment.value.place === 'in-process';
}

export function judgeDeployment({ deployment }: Facts<'deployment'>): Finding {
  if (deployment.kind === 'unchecked') return notChecked('deployment', deployment.why);
  const { release, ownRelease } = deployment.value;
  if (release === ownRelease) {
    const seen = `the functions are of release ${release}, as this program is`;
    return ok('deployment', 'deployment-ok', seen);
  }
  return warning('deployment', 'deployment-other-release', {
    seen: `the functions are of release ${release}, this program is of ${ownRelease}`,
    next: 'Use the program of the release that is deployed, or deploy this one; neighbours read what the other writes.',
  });
}

/** Whether functions are called, and come when they should. */
export function judgeFunctions({
  standing,
  missed,
  nowMs,
}: Facts<'standing' | 'missed'>): readonly Finding[] {
  if (standing.kind === 'unchecked') return [notChecked('functions', standing.why)];
  const runs = missed.kind === 'unchecked' ? [] : missed.value;
  const found = findOutages({
    ...{ ...standing.value, nowMs },
    ...(runs.length === 0
      ? {}
      : { missedSinceMs: Math.min(...runs.map(({ sinceMs }) => sinceMs)) }),
  });
  if (found.length === 0) {
    if (missed.kind === 'unchecked') return [notChecked('functions', missed.why)];
    return [ok('functions', 'functions-ok', 'functions are called, and come when they are due')];
  }
  const names = runs.slice(0, NAMES_SHOWN).map(({ name }) => name);
  return found.map(({ code, message, remedy }) =>
    failed('functions', code === 'stopped' ? code : 'functions-behind', {
      seen:
        code === 'functions-behind' && names.length > 0
          ? `${message} (${names.join(', ')})`
          : message,
      next: `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}`,
    }),
  );
}
