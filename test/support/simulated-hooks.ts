/** Where tests step in at the simulated cluster, and the kinds of objects that it stores. */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Effect, Outcome, RefusalCode } from '../../src/core/model/effects.ts';
import type { FleetManifest } from '../../src/core/fleet/fleet-daemon-set.ts';
import type { LiveRead } from '../../src/ports/cluster/cluster-access.ts';
import type { ApplyOptions, ManifestOutcome } from '../../src/ports/cluster/manifest-access.ts';

/** What a test makes of one effect. `stuck`: answered ambiguous now, applied by `releaseStuck`. */
export type Intervention =
  | { readonly kind: 'answer'; readonly outcome: Outcome }
  | { readonly kind: 'lose-answer' }
  | { readonly kind: 'stuck' };

export interface ClusterHooks {
  beforeEffect?: (
    effect: Effect,
    index: number,
  ) => Intervention | undefined | Promise<Intervention | undefined>;
  /** The functions apply a manifest; `lose-answer`: it takes effect, and nobody hears of it. */
  beforeApply?: (
    manifest: FleetManifest,
    options: ApplyOptions,
  ) =>
    | ManifestOutcome
    | 'lose-answer'
    | undefined
    | Promise<ManifestOutcome | 'lose-answer' | undefined>;
  afterEffect?: (effect: Effect, index: number) => void | Promise<void>;
  /** An effect was applied, whether or not its answer arrives. */
  onApplied?: (effect: Effect) => void;
  /** Throwing is a bug of the test; answering `unavailable` is an API server in trouble. */
  onRead?: (
    what: string,
    name: string,
  ) => LiveRead<never> | undefined | Promise<LiveRead<never> | undefined>;
  /** A delete of a pod by the functions is about to take effect. */
  onPodDelete?: (pod: KubernetesObject) => void;
  /** The functions are about to restore a DaemonSet's template. */
  onTemplateRestore?: (daemonSet: KubernetesObject, template: JsonObject) => void;
  /** The functions are about to remove a taint: the node before and after. */
  onTaintRemoval?: (before: KubernetesObject, after: KubernetesObject) => void;
  /** The functions are about to write the start-up condition of a node. */
  onConditionSet?: (node: KubernetesObject) => void;
  /** Refuses what an admission policy would (simulated-admission.ts), when it takes effect. */
  admit?: (effect: Effect) => RefusalCode | undefined;
  /** Refuses a pod, or changes it as a mutating webhook does. */
  admitPod?: (pod: KubernetesObject) => { code: RefusalCode } | KubernetesObject | undefined;
}

/** A kind of object that is stored. */
export type Kind =
  'pods' | 'nodes' | 'daemonsets' | 'controllerrevisions' | 'podtemplates' | 'events' | 'leases';
