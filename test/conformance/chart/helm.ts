/** Helm, built from its published module as the control plane is, and what the chart (infra/) makes of values. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { runTool } from '../../../scripts/lib/run-tool.ts';
import type { ToolResult } from '../../../scripts/lib/run-tool.ts';
import type { KubernetesObject } from '../control-plane/api.ts';
import { ensurePrograms } from '../control-plane/go-programs.ts';
import { repositoryPath } from '../scenarios/repository.ts';

const VERSION = 'v3.16.3';
/** What `helm template` takes a cluster for; Helm's own releases are built with such a number too. */
const KUBERNETES_MINOR = '31';

/** Values of the chart, as a file of values has them. */
export type ChartValues = Readonly<Record<string, unknown>>;

/** A Helm with folders of its own. */
export interface Helm {
  /** Runs a command; `values` stand in a file that it is given. */
  readonly run: (command: readonly string[], values?: ChartValues) => Promise<ToolResult>;
  /** As `run`; throws with what it said unless it ends well. Resolves to stdout. */
  readonly succeed: (command: readonly string[], values?: ChartValues) => Promise<string>;
  readonly remove: () => void;
}

/** The folder of the chart. */
export const CHART = repositoryPath('infra');

/** The least that the chart takes. */
export const LEAST_VALUES = {
  cluster: 'prod-1',
  region: 'eu-central-1',
  image: 'registry.example.com/rollcall-watcher:0.1.0',
  watcher: {
    eventsQueueUrl: 'https://sqs.eu-central-1.amazonaws.com/111122223333/rollcall-prod-events.fifo',
    roleArn: 'arn:aws:iam::444455556666:role/rollcall/prod/prod-1-watcher',
  },
};

/** Path of Helm, built first if it is not there: two minutes on two cores from empty caches. */
export async function ensureHelm(): Promise<string> {
  const rules = 'helm.sh/helm/v3/pkg';
  const minors = [`${rules}/lint/rules`, `${rules}/chartutil`].map(
    (name) => `-X ${name}.k8sVersionMajor=1 -X ${name}.k8sVersionMinor=${KUBERNETES_MINOR}`,
  );
  const programs = await ensurePrograms({
    name: 'helm',
    description: `Helm ${VERSION} (about 2 minutes if cold)`,
    recipes: [
      {
        module: 'helm',
        packages: ['helm.sh/helm/v3/cmd/helm'],
        output: 'helm',
        linkerFlags: `-s -w ${minors.join(' ')}`,
      },
    ],
  });
  return path.join(programs, 'helm');
}

/** Binds Helm to a cluster. */
export async function openHelm(kubeconfigPath?: string): Promise<Helm> {
  const program = await ensureHelm();
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-helm-'));
  const environment = {
    PATH: process.env['PATH'],
    HOME: directory,
    ...(kubeconfigPath === undefined ? {} : { KUBECONFIG: kubeconfigPath }),
  };
  const run: Helm['run'] = (command, values) => {
    const file = path.join(directory, 'values.yaml');
    if (values !== undefined) writeFileSync(file, stringify(values));
    const parameters = [...command, ...(values === undefined ? [] : ['--values', file])];
    return runTool({ program, parameters, directory, environment });
  };
  return {
    run,
    succeed: async (command, values) => {
      const { exitCode, stdout, stderr } = await run(command, values);
      if (exitCode !== 0) throw new Error(`helm ${command.join(' ')}: ${stdout}${stderr}`);
      return stdout;
    },
    remove: () => {
      rmSync(directory, { recursive: true });
    },
  };
}

/** The objects of a text with several documents. */
export function objectsOf(text: string): readonly KubernetesObject[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
}
