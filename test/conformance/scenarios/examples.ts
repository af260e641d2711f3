/**
 * The examples of this repository on the stage, and where the rules put their pods.
 *
 * The expected nodes are written by hand from the manifests and spec 2.5, on purpose not computed.
 */
import { NODES, UNTAINTED, type BareStage } from './stage.ts';
import { repositoryPath } from './repository.ts';
import { daemonSetUid } from './expectations.ts';
import { applyFiles } from './manifests.ts';

/** The namespace of the examples. */
const NAMESPACE = 'node-agents';

/** Where each example's pods belong on the stage's twenty nodes. */
export const EXPECTED_NODES: Readonly<Record<string, readonly string[]>> = {
  'log-collector': [...UNTAINTED, ...NODES.controlPlane],
  'node-metrics': UNTAINTED,
  'storage-daemon': NODES.storage,
  'gpu-telemetry': NODES.gpu,
};

/** Applies all examples and returns the UID of each by name. */
export async function applyExamples(stage: BareStage): Promise<Readonly<Record<string, string>>> {
  const files = Object.keys(EXPECTED_NODES).map((name) => repositoryPath(`examples/${name}.yaml`));
  await applyFiles(stage.admin, files);
  const uids: Record<string, string> = {};
  for (const name of Object.keys(EXPECTED_NODES)) {
    uids[name] = await daemonSetUid(stage, { namespace: NAMESPACE, name });
  }
  return uids;
}

/** UID of an example, which must have been applied. */
export function uidOf(uids: Readonly<Record<string, string>>, name: string): string {
  const uid = uids[name];
  if (uid === undefined) throw new Error(`no example named ${name}`);
  return uid;
}
