/**
 * Renders a fleet for one cluster: the manifest with its overrides in order, judged again, and its hash.
 * Pure. An override may change neither name nor selector. The hash is of the pod template alone;
 * the hash of the ControllerRevision is the cluster's own, and differs.
 */
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import { applyJsonPatch } from '@rollcall/base/patch/json-patch.ts';
import type { PatchOutcome } from '@rollcall/base/patch/patch-outcome.ts';
import { applyStrategicMergePatch } from '@rollcall/base/patch/strategic-merge-patch.ts';
import { meaningOf } from '../history/history-meaning.ts';
import { nameHash } from '../pod/naming.ts';
import { POLICY_ANNOTATION } from '../policy/rollout-policy.ts';
import { compileChoice, type ChosenBy } from './choose-clusters.ts';
import { cleanManifest, judgeManifest } from './judge-manifest.ts';
import { DAEMON_SET_STRUCT, DAEMON_SET_TYPES } from './daemon-set-types.ts';
import type {
  FleetDaemonSet,
  FleetManifest,
  FleetOverride,
  FleetProblem,
} from './fleet-daemon-set.ts';
import type { ClusterMode } from '../model/registration.ts';

/** The manifest of a cluster, or why there is none. */
export type Rendering =
  | {
      readonly kind: 'rendered';
      readonly manifest: FleetManifest;
      /** Of the pod template: equal exactly when templates mean the same. */
      readonly hash: string;
      /** Names of the overrides that were applied, in order. */
      readonly overrides: readonly string[];
    }
  | { readonly kind: 'refused'; readonly problems: readonly [FleetProblem, ...FleetProblem[]] };

/** Edits the policy's text, where a cluster is to go only so far. */
type PolicyEdit = (text: string) => string;

/** Renders for one cluster; call it once for many. `edit` changes the rendered policy, of the fleet or of an override. */
export function fleetRenderer(
  fleet: FleetDaemonSet,
  edit: PolicyEdit = (text) => text,
): (cluster: ChosenBy) => Rendering {
  const overrides = fleet.overrides.map((override, index) => ({
    override,
    index,
    isFor: compileChoice(override.choice),
  }));
  // Clusters that the same overrides are meant for are given the same.
  const rendered = new Map<string, Rendering>();
  return (cluster) => {
    const applied = overrides.filter(({ isFor }) => isFor(cluster));
    const key = applied.map(({ index }) => index).join();
    const known = rendered.get(key);
    if (known !== undefined) return known;
    const made = render(fleet, applied, edit);
    rendered.set(key, made);
    return made;
  };
}

interface Applied {
  readonly override: FleetOverride;
  readonly index: number;
}

function render(fleet: FleetDaemonSet, applied: readonly Applied[], edit: PolicyEdit): Rendering {
  let manifest: JsonObject = fleet.manifest;
  for (const { override, index } of applied) {
    const patched = patch(manifest, override, index);
    if ('message' in patched) return { kind: 'refused', problems: [patched] };
    manifest = patched.manifest;
  }
  const judged = judgeManifest(withPolicy(cleanManifest(manifest), fleet, edit), fleet);
  const by = applied.map(({ override }) => override.name);
  if (judged.kind === 'invalid') {
    const [first, ...others] = judged.problems.map((problem) => told(problem, by));
    return { kind: 'refused', problems: [first ?? told(judged.problems[0], by), ...others] };
  }
  if (!hasSameSelector(judged.manifest, fleet.manifest)) {
    const message = 'must not be changed by an override: an API server refuses a new one';
    return { kind: 'refused', problems: [told({ field: 'spec.selector', message }, by)] };
  }
  const hash = templateHash(judged.manifest);
  return { kind: 'rendered', manifest: judged.manifest, hash, overrides: by };
}

/** Makes of an older state's policy that of the newest, which is in force; what its overrides say for their clusters stays. */
export function policyInForce(newest: FleetDaemonSet, older: FleetDaemonSet): PolicyEdit {
  const [before, now] = [policyTextOf(older), policyTextOf(newest)];
  return (text) => (text === before && now !== undefined ? now : text);
}

function policyTextOf({ manifest, strategy }: FleetDaemonSet): string | undefined {
  const { annotations } = manifest.metadata;
  const own = isJsonObject(annotations) ? annotations[POLICY_ANNOTATION] : undefined;
  return typeof own === 'string' ? own : strategy.policyText;
}

/** With the policy of the fleet; an override may have set one for its clusters. */
function withPolicy(
  manifest: JsonObject,
  { strategy }: FleetDaemonSet,
  edit: PolicyEdit,
): JsonObject {
  const { metadata } = manifest;
  if (!isJsonObject(metadata)) return manifest;
  const { annotations } = metadata;
  const own = isJsonObject(annotations) ? annotations : {};
  const text = own[POLICY_ANNOTATION] ?? strategy.policyText;
  if (typeof text !== 'string') return manifest;
  return {
    ...manifest,
    metadata: { ...metadata, annotations: { ...own, [POLICY_ANNOTATION]: edit(text) } },
  };
}

function templateHash({ spec }: Pick<FleetManifest, 'spec'>): string {
  const template: object = spec.template;
  return nameHash(`fleet template\n${meaningOf(isJsonObject(template) ? template : {})}`);
}

function hasSameSelector(left: FleetManifest, right: FleetManifest): boolean {
  const textOf = ({ spec }: FleetManifest): string => {
    const selector: object = spec.selector ?? {};
    return canonicalJson(isJsonObject(selector) ? selector : {});
  };
  return textOf(left) === textOf(right);
}

function told({ field, message }: FleetProblem, by: readonly string[]): FleetProblem {
  if (by.length === 0) return { field, message };
  return { field, message: `${message} (after override ${by.join(', ')})` };
}

function patch(
  manifest: JsonObject,
  { strategicMerge, jsonPatch }: FleetOverride,
  index: number,
): { readonly manifest: JsonObject } | FleetProblem {
  const field = `spec.overrides[${String(index)}]`;
  const types = { schema: DAEMON_SET_TYPES, struct: DAEMON_SET_STRUCT };
  const merged: PatchOutcome =
    strategicMerge === undefined
      ? { kind: 'patched', value: manifest }
      : applyStrategicMergePatch(manifest, strategicMerge, types);
  if (merged.kind !== 'patched') {
    return { field: `${field}.strategicMerge`, message: `cannot be applied: ${merged.message}` };
  }
  const patched = jsonPatch === undefined ? merged : applyJsonPatch(merged.value, jsonPatch);
  if (patched.kind !== 'patched') {
    return { field: `${field}.jsonPatch`, message: `cannot be applied: ${patched.message}` };
  }
  if (isJsonObject(patched.value)) return { manifest: patched.value };
  return { field: `${field}.jsonPatch`, message: 'leaves no DaemonSet' };
}

const UNSTAGED: FleetProblem = {
  field: 'spec.updateStrategy.type',
  message:
    'must be OnDelete in a cluster in copilot, whose built-in controller rolls any other everywhere at once: ' +
    'set it in the manifest, or in an override for these clusters',
};

/** The part of it for a cluster of this mode. */
export function renderForMode(rendering: Rendering, mode: ClusterMode): Rendering {
  if (rendering.kind === 'refused' || !isUnstaged(rendering, mode)) return rendering;
  return { kind: 'refused', problems: [UNSTAGED] };
}

/** True of what the built-in controller of such a cluster would roll by itself. */
export function isUnstaged(
  { manifest }: Extract<Rendering, { readonly kind: 'rendered' }>,
  mode: ClusterMode,
): boolean {
  return mode === 'copilot' && manifest.spec.updateStrategy?.type !== 'OnDelete';
}

/** Ten letters. Where they are equal, each cluster would be rendered alike, but for the policy that the strategy adds. */
export function fleetContentHash({
  manifest,
  overrides,
}: Pick<FleetDaemonSet, 'manifest' | 'overrides'>): string {
  const rendered = overrides.map(({ name: _forMessages, ...rest }) => rest);
  // Of JSON: it was read from a document.
  const content = { manifest, overrides: rendered as unknown as Json }; // selectors and patches are plain JSON
  return nameHash(`fleet content\n${canonicalJson(content)}`);
}
