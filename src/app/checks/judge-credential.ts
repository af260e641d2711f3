/**
 * Findings about who may do what in the cluster: credential, rights verb by verb, admission policy.
 *
 * Pure. No credential is a fact, so none can be part of a finding (S11).
 */
import { counted } from '@rollcall/base/counted.ts';
import { namesakeWarning } from '../clusters/eks-namesakes.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { formatPermission } from '../../core/daemon-set/permission.ts';
import type { AccessEntryFact, Checked, Facts, RightsFact } from './needs.ts';
import { failed, notChecked, ok, warning, type Finding } from './finding.ts';
import { isConnectedTo, isInProcess } from './judge-registration.ts';

const WITH_KUBECONFIG =
  'Pass --kubeconfig FILE --context NAME to have it checked with your own credential.';
/** Tokens live for several runs of the CronJob: one past half of its life has seen some missed. */
const TOKEN_OLD_SHARE = 0.5;
const MINUTE_MS = 60_000;

export function judgeCredential(
  registration: ClusterRegistration,
  facts: Facts<'credential' | 'token' | 'refusals'>,
): Finding {
  const { id, authentication } = registration;
  if (authentication.kind === 'none') {
    return ok('credential', 'credential-none', 'none is registered');
  }
  if (authentication.kind === 'bound-token') {
    const trouble = judgeToken(registration, facts);
    if (trouble !== undefined) return withRefusal(trouble, facts);
  }
  const { credential } = facts;
  if (credential.kind === 'unchecked') {
    return notChecked('credential', `${authentication.kind}: ${credential.why}`, WITH_KUBECONFIG);
  }
  switch (credential.value) {
    case 'accepted':
      return ok('credential', 'credential-ok', `${authentication.kind}: the API server accepts it`);
    case 'unauthorized':
      return failed('credential', 'credential-refused', {
        seen: `${authentication.kind}: the API server does not accept it (401)`,
        next: `EKS: an access entry is missing, or older than its role (the stack was removed and deployed again: EKS holds the old role’s id, and the entry only looks right). Repeat rollcall cluster add ${id} --auth eks, which makes those anew. Bound token: start the CronJob rollcall-renewer for a new one.`,
      });
    case 'forbidden':
      return failed('credential', 'credential-without-rights', {
        seen: `${authentication.kind}: accepted, but it may not even read the namespace kube-system (403)`,
        next: 'Apply the functions’ rights: kubectl apply -f infra/functions/rbac.yaml',
      });
  }
}

/** Why no newer token is there, if one came and was refused. */
function withRefusal(trouble: Finding, { refusals, token }: Facts<'refusals' | 'token'>): Finding {
  const known = token.kind === 'checked' && token.value.kind === 'found' ? token.value : undefined;
  const refused = (refusals.kind === 'checked' ? refusals.value : []).findLast(
    ({ queue, atMs }) => queue === 'credentials' && atMs > (known?.issuedAtMs ?? 0),
  );
  if (refused === undefined) return trouble;
  const who = refused.senderRoleId === undefined ? '' : ` by ${refused.senderRoleId}`;
  const seen = `${trouble.seen}; one that was sent${who} was refused: ${refused.code}`;
  return { ...trouble, seen, next: 'docs/reference/codes.md says what each refused token means.' };
}

/** The bound token that is kept; undefined where it is of this cluster, and fresh. */
function judgeToken(
  { id, clusterUid }: ClusterRegistration,
  { token, nowMs }: Facts<'token'>,
): Finding | undefined {
  if (token.kind === 'unchecked') return notChecked('credential', token.why);
  const look =
    'kubectl -n rollcall-system get cronjobs,jobs, and the log of credential: `credential refused`';
  const fact = token.value;
  if (fact.kind === 'missing') {
    return failed('credential', 'credential-missing', {
      seen: 'bound-token: the cluster has not sent a token yet',
      next: `Is its CronJob installed, and does it run? Look at: ${look}`,
    });
  }
  const ageMinutes = Math.round((nowMs - fact.issuedAtMs) / MINUTE_MS);
  if (fact.clusterUid !== clusterUid) {
    return failed('credential', 'credential-other-cluster', {
      seen: `bound-token: the token that is kept is of the cluster ${fact.clusterUid}`,
      next: `It is replaced by the next run of the CronJob; if the cluster was rebuilt: rollcall cluster reset ${id}`,
    });
  }
  if (fact.expiresAtMs <= nowMs) {
    return failed('credential', 'credential-expired', {
      seen: `bound-token: the last token is ${counted(ageMinutes, 'minute')} old and has expired`,
      next: `Does the CronJob still run? Look at: ${look}`,
    });
  }
  const lifeMs = fact.expiresAtMs - fact.issuedAtMs;
  if (nowMs - fact.issuedAtMs > lifeMs * TOKEN_OLD_SHARE) {
    return warning('credential', 'credential-ends-soon', {
      seen: `bound-token: ${counted(ageMinutes, 'minute')} old, past half of its life`,
      next: `The CronJob should have sent a new one by now. Look at: ${look}`,
    });
  }
  return undefined;
}

export function judgeFunctionsRights(
  registration: ClusterRegistration,
  { functionsRights }: Facts<'functionsRights'>,
): Finding {
  if (!isConnectedTo(registration)) {
    return ok('functions-rights', 'functions-rights-ok', 'none are needed');
  }
  const manifest =
    registration.mode === 'copilot' ? 'infra/copilot/rbac.yaml' : 'infra/functions/rbac.yaml';
  const found = judgeRights('functions-rights', functionsRights, manifest);
  if (isOfStartUp(functionsRights)) return { ...found, next: startUpRemedy(registration) };
  if (registration.mode !== 'observe' || found.level !== 'failed') return found;
  const { seen } = found;
  return { ...found, level: 'warning', seen: `${seen}; in observe they only ask for snapshots` };
}

function startUpRemedy({ startUp }: ClusterRegistration): string {
  const [what, name] =
    startUp?.condition === undefined ? ['taint', 'start-up'] : ['condition', 'start-up-condition'];
  return `Write the ${what} into infra/${name}/admission.yaml, then: kubectl apply -k infra/overlays/functions/${name} (EKS: ${name}-eks; Helm: startUp.${what})`;
}

/** The opt-in right to nodes is all that is missing. */
function isOfStartUp(rights: Checked<RightsFact>): boolean {
  if (rights.kind === 'unchecked' || rights.value.missing.length === 0) return false;
  return rights.value.missing.every(
    ({ resource, verb }) => ['nodes', 'nodes/status'].includes(resource) && verb === 'patch',
  );
}

/** Rights of the functions that only ask; undefined where they come as the others do (ADR 0023). */
export function judgeRequestsRights(
  { authentication }: ClusterRegistration,
  { requestsRights }: Facts<'requestsRights'>,
): Finding | undefined {
  if (authentication.kind !== 'eks' && authentication.kind !== 'bound-token') return undefined;
  const manifest =
    'infra/functions/requests/rbac.yaml (EKS: -k infra/overlays/functions/takeover-eks)';
  return judgeRights('requests-rights', requestsRights, manifest);
}

export function judgeWatcherRights({ watcherRights }: Facts<'watcherRights'>): Finding {
  return judgeRights('watcher-rights', watcherRights, 'infra/watcher/rbac.yaml');
}

const RIGHTS_SHOWN = 6;

function judgeRights(
  link: 'functions-rights' | 'requests-rights' | 'watcher-rights',
  rights: Checked<RightsFact>,
  manifest: string,
): Finding {
  if (rights.kind === 'unchecked') return notChecked(link, rights.why, WITH_KUBECONFIG);
  const { required, missing, missingIn } = rights.value;
  if (missing.length === 0) {
    if (missingIn.length === 0) {
      return ok(link, `${link}-ok`, `all ${required} rights are there`);
    }
    return warning(link, `${link}-by-namespace`, {
      seen: `granted by namespace; DaemonSets without it are in: ${missingIn.join(', ')}`,
      next: 'If they shall be managed: bind rollcall-functions-namespace there (infra/functions/namespaces/rbac.yaml).',
    });
  }
  const shown = missing.slice(0, RIGHTS_SHOWN).map(formatPermission);
  const more = missing.length > RIGHTS_SHOWN ? ` and ${missing.length - RIGHTS_SHOWN} more` : '';
  return failed(link, `${link}-missing`, {
    seen: `${missing.length} of ${required} rights are missing: ${shown.join('; ')}${more}`,
    next: `kubectl apply -f ${manifest}`,
  });
}

/** The admission policy that bounds what a stolen credential can do. */
export function judgeAdmission(
  registration: ClusterRegistration,
  { admission, deployment }: Facts<'admission' | 'deployment'>,
): Finding | undefined {
  const { mode } = registration;
  if (mode === 'observe') return undefined;
  if (isInProcess(deployment)) {
    const seen =
      'not needed: the credential stays on this machine, where npm start runs the functions';
    return ok('admission', 'admission-ok', seen);
  }
  if (admission.kind === 'unchecked') {
    return notChecked('admission', admission.why, WITH_KUBECONFIG);
  }
  const { missing } = admission.value;
  if (missing.length === 0) {
    return ok('admission', 'admission-ok', 'the admission policies stand and are bound');
  }
  if (missing.every((name) => name.includes(' rollcall-start-up'))) {
    return warning('admission', 'admission-missing', {
      seen: `missing: ${missing.join(', ')}: a start-up taint stays, or a thief of the functions’ credential could change any node`,
      next: startUpRemedy(registration),
    });
  }
  const [harm, next] =
    mode === 'copilot'
      ? ['delete any pod', 'kubectl apply -k infra/overlays/functions/copilot (EKS: copilot-eks)']
      : ['create any pod', 'kubectl apply -f infra/admission/policy.yaml'];
  return warning('admission', 'admission-missing', {
    seen: `missing: ${missing.join(', ')}: a thief of the functions’ credential could ${harm}`,
    next: `${next}; Kubernetes 1.30 and later`,
  });
}

/**
 * The access entries of EKS, one for each role of the functions that connects: a cluster that an older
 * release registered may lack one. Undefined but for EKS.
 */
export function judgeAccessEntries(
  registration: ClusterRegistration,
  { accessEntries, namesakes }: Facts<'accessEntries' | 'namesakes'>,
): Finding | undefined {
  const { id, authentication } = registration;
  if (authentication.kind !== 'eks') return undefined;
  if (accessEntries.kind === 'unchecked') {
    const next = 'Pass --cluster-profile NAME of the account in which the cluster is.';
    return notChecked('access-entries', accessEntries.why, next);
  }
  const entries = accessEntries.value;
  const next = `rollcall cluster add ${id} --auth eks`;
  const missing = rolesOf(entries, ['missing']);
  if (missing.length > 0) {
    return failed('access-entries', 'access-entries-missing', {
      seen: `EKS knows these roles of the functions not, and refuses them: ${missing.join(', ')}`,
      next: `${next} makes them`,
    });
  }
  const others = rolesOf(entries, ['differs', 'outlived']);
  if (others.length > 0) {
    return failed('access-entries', 'access-entries-differ', {
      seen: `of another name or group, or older than the role, so that they let no function in: ${others.join(', ')}`,
      next: `${next} puts them right`,
    });
  }
  const shared =
    namesakes.kind === 'checked' ? namesakeWarning(registration, namesakes.value) : undefined;
  if (shared !== undefined) {
    const way =
      'Give each cluster a name of its own in EKS, or a deployment of Rollcall of its own';
    return warning('access-entries', 'access-entries-name-shared', { seen: shared, next: way });
  }
  return ok('access-entries', 'access-entries-ok', `all ${String(entries.length)} are there`);
}

function rolesOf(
  entries: readonly AccessEntryFact[],
  standings: readonly AccessEntryFact['standing'][],
): readonly string[] {
  return entries
    .filter(({ standing }) => standings.includes(standing))
    .map(({ principalArn }) => principalArn);
}
