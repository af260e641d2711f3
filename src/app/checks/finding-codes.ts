/** Every finding of `cluster doctor` and `stack check`, by link and level; the last three links are those of `stack check`. docs/reference/findings.md is made of it. */

/**
 * `failed`: something does not work, or may not go on working. `warning`: it works, and an operator should know.
 * `unknown`: it could not be checked from here.
 */
export type FindingLevel = 'ok' | 'warning' | 'failed' | 'unknown';

/** Of one link: codes where all is in order, and by level what the others mean, and what to do. */
export interface LinkFindings extends Partial<
  Readonly<Record<Exclude<FindingLevel, 'ok'>, Readonly<Record<string, string>>>>
> {
  readonly ok?: readonly string[];
}

/** Codes in the order in which links are shown, under the level that they mostly have. */
export const FINDINGS = {
  registration: {
    ok: ['registration-ok'],
    failed: {
      'registration-missing':
        'No such cluster is registered. Check its id and the stage, or register it.',
      'registration-unreadable':
        'The registration cannot be read, which counts as frozen. Restore the item, or remove the cluster and add it again.',
    },
  },
  freeze: {
    ok: ['not-frozen'],
    failed: {
      'freeze-unreadable':
        'The freeze cannot be read, so everything counts as frozen. Restore or remove the item `FREEZE#00` of the registry table.',
    },
    warning: {
      frozen: 'The cluster is frozen. Thaw it when the reason is over.',
      'stack-frozen':
        'The whole stack is frozen; the finding says who froze it and why. Run `rollcall thaw --yes`.',
      'daemon-set-frozen':
        'A DaemonSet is frozen in every cluster. Run `rollcall thaw --daemon-set NAMESPACE/NAME`.',
    },
  },
  mode: {
    ok: ['mode-ok'],
    failed: {
      'mode-without-credential': 'Takeover and copilot need a credential. Register one.',
      'mode-never-probed': 'Takeover was entered without its probe. Enter it anew.',
    },
  },
  deployment: {
    ok: ['deployment-ok'],
    warning: {
      'deployment-other-release':
        'The stack runs another release than this program. Use the program of that release.',
    },
  },
  functions: {
    ok: ['functions-ok'],
    failed: {
      stopped:
        'The stack is stopped; the finding says who stopped it and why. Run `rollcall stack resume`.',
      'functions-behind':
        'A run was due, and no function came. Run `rollcall stack check`, then look at throttles and errors of `reconcile` and `resync`.',
    },
  },
  address: {
    ok: ['address-ok', 'address-unused'],
    failed: {
      'address-refused':
        'The functions may not connect to this address. [codes.md](codes.md#refused-endpoints) says what each reason means.',
    },
  },
  name: {
    ok: ['name-ok'],
    failed: {
      'name-unresolved':
        'The host name has no address here. Check that the cluster exists, and that the network of the functions resolves the name.',
    },
  },
  connection: {
    ok: ['connection-ok'],
    failed: {
      'connection-failed':
        'No connection. Check the firewall and the list of allowed networks of the API server.',
    },
  },
  tls: {
    ok: ['tls-ok'],
    failed: {
      'tls-untrusted':
        'Another certificate authority signed the certificate than the registered one. It changed, or another server answers.',
      'tls-other-name': 'The certificate is for another name. Register the name that it holds.',
      'tls-expired': 'The certificate has expired. Renew it.',
      'tls-not-yet-valid': 'The certificate is not valid yet. Check the clocks.',
      'tls-unreadable-ca':
        'The registered certificate authority cannot be read. Register it again.',
      'tls-other': 'There is no TLS session. Check what listens there.',
    },
    warning: {
      'tls-ends-soon': 'The certificate of the server ends within 14 days. Renew it.',
    },
  },
  'api-server': {
    ok: ['api-server-ok'],
    failed: {
      'api-server-silent': 'The server accepts connections and does not answer.',
      'api-server-other': 'Another program answers than a Kubernetes API server.',
    },
  },
  identity: {
    ok: ['identity-ok'],
    failed: {
      'cluster-rebuilt':
        'The UID of kube-system changed. Run `rollcall cluster reset`, or correct the address if it leads to another cluster.',
    },
  },
  credential: {
    ok: ['credential-ok', 'credential-none'],
    failed: {
      'credential-refused':
        'The API server answers 401. EKS: repeat `rollcall cluster add`, which renews access entries. Bound token: start the CronJob `rollcall-renewer`.',
      'credential-without-rights': 'The API server answers 403. Apply the rights of the functions.',
      'credential-missing': 'The CronJob `rollcall-renewer` has sent no token yet.',
      'credential-expired': 'The last token has expired. The CronJob does not run any more.',
      'credential-other-cluster': 'The token belongs to another cluster UID.',
    },
    warning: {
      'credential-ends-soon': 'The token is past half of its life. The CronJob missed runs.',
    },
  },
  'access-entries': {
    ok: ['access-entries-ok'],
    failed: {
      'access-entries-missing':
        'EKS lacks an access entry for a role of the functions. Repeat `rollcall cluster add ID --auth eks`.',
      'access-entries-differ':
        'An access entry has another name or group, or is older than its role. Repeat `rollcall cluster add ID --auth eks`.',
    },
    warning: {
      'access-entries-name-shared':
        'Another registered cluster has the same name in EKS, so a token for one opens the other for 15 minutes. Give each a name of its own.',
    },
  },
  'functions-rights': {
    ok: ['functions-rights-ok'],
    failed: {
      'functions-rights-missing':
        'The functions lack rights. Apply `infra/functions/rbac.yaml`, in copilot `infra/copilot/rbac.yaml`. In observe this is a warning.',
    },
    warning: {
      'functions-rights-by-namespace':
        'The functions have no rights in some namespaces with DaemonSets.',
    },
  },
  'requests-rights': {
    ok: ['requests-rights-ok'],
    failed: {
      'requests-rights-missing':
        '`ingest` and `resync` cannot ask for snapshots. Apply `infra/functions/requests/rbac.yaml`.',
    },
    warning: {
      'requests-rights-by-namespace':
        'The functions have no rights in some namespaces with DaemonSets.',
    },
  },
  'watcher-rights': {
    ok: ['watcher-rights-ok'],
    failed: {
      'watcher-rights-missing': 'The watcher lacks rights. Apply `infra/watcher/rbac.yaml`.',
    },
    warning: {
      'watcher-rights-by-namespace':
        'The watcher has no rights in some namespaces with DaemonSets.',
    },
  },
  admission: {
    ok: ['admission-ok'],
    warning: {
      'admission-missing':
        'The admission policies are missing. Apply `infra/admission/policy.yaml`, in copilot the overlay `copilot`. Needs Kubernetes 1.30.',
    },
  },
  lease: {
    ok: ['lease-ok'],
    failed: {
      'lease-missing': 'No watcher ever ran there. Install it.',
      'lease-stale': 'The watcher does not run, or cannot write its Lease.',
    },
  },
  watcher: {
    ok: ['watcher-ready'],
    failed: {
      'watcher-not-ready': 'The watcher is not ready. Read its log and its Events.',
      'watcher-stands-by':
        'Another installation holds the Lease of the watcher. End that one, or take the Lease with `--take-lease`.',
      'watcher-not-installed':
        'There is no watcher. Install it. Where a process renews the Lease, this is a warning.',
    },
  },
  issuer: {
    ok: ['issuer-ok', 'issuer-internal'],
    failed: {
      'issuer-differs':
        'The published documents are of another issuer. Publish them anew with `rollcall cluster issuer`.',
      'issuer-keys-missing':
        'A key of the cluster is not published. Publish the keys before the API server signs with the new one.',
    },
    warning: {
      'issuer-unreadable':
        'AWS cannot read the published documents. Publish them anew, readable by everyone.',
    },
  },
  'events-queue': {
    ok: ['events-queue-ok'],
    failed: {
      'events-queue-missing': 'The queue is missing. Deploy the stack again.',
    },
    warning: {
      'events-queue-backlog': 'A thousand messages wait. Check that `ingest` runs.',
    },
  },
  'dead-letters': {
    ok: ['dead-letters-none'],
    warning: {
      'dead-letters-waiting': 'The function `dead-letter` does not take its messages.',
    },
  },
  sender: {
    ok: ['sender-ok'],
    failed: {
      'sender-differs':
        'The role of the watcher was made anew and has another id. Run `rollcall cluster set ID --role-id AROA…`.',
      'sender-missing': 'The account of the cluster has no such role.',
    },
  },
  refusals: {
    ok: ['refusals-none'],
    failed: {
      'refused-wrong-cluster-uid':
        'Messages name another cluster UID: the cluster was rebuilt, or the watcher runs elsewhere. It is ok once the cluster is heard again.',
      'refused-wrong-sender':
        'Another role sends messages for the cluster. Where the cluster is heard all the same, this is a warning.',
      'refused-wrong-group':
        'Messages come in another message group. Where the cluster is heard all the same, this is a warning.',
      'refused-unknown-cluster':
        'The watcher spells its cluster differently than the registration.',
      'refused-unreadable': 'A watcher of another release sends messages that cannot be read.',
    },
  },
  freshness: {
    ok: ['freshness-ok'],
    failed: {
      'never-heard':
        'No message of the cluster ever came. Check the watcher, its role and its queue.',
      'cluster-silent': 'Nothing was heard for 15 minutes. Look at the watcher.',
      'stream-silent':
        'A watch stream of the watcher has ended: a right is missing, or the API server refuses.',
    },
  },
  view: {
    ok: ['view-complete'],
    failed: {
      'view-stuck': 'The snapshot did not come within ten minutes.',
    },
    warning: {
      'view-incomplete': 'A snapshot is on its way.',
      'view-awaits-snapshot': 'Takeover was entered, and the snapshot after its probe is awaited.',
    },
  },
  breaker: {
    ok: ['breaker-closed'],
    failed: {
      'breaker-open': 'The API server does not answer the functions.',
    },
  },
  conflict: {
    ok: ['conflict-none', 'built-in-loop-on'],
    failed: {
      'conflict-noted': 'Another controller manages DaemonSets, and Rollcall has stopped there.',
      'sentinel-touched': 'Another controller manages DaemonSets, and Rollcall stops there.',
      'sentinel-missing':
        'The sentinel is gone, so Rollcall does nothing there. Enter takeover anew, or leave it if the cluster was handed back.',
    },
    warning: {
      'built-in-loop-off':
        'In observe or copilot the built-in controller is off, so that no controller manages the DaemonSets.',
    },
    unknown: {
      'built-in-loop-unknown': 'There is no DaemonSet to tell by.',
    },
  },
  copilot: {
    ok: ['copilot-ok'],
    warning: {
      'copilot-rolling-update':
        'A DaemonSet with a policy is not OnDelete. Set OnDelete between two rollouts, or remove the annotation.',
      'copilot-not-named':
        'The admission policy does not name a DaemonSet that takes part. Run `scripts/install/copilot-policy.ts`.',
      'copilot-named-too-many':
        'The admission policy names a DaemonSet that takes no part. Run `scripts/install/copilot-policy.ts`.',
    },
  },
  fleets: {
    ok: ['fleets-ok'],
    failed: {
      'fleets-rights-missing':
        'The functions lack rights for a FleetDaemonSet. Run `rollcall fleet rights ID | kubectl apply -f -`.',
    },
    warning: {
      'fleets-unbounded':
        'The functions may roll out any DaemonSet. Remove the role with every verb (`*`) on DaemonSets.',
      'fleets-late':
        'The function `fleet` makes no step. Run `rollcall stack check`, and read its log.',
      'fleets-unreadable': 'Another release applied the FleetDaemonSet. Use its program.',
    },
  },
  clock: {
    ok: ['clock-ok'],
    warning: {
      'clock-skewed': 'The clocks of this machine and of the API server are more than 5 s apart.',
    },
  },
  concurrency: {
    failed: {
      'concurrency-quota':
        'The account may run fewer functions at once than Rollcall may need. Ask for a higher quota.',
      'concurrency-reserved':
        'Other functions reserve too much of the quota. Raise it, or reduce their reservations.',
    },
  },
  'registry-table': {
    failed: {
      'registry-left':
        'There is no stack, but its registry exists, so that a deployment would find the name taken. Import or delete it.',
      'registry-missing': 'The registry of a deployed stack is gone. Restore it under its name.',
      'registry-unprotected': 'The registry could be deleted by mistake. Deploy again.',
    },
  },
  triggers: {
    failed: {
      stopped:
        'Functions are switched off, by `rollcall stack stop` or by hand. Run `rollcall stack resume`.',
      'functions-behind':
        '`resync` makes no turns, though nothing is switched off: Lambda throttles it, or it fails.',
    },
  },
} as const satisfies Readonly<Record<string, LinkFindings>>;

export type Link = keyof typeof FINDINGS;

type Rows = (typeof FINDINGS)[Link];
type KeysOf<Group> = Group extends readonly (infer Code)[] ? Code : keyof Group;

export type CheckedCode = Rows extends infer Row
  ? Row extends unknown
    ? Extract<KeysOf<Row[keyof Row]>, string>
    : never
  : never;
