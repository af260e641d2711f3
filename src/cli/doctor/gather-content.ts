/**
 * What a cluster's watcher told of the content that policies have in their revisions, as the view has it (ADR 0061).
 *
 * Needs no way into the cluster. Names of objects and what is the matter with them; hashes stay where they are.
 */
import { counted } from '@rollcall/base/counted.ts';
import type { ContentFact } from '../../app/doctor/facts.ts';
import { checked } from '../../app/doctor/finding.ts';
import type { Checked } from '../../app/doctor/finding.ts';
import { createPolicyReader } from '../../adapters/policy/policy-reader.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { lookAtConfig } from '../../core/config/look-at-config.ts';
import type { ConfigInput } from '../../core/config/look-at-config.ts';
import { configNameText } from '../../core/config/references.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { POLICY_ANNOTATION } from '../../core/policy/rollout-policy.ts';
import type { ConfigSelection } from '../../core/policy/rollout-policy.ts';
import type { Stack } from '../reach/stack.ts';

const DAEMON_SETS_MAX = 200;

/** The DaemonSets whose policy asks for it; invalid policies are told elsewhere. */
export async function gatherContent(
  { view, clock }: Pick<Stack, 'view' | 'clock'>,
  { clusterUid }: ClusterRegistration,
): Promise<Checked<readonly ContentFact[]>> {
  const policies = createPolicyReader();
  const { names } = await view.listNames(clusterUid, { limit: DAEMON_SETS_MAX });
  const items = await Promise.all(
    names.map(async ({ uid }) =>
      uid === null ? undefined : view.readDaemonSet({ clusterUid, uid }),
    ),
  );
  return checked(
    items.flatMap((item) => {
      const daemonSet = item?.object ?? undefined;
      const selection = daemonSet && selectionOf(daemonSet, policies);
      if (daemonSet === undefined || selection === undefined) return [];
      return [factOf({ daemonSet, selection, observed: item?.config, nowMs: clock.nowMs() })];
    }),
  );
}

function selectionOf(
  { metadata }: DaemonSetObject,
  policies: ReturnType<typeof createPolicyReader>,
): ConfigSelection | undefined {
  const text = metadata.annotations?.[POLICY_ANNOTATION];
  const reading = text === undefined ? undefined : policies.read(text);
  return reading?.kind === 'policy' ? reading.policy.config : undefined;
}

function factOf(
  input: Pick<ConfigInput, 'selection' | 'daemonSet' | 'observed' | 'nowMs'>,
): ContentFact {
  const { daemonSet, observed } = input;
  const { problems, leftOutCount, state } = lookAtConfig({
    ...input,
    templateHash: '',
    rollout: undefined,
    isStaged: true,
  });
  const troubles: ContentFact['objects'] = problems.map((each) => ({
    text: configNameText(each),
    trouble: each.problem,
  }));
  const text = counted(leftOutCount, 'object');
  const beyond = leftOutCount === 0 ? [] : [{ text, trouble: 'beyond' as const }];
  const known = state === 'no-key' ? 'no-key' : 'told';
  const { namespace = '', name } = daemonSet.metadata;
  return {
    name: `${namespace}/${name}`,
    state: observed === undefined ? 'untold' : known,
    objects: [...troubles, ...beyond],
  };
}
