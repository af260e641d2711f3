/**
 * Which revision a pod is of: the template that it was made from and, where a policy has content in the revision, the
 * content that was known when it was made (ADR 0061).
 *
 * In records it is one word, `<hash>` or `<hash>+<content>`; no hash has a plus. In a cluster it is two labels: the
 * built-in controller's own, and ours, which it neither reads nor writes, so that pods stay its own at a hand-back. A pod
 * without our label, or with one of another scope, counts as made with the content that was known first; one that is
 * younger than the last change, as made with that.
 */
import { labelOf } from '@rollcall/base/label-selector.ts';
import type { PodProjection } from '../model/projections.ts';
import type { ConfigIdentity } from '../model/rollout-record.ts';
import { isUpdated, revisionHashOfPod } from './pod-facts.ts';

/** Label of pods made under a policy with content: `<scope>.<hash>`. The one name that Rollcall adds to a pod. */
export const CONFIG_HASH_LABEL = 'rollcall.dev/config-hash';

/** The word of a template and its content. */
export function revisionOf(
  templateHash: string,
  config: { readonly hash: string } | undefined,
): string {
  return config === undefined ? templateHash : `${templateHash}+${config.hash}`;
}

/** True of a word that has content in it. */
export function isOfContent(revision: string): boolean {
  return revision.includes('+');
}

/** controller-revision-hash of the word. */
export function templateOfRevision(revision: string): string {
  const [template = ''] = revision.split('+', 1);
  return template;
}

/** True if two revisions differ in content alone: Rollcall can give back a template, never a ConfigMap. */
export function isSameTemplate(left: string, right: string): boolean {
  return templateOfRevision(left) === templateOfRevision(right);
}

/** The value of the label for pods that are made now. */
export function configLabelOf({ scope, hash }: Pick<ConfigIdentity, 'scope' | 'hash'>): string {
  return `${scope}.${hash}`;
}

/** What tells which revision a pod is of. */
export type PodOrigin = Pick<PodProjection, 'labels' | 'createdAtMs'>;

/** The content that a pod was made with. */
function configOfPod(pod: PodOrigin, config: ConfigIdentity): string {
  const label = labelOf(pod.labels, CONFIG_HASH_LABEL) ?? '';
  if (label.startsWith(`${config.scope}.`)) return label.slice(config.scope.length + 1);
  const { changed } = config;
  const isYounger = changed !== undefined && pod.createdAtMs > changed.atMs;
  return isYounger ? config.hash : config.baseline;
}

/** The word of the revision that a pod is of; undefined without a hash. */
export function revisionOfPod(
  pod: PodProjection,
  config: ConfigIdentity | undefined,
): string | undefined {
  const hash = revisionHashOfPod(pod);
  if (hash === undefined || config === undefined) return hash;
  return revisionOf(hash, { hash: configOfPod(pod, config) });
}

/** What is current: a template, told by hash or generation (spec 2.9), and its content. */
export interface CurrentRevision {
  readonly hash: string | undefined;
  readonly templateGeneration: string | undefined;
  readonly config?: ConfigIdentity;
}

/** Made from the current template, with the current content. */
export function isOfRevision(pod: PodOrigin, current: CurrentRevision): boolean {
  if (!isUpdated(pod, current)) return false;
  return current.config === undefined || configOfPod(pod, current.config) === current.config.hash;
}
