/** Names that Rollcall uses in a cluster, as the code has them. */
import { CONFIRM_ANNOTATION } from '../../src/core/removal-guard/removal-rules.ts';

/** What each is. */
export const NAMES: Readonly<Record<string, string>> = {
  'rollcall-system': 'The namespace of everything that Rollcall installs.',
  'rollcall-watcher': 'The Lease of the watcher, its Deployment, and its service account.',
  'rollcall-functions': 'The service account that functions act as.',
  'rollcall-requests': 'The service account that functions ask for snapshots with.',
  'rollcall-renewer': 'The CronJob and the service account that renew the bound token.',
  'rollcall.dev/rollout': 'Annotation of a DaemonSet: its [rollout policy](policy.md).',
  'rollcall.dev/compat':
    'Annotation of a DaemonSet: `strict` keeps bugs of the built-in controller as they are ([parity.md](../parity.md)).',
  [CONFIRM_ANNOTATION]:
    'Annotation of a DaemonSet: confirms the removal of many pods with this token, once.',
  'rollcall.dev/installation': 'Annotation of the Lease: the installation of the watcher.',
  'rollcall.dev/snapshot-requested': 'Annotation of the Lease: asks the watcher for a snapshot.',
  'rollcall-takeover-probe':
    'The DaemonSet of the takeover probe. It stays as the sentinel until the handover.',
  'rollcall.dev/probe': 'Label of that DaemonSet.',
  'rollcall.dev/takeover-probe': 'Label of nodes that the probe selects; no node may have it.',
  RollcallPaused:
    'Condition of a DaemonSet: Rollcall has stopped here, because another controller is at work.',
  'DAEMONSET-rollcall-proven-a, -b':
    'PodTemplates: copies of good templates beside a DaemonSet under a policy.',
  'rollcall.dev/revision':
    'Label of such a copy, and of pods of an earlier revision: which copy it is.',
  'rollcall.dev/revision-hash': 'Annotation of such a copy: its revision.',
};
