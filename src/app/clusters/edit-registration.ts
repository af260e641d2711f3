/**
 * Changes to a registration that are one write: labels, endpoint, who may speak for it, credential.
 *
 * Pure. Mode is not among them, because entering takeover needs a probe and leaving it a hand-back; nor is
 * the cluster UID, which only a reset changes. What a difference shows is fit for a screen: of a
 * credential its kind and who renews it, never itself (S11).
 */
import { counted } from '@rollcall/base/counted.ts';
import { defined } from '@rollcall/base/defined.ts';
import type {
  ClusterAuthentication,
  ClusterRegistration,
  FreezeNote,
  StartUp,
} from '../../core/model/registration.ts';
import { hash48 } from '@rollcall/base/hash48.ts';
import { START_UP_WAIT_MS, startUpTaintText } from '../../core/start-up/start-up-taint.ts';
import type { ClusterUid } from '../../core/model/identifiers.ts';

/** What to change; what is absent stays. */
export interface RegistrationEdit {
  readonly labels?: {
    readonly set: Readonly<Record<string, string>>;
    readonly removed: readonly string[];
  };
  readonly server?: string;
  /** Null: the system's certificate authorities. */
  readonly caPem?: string | null;
  /** Replaces all of them; none: public addresses only. */
  readonly privateRanges?: readonly string[];
  readonly senderRoleId?: string;
  readonly authentication?: ClusterAuthentication;
  /** What of it is given; null: nodes are left as they are. A taint that is given anew goes by removal, unless a condition is, too. */
  readonly startUp?: Partial<StartUp> | null;
}

/** The registration with the edit made; its configVersion is what it was. */
export function editRegistration(
  registration: ClusterRegistration,
  edit: RegistrationEdit,
): ClusterRegistration {
  const { caPem: oldCa, egress: oldEgress, startUp: oldStartUp, ...rest } = registration;
  const startUp = editStartUp(oldStartUp, edit.startUp);
  const caPem = edit.caPem === undefined ? oldCa : (edit.caPem ?? undefined);
  const privateRanges = edit.privateRanges ?? oldEgress?.privateRanges ?? [];
  return {
    ...rest,
    ...defined({ caPem, startUp }),
    ...(privateRanges.length === 0 ? {} : { egress: { privateRanges } }),
    server: edit.server ?? rest.server,
    senderRoleId: edit.senderRoleId ?? rest.senderRoleId,
    authentication: edit.authentication ?? rest.authentication,
    labels: editLabels(rest.labels, edit.labels),
  };
}

/** What is not given stays; without a taint there is no setting. */
function editStartUp(
  before: StartUp | undefined,
  edit: RegistrationEdit['startUp'],
): StartUp | undefined {
  if (edit === null) return undefined;
  const fresh = { counts: 'labelled', waitBoundMs: START_UP_WAIT_MS } as const;
  const { condition: former, ...kept } = before ?? {};
  const condition = edit?.condition ?? (edit?.taint === undefined ? former : undefined);
  const { taint, ...rest } = { ...fresh, ...kept, ...edit, ...defined({ condition }) };
  return taint === undefined ? undefined : { taint, ...rest };
}

/** Frozen, by whom and why where that is told, or not any more; the very same where it stands so already. */
export function freezeRegistration(
  registration: ClusterRegistration,
  freeze: FreezeNote | boolean,
): ClusterRegistration {
  const isFrozen = freeze !== false;
  if (registration.isFrozen === isFrozen) return registration;
  const { frozen: _former, ...rest } = registration;
  return { ...rest, isFrozen, ...(typeof freeze === 'boolean' ? {} : { frozen: freeze }) };
}

function editLabels(
  labels: ClusterRegistration['labels'],
  edit: RegistrationEdit['labels'],
): ClusterRegistration['labels'] {
  if (edit === undefined) return labels;
  const removed = new Set(edit.removed);
  const kept = Object.entries(labels).filter(([key]) => !removed.has(key));
  return { ...Object.fromEntries(kept), ...edit.set };
}

/** One field that differs, as texts. */
export interface FieldChange {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

/** What differs between two registrations of one cluster; nothing secret. */
export function compareRegistrations(
  before: ClusterRegistration,
  after: ClusterRegistration,
): readonly FieldChange[] {
  const left = fieldsOf(before);
  const right = fieldsOf(after);
  const names = [...new Set([...left.keys(), ...right.keys()])];
  const changes = names.map((field) => ({
    field,
    before: left.get(field) ?? '',
    after: right.get(field) ?? '',
  }));
  return [
    ...changes.filter((change) => change.before !== change.after),
    // Other material under the same name: it differs, and neither is shown.
    ...(before.caPem !== after.caPem && left.get('ca') === right.get('ca')
      ? [{ field: 'ca', before: 'own', after: 'another own' }]
      : []),
    ...(isSecretReplaced(before, after)
      ? [{ field: 'credential', before: '(not shown)', after: '(another one)' }]
      : []),
  ];
}

function isSecretReplaced(before: ClusterRegistration, after: ClusterRegistration): boolean {
  const left = describeAuthentication(before.authentication);
  const isSameKind = left === describeAuthentication(after.authentication);
  return (
    isSameKind && JSON.stringify(before.authentication) !== JSON.stringify(after.authentication)
  );
}

/** A credential in words: what it is, not what it holds. */
export function describeAuthentication(authentication: ClusterAuthentication): string {
  switch (authentication.kind) {
    case 'eks':
      return `eks ${authentication.region}/${authentication.clusterName}`;
    case 'bound-token':
      return `bound-token of ${authentication.renewerRoleId}`;
    case 'none':
    case 'bearer':
    case 'client-certificate':
      return authentication.kind;
  }
}

/** The start-up taint in words, and whom nodes wait for. */
export function startUpText({ taint, condition, counts, waitBoundMs }: StartUp): string {
  const whom = counts === 'all' ? 'all DaemonSets there' : 'labelled DaemonSets';
  const minutes = counted(Math.round(waitBoundMs / 60_000), 'minute');
  const until = condition === undefined ? 'until' : `condition ${condition} once`;
  return `${startUpTaintText(taint)}, ${until} ${whom} serve; reported after ${minutes}`;
}

function fieldsOf(registration: ClusterRegistration): ReadonlyMap<string, string> {
  const { labels, egress, caPem, sentinel, rival, takeoverProbedAtMs, startUp } = registration;
  return new Map([
    ['clusterUid', registration.clusterUid],
    ['mode', registration.mode],
    ['frozen', frozenText(registration)],
    ['server', registration.server],
    // Two authorities of one length are still two: a hash tells them apart.
    ['ca', caPem === undefined ? 'system' : `own (${hash48(caPem).toString(16)})`],
    ['privateRanges', (egress?.privateRanges ?? []).join(', ')],
    ['senderRoleId', registration.senderRoleId],
    ['authentication', describeAuthentication(registration.authentication)],
    ['startUp', startUp === undefined ? '' : startUpText(startUp)],
    ['takeoverProbedAt', timeText(takeoverProbedAtMs)],
    ['sentinel', sentinel?.uid ?? ''],
    ['conflict', timeText(rival?.seenAtMs)],
    ...Object.entries(labels).map(([key, value]) => [`label ${key}`, value] as const),
  ]);
}

/** Whether it is frozen, by whom and why. */
export function frozenText({
  isFrozen,
  frozen,
}: Pick<ClusterRegistration, 'isFrozen' | 'frozen'>): string {
  if (!isFrozen || frozen === undefined) return isFrozen ? 'yes' : 'no';
  return `yes, by ${frozen.by}${frozen.why === '' ? '' : ` (${frozen.why})`}`;
}

function timeText(atMs: number | undefined): string {
  return atMs === undefined ? '' : new Date(atMs).toISOString();
}

/**
 * The registration of a cluster that was rebuilt under its old name (row 90); its configVersion is what it was.
 * What was true of the old one is forgotten: identity, probe, sentinel, rival. What an operator decided stays.
 */
export function resetRegistration(
  registration: ClusterRegistration,
  found: { readonly clusterUid: ClusterUid; readonly caPem?: string },
): ClusterRegistration {
  const {
    rival: _rival,
    sentinel: _sentinel,
    takeoverProbedAtMs: _probed,
    caPem: oldCa,
    ...kept
  } = registration;
  const caPem = found.caPem ?? oldCa;
  return { ...kept, ...defined({ caPem }), clusterUid: found.clusterUid, mode: 'observe' };
}
