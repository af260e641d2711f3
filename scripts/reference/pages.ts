/** The generated pages of docs/reference, by file. */
import { bullets, page, wrapped } from './markdown.ts';
import { renderCliPage } from './cli-page.ts';
import { renderCodesPage } from './codes-page.ts';
import { renderFindingsPage } from './findings-page.ts';
import { Documents, renderJsonPage } from './json-page.ts';
import { renderMetricsPage } from './metrics-page.ts';
import { renderOpenApi } from './open-api.ts';
import { renderPolicyPage } from './policy-page.ts';
import { renderSettingsPage } from './settings-page.ts';

/** Where they are, below the repository. */
export const REFERENCE_FOLDER = 'docs/reference';

/** Their texts; the one of JSON documents needs the types of the whole command line, which takes seconds. */
export async function renderPages(): Promise<Readonly<Record<string, string>>> {
  const documents = new Documents();
  return {
    'README.md': renderIndex(),
    'cli.md': renderCliPage(),
    'codes.md': renderCodesPage(),
    'findings.md': renderFindingsPage(),
    'json.md': renderJsonPage(documents),
    'openapi.json': renderOpenApi(documents),
    'metrics.md': renderMetricsPage(),
    'policy.md': renderPolicyPage(),
    'settings.md': renderSettingsPage(),
  };
}

function renderIndex(): string {
  return page('Reference', [
    wrapped('These pages are made from the code, so that they say what it does.'),
    bullets([
      '[cli.md](cli.md): every command, its options and exit codes',
      '[codes.md](codes.md): reasons, states, Events and refusals, with the remedy',
      '[findings.md](findings.md): what `cluster doctor` and `stack check` find',
      '[policy.md](policy.md): fields of a rollout policy and of a FleetDaemonSet',
      '[metrics.md](metrics.md): metrics, alarms, readings of the watcher, log lines',
      '[settings.md](settings.md): variables, parameters of a deployment, names in a cluster',
      '[json.md](json.md): the JSON documents of the command line',
      '[openapi.json](openapi.json): the [API](../page.md) of `rollcall ui`',
      '[promise.md](../promise.md): each promise, and the tests that hold it',
    ]),
  ]);
}
