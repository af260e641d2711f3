/** docs/reference/settings.md: variables, parameters of a deployment, and names in a cluster, from where the code has them. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseDocument, visit, type Node, type Scalar } from 'yaml';
import { repositoryRoot } from '../lib/run-tool.ts';
import { bullets, page, sentence, term, wrapped } from './markdown.ts';
import { CONFIRM_ANNOTATION } from '../../src/core/removal-guard/removal-rules.ts';

/** Text of the page. */
export function renderSettingsPage(): string {
  return page('Settings and names', [
    '## Watcher',
    wrapped(
      'Each variable has a flag, which wins. A value in angle brackets is a placeholder and is refused, also in the variables of the AWS SDK.',
    ),
    bullets(variablesOf('src/adapters/kubernetes/settings/watch-settings.ts')),
    '## Token renewer',
    wrapped(
      'The same image with the argument `renew-credential`. It leaves with 0 (sent), 1 (not sent) or 2 (settings that cannot be used). It also takes the variables of the watcher for the API server and the log level.',
    ),
    bullets(variablesOf('src/adapters/kubernetes/settings/renew-settings.ts')),
    '## Parameters of a deployment',
    wrapped(
      'Of `npx osls deploy` and `npm run package`: `--param="name=value"`, or a block of `params` in `serverless.yml` with the name of the stage.',
    ),
    bullets(parameters()),
    '## Names in a cluster',
    bullets(Object.entries(NAMES).map(([name, about]) => term(name, about))),
  ]);
}

/** The table in the header of the module. */
function variablesOf(file: string): readonly string[] {
  const text = readFileSync(path.join(repositoryRoot, file), 'utf8');
  const header = text.slice(0, text.indexOf('*/'));
  const rows = header.matchAll(/^ \* {3}(ROLLCALL_\S+) +(--[a-z-]+) +(.*)$/gm);
  return [...rows].map(
    ([, variable = '', flag = '', about = '']) =>
      `\`${variable}\`, \`${flag}\`: ${sentence(about)}`,
  );
}

/** Each with the comment above it in serverless.yml. */
function parameters(): readonly string[] {
  const text = readFileSync(path.join(repositoryRoot, 'serverless.yml'), 'utf8');
  const defaults = parseDocument(text, { logLevel: 'silent' }).getIn(['params', 'default']);
  const found: string[] = [];
  let comment = (defaults as Node).commentBefore ?? '';
  visit(defaults as Node, {
    Pair: (_key, { key, value }) => {
      const { commentBefore, value: name } = key as Scalar<string>;
      comment = commentBefore ?? comment;
      const fallback = (value as Scalar<string | number> | null)?.value;
      const isEmpty = fallback === '' || fallback === undefined;
      const about = comment
        .replaceAll(/\s+/g, ' ')
        .replaceAll(/\s*\((?:infra|src|docs)\/[^)]*\)/g, '')
        .trim();
      found.push(term(name, isEmpty ? about : `${about} Default: \`${String(fallback)}\`.`));
      return visit.SKIP;
    },
  });
  return found;
}

/** What each is. */
const NAMES: Readonly<Record<string, string>> = {
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
