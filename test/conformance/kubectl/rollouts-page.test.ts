/**
 * docs/rollouts.md: the commands of "Ten minutes on a laptop" as they stand there, with a real kubectl on what `npm start` starts;
 * and its kustomization, which gives another content another name (ADR 0058).
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { runPageTour, type ExpectedCommand } from '../../support/page-tour.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { ensureBinaries } from '../control-plane/build.ts';

const EXPECTED: readonly ExpectedCommand[] = [
  { command: /annotate daemonset/, code: 0, prints: /annotated/ },
  { command: /log-collector:2'/, code: 0, prints: /image updated/ },
  { command: /status .* --watch/, code: 0, prints: /Done/ },
  { command: /log-collector:3-simulate-oom-8s'/, code: 0, prints: /image updated/ },
  { command: /status .* --watch/, code: 5, prints: /Halted[^]*OOMKilled/ },
  { command: /get events/, code: 0, prints: /RolloutHalted[^]*OOMKilled/ },
  { command: /undo .* --watch/, code: 0, prints: /Returned/ },
  { command: /log-collector:4'/, code: 0, prints: /image updated/ },
  { command: /status .* --watch/, code: 0, prints: /Done/ },
];

const PAGE = new URL('../../../docs/rollouts.md', import.meta.url);
const DAEMON_SET = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: agent, image: agent:1, envFrom: [{secretRef: {name: agent-token}}]}]
      volumes: [{name: config, configMap: {name: agent-config}}]
`;

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly template: unknown };
}

function render(directory: string, kubectl: string, content: string): readonly Rendered[] {
  const [, kustomization = ''] =
    /```yaml\n(# kustomization\.yaml\n[^]*?)```/.exec(readFileSync(PAGE, 'utf8')) ?? [];
  const files = {
    'kustomization.yaml': kustomization,
    'daemon-set.yaml': DAEMON_SET,
    'agent.yaml': content,
    token: 'one',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(directory, name), text);
  const text = execFileSync(kubectl, ['kustomize', directory], { encoding: 'utf8' });
  return parseAllDocuments(text).map((document) => document.toJS() as Rendered);
}

describe('the kustomization of docs/rollouts.md', { skip: skipWithoutTools([TOOLS.go]) }, () => {
  it('gives another content another name, which the template names: another revision', async () => {
    const { kubectl } = await ensureBinaries();
    const directory = await mkdtemp(path.join(tmpdir(), 'rollcall-page-'));
    try {
      const [before, after] = ['level: one', 'level: two'].map((content) => {
        const rendered = render(directory, kubectl, content);
        const nameOf = (kind: string): string =>
          rendered.find((each) => each.kind === kind)?.metadata.name ?? '';
        const template = JSON.stringify(rendered.find(({ spec }) => spec)?.spec?.template);
        assert.ok(template.includes(`"${nameOf('ConfigMap')}"`), template);
        assert.ok(template.includes(`"${nameOf('Secret')}"`), template);
        return { map: nameOf('ConfigMap'), secret: nameOf('Secret') };
      });
      assert.match(before?.map ?? '', /^agent-config-\w+$/);
      assert.notEqual(before?.map, after?.map);
      assert.equal(before?.secret, after?.secret);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe(
  'docs/rollouts.md on a laptop',
  { skip: skipWithoutTools([TOOLS.go]), timeout: 900_000 },
  () => {
    it('does in ten minutes what it says', async () => {
      const { kubectl } = await ensureBinaries();
      const directory = await mkdtemp(path.join(tmpdir(), 'rollcall-page-'));
      try {
        await runPageTour({
          page: 'rollouts.md',
          section: 'Ten minutes on a laptop',
          ready: /log-collector\s+9\s+9\s+9\s+9\s+9/,
          expected: EXPECTED,
          options: ['--data', directory],
          environment: { PATH: `${path.dirname(kubectl)}:${process.env['PATH'] ?? ''}` },
        });
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    });
  },
);
