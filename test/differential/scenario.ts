/**
 * Scenarios of the differential suite as plain JSON: printed, saved, replayed and shrunk as they are.
 *
 * Every step names its subject by role ("n3", "the pod of d1 on n3"), never by the name of a pod, so that
 * the same step can be applied to two clusters. A step whose subject is missing does nothing, on both.
 */
import type { Taint } from '../conformance/control-plane/nodes.ts';

export interface TolerationForm {
  readonly key?: string;
  readonly operator: 'Exists' | 'Equal';
  readonly value?: string;
  readonly effect?: 'NoSchedule' | 'NoExecute';
  readonly tolerationSeconds?: number;
}

/** How pods are replaced; at most one of the two numbers is not zero. */
export type StrategyForm =
  | { readonly type: 'OnDelete' }
  | { readonly type: 'RollingUpdate'; readonly maxUnavailable: number | string }
  | { readonly type: 'RollingUpdate'; readonly maxSurge: number | string };

/** The fields of a DaemonSet that scenarios vary; null removes what was there. */
export interface SetForm {
  /** Becomes part of the image's name: another number is another template. */
  readonly version?: number;
  /** nodeSelector `pool`. */
  readonly pool?: string | null;
  /** Required node affinity on the label `disk`. */
  readonly disk?: { readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' } | null;
  /** Required node affinity on the label `cores`, which holds numbers, mostly. */
  readonly cores?: { readonly operator: 'Gt' | 'Lt'; readonly value: string } | null;
  /** Required node affinity on names of nodes (matchFields). */
  readonly fields?: { readonly operator: 'In' | 'NotIn'; readonly nodes: readonly string[] } | null;
  /** The template names the one node. */
  readonly nodeName?: string | null;
  /** Of a new set: selects the pods of every set of the place, which are not its own. */
  readonly selector?: 'shared';
  readonly tolerations?: readonly TolerationForm[] | null;
  readonly strategy?: StrategyForm;
  readonly minReadySeconds?: number;
  readonly revisionsMax?: number;
  /** Pods of this template never become ready. */
  readonly isUnhealthy?: boolean;
  readonly hostNetwork?: boolean;
}

export type Propagation = 'Background' | 'Foreground' | 'Orphan';

/** What happens to a pod: see apply-step.ts. */
export type PodOperation =
  | 'pod-delete'
  | 'pod-fail'
  | 'pod-fail-held'
  | 'pod-succeed'
  | 'pod-stick'
  | 'pod-hold'
  | 'pod-free'
  | 'pod-unready'
  | 'pod-ready'
  | 'pod-release'
  | 'pod-reclaim'
  | 'pod-orphan'
  | 'pod-evict'
  | 'pod-delete-again';

/** A label that somebody takes off a pod: what ties it to its set, to its revision, or to its age. */
export type StrippedLabel = 'app' | 'controller-revision-hash' | 'pod-template-generation';

export type FlippedField = 'annotation' | 'minReadySeconds' | 'template';

export type MarkedField = 'labels' | 'annotations';

/** What others write who are neither users of the scenario nor a controller: see generate-others.ts. */
export type OthersOperation =
  | { readonly op: 'set-annotate' | 'set-put' | 'set-replace' | 'set-status'; readonly set: string }
  | {
      readonly op: 'set-apply';
      readonly set: string;
      /** Another template, beside what is there; without it, equal values. */
      readonly version?: number;
    }
  | { readonly op: 'set-flip'; readonly set: string; readonly field: FlippedField }
  | {
      readonly op: 'pod-strip';
      readonly set: string;
      readonly node: string;
      readonly label: StrippedLabel;
    }
  | { readonly op: 'set-mark'; readonly set: string; readonly field: MarkedField }
  | {
      readonly op: 'pod-mark';
      readonly set: string;
      readonly node: string;
      readonly field: MarkedField;
    }
  | { readonly op: 'node-mark'; readonly node: string; readonly field: MarkedField }
  /** Server-side apply, a patch and an update of one object at the same moment. */
  | { readonly op: 'set-writers'; readonly set: string; readonly version: number }
  | { readonly op: 'all-annotate' | 'all-rewrite' };

/** One thing that happens, to both clusters. */
export type Operation =
  | {
      readonly op: 'node-join';
      readonly node: string;
      readonly labels?: Readonly<Record<string, string>>;
      readonly taints?: readonly Taint[];
    }
  | {
      readonly op:
        | 'node-leave'
        | 'node-remake'
        | 'node-cordon'
        | 'node-uncordon'
        | 'node-not-ready'
        | 'node-ready';
      readonly node: string;
    }
  | {
      readonly op: 'node-label';
      readonly node: string;
      readonly key: string;
      readonly value: string | null;
    }
  | { readonly op: 'node-taint'; readonly node: string; readonly taint: Taint }
  | { readonly op: 'node-untaint'; readonly node: string; readonly key: string }
  | { readonly op: 'set-create'; readonly set: string; readonly form: SetForm }
  | { readonly op: 'set-edit'; readonly set: string; readonly form: SetForm }
  | { readonly op: 'set-undo'; readonly set: string }
  | { readonly op: 'set-delete'; readonly set: string; readonly propagation: Propagation }
  | {
      readonly op: 'set-remake';
      readonly set: string;
      readonly propagation: Propagation;
      readonly form: SetForm;
    }
  | { readonly op: PodOperation; readonly set: string; readonly node: string }
  | OthersOperation
  | { readonly op: 'admission'; readonly refusedNodes: readonly string[] };

/** An operation; `isHurried` leaves out the quiet point after it: the next one comes at once. */
export type Step = Operation & { readonly isHurried?: boolean };

/** A whole scenario. */
export interface Scenario {
  /** For people: seed and number, or why it was kept. */
  readonly title: string;
  readonly steps: readonly Step[];
}

export function describeStep(step: Step): string {
  const { op, ...rest } = step;
  return `${op} ${JSON.stringify(rest)}`;
}
