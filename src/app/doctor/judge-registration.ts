/**
 * Findings about what is registered: the item itself, freeze, mode, and the deployment that reads it.
 *
 * Pure. An unreadable item counts as frozen, and so it is said.
 */
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { DoctorFacts } from './facts.ts';
import { finding, notChecked } from './finding.ts';
import type { Finding } from './finding.ts';

/** True if functions talk to this cluster's API server at all. */
export function isConnectedTo({ mode, authentication }: ClusterRegistration): boolean {
  return mode !== 'observe' || authentication.kind !== 'none';
}

/** The registration as an item. */
export function judgeRegistration({ registration }: DoctorFacts): Finding {
  switch (registration.kind) {
    case 'found': {
      const { clusterUid, configVersion } = registration.registration;
      const seen = `registered as ${clusterUid}, version ${configVersion}`;
      return finding('registration', { code: 'registration-ok', level: 'ok', seen });
    }
    case 'missing':
      return finding('registration', {
        code: 'registration-missing',
        level: 'failed',
        seen: 'no such cluster is registered in this stack',
        next: 'Check --stage and the id with: rollcall cluster list; register it with: rollcall cluster add',
      });
    case 'unreadable':
      return finding('registration', {
        code: 'registration-unreadable',
        level: 'failed',
        seen: `${registration.message}; it counts as frozen`,
        next: 'Restore the item from the table’s backup, or remove it and add it again: rollcall cluster remove, rollcall cluster add',
      });
  }
}

/** Freeze. */
export function judgeFreeze({ id, isFrozen }: ClusterRegistration): Finding {
  if (!isFrozen) return finding('freeze', { code: 'not-frozen', level: 'ok', seen: 'not frozen' });
  return finding('freeze', {
    code: 'frozen',
    level: 'warning',
    seen: 'the cluster is frozen: nothing is created, deleted or changed in it',
    next: `When that is not meant any more: rollcall cluster set ${id} --unfreeze`,
  });
}

/** Mode, against what it needs. */
export function judgeMode(registration: ClusterRegistration): Finding {
  const { id, mode, authentication, takeoverProbedAtMs } = registration;
  if (mode === 'observe') {
    const seen = 'observe: the built-in controller manages the DaemonSets, Rollcall only looks';
    return finding('mode', { code: 'mode-ok', level: 'ok', seen });
  }
  if (authentication.kind === 'none') {
    return finding('mode', {
      code: 'mode-without-credential',
      level: 'failed',
      seen: `${mode} without authentication: no function can act in the cluster`,
      next: `Give it a credential (rollcall cluster set ${id} --eks-cluster NAME --eks-region REGION, or --renewer-role-id ID), or go back: rollcall cluster set ${id} --mode observe`,
    });
  }
  if (takeoverProbedAtMs === undefined) {
    return finding('mode', {
      code: 'mode-never-probed',
      level: 'failed',
      seen: `${mode} without a takeover probe: nothing shows that the built-in loop is off`,
      next: `Enter takeover anew: rollcall cluster set ${id} --mode takeover`,
    });
  }
  const seen = `${mode}: Rollcall manages the DaemonSets`;
  return finding('mode', { code: 'mode-ok', level: 'ok', seen });
}

/** The functions' release against that of this program. */
export function judgeDeployment({ deployment }: DoctorFacts): Finding {
  if (deployment.kind === 'unchecked') return notChecked('deployment', deployment.why);
  const { release, ownRelease } = deployment.value;
  if (release === ownRelease) {
    const seen = `the functions are of release ${release}, as this program is`;
    return finding('deployment', { code: 'deployment-ok', level: 'ok', seen });
  }
  return finding('deployment', {
    code: 'deployment-other-release',
    level: 'warning',
    seen: `the functions are of release ${release}, this program is of ${ownRelease}`,
    next: 'Use the program of the release that is deployed, or deploy this one; neighbours read what the other writes.',
  });
}
