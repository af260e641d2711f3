/**
 * The DaemonSet as stored, fit to be decided on, or why it is not.
 *
 * It travels as raw JSON, so its shape is checked once per run. One that travelled opaque, or does not have the shape, is
 * read live: that read decides (protocol 22). Decides nothing about its pods.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { whyLeftAlone } from '../../../core/daemon-set/strategy.ts';
import type { ClusterAccess } from '../../../ports/cluster/cluster-access.ts';
import type { Uid } from '../../../core/model/identifiers.ts';
import type { NamespacedName } from '../../../ports/stores/view-store.ts';
import type { StoredInputs } from './stored-inputs.ts';
import * as v from 'valibot';
import { isJsonObject } from '@rollcall/base/json.ts';

/** What the run is about. */
export type JudgedDaemonSet =
  | { readonly kind: 'usable'; readonly daemonSet: DaemonSetObject }
  | { readonly kind: 'terminating' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'malformed'; readonly problem: string }
  /** The selector is exactly empty (spec 2.3 step 4). */
  | { readonly kind: 'selecting-all'; readonly daemonSet: DaemonSetObject }
  | { readonly kind: 'unavailable'; readonly message: string };

/** What the view has of it, or the API server where that is not enough. */
export async function judgeDaemonSet(
  { ref, daemonSet }: Pick<StoredInputs, 'ref' | 'daemonSet'>,
  key: NamespacedName,
  access: () => Promise<ClusterAccess | undefined>,
): Promise<JudgedDaemonSet> {
  const { object, opaqueReason: reason } = daemonSet;
  if (object !== null && findProblem(object, ref.uid) === undefined) return classify(object);
  const reader = await access();
  if (reader === undefined) {
    const problem = object === null ? undefined : findProblem(object, ref.uid);
    return {
      kind: 'malformed',
      problem: problem ?? `it travelled opaque (${reason ?? 'unknown'})`,
    };
  }
  const live = await reader.getDaemonSet(key);
  if (live.kind === 'unavailable') return { kind: 'unavailable', message: live.message };
  if (live.kind === 'missing') return { kind: 'gone' };
  if (live.object.metadata.uid !== ref.uid) return { kind: 'gone' };
  const problem = findProblem(live.object, ref.uid);
  return problem === undefined ? classify(live.object) : { kind: 'malformed', problem };
}

function classify(daemonSet: DaemonSetObject): JudgedDaemonSet {
  const why = whyLeftAlone(daemonSet);
  if (why === undefined) return { kind: 'usable', daemonSet };
  return why.kind === 'selecting-all' ? { kind: why.kind, daemonSet } : why;
}

/** The first thing that is not as it must be, as a sentence for a person. */
function findProblem(object: DaemonSetObject, uid: Uid): string | undefined {
  const problem = findShapeProblem(object);
  if (problem !== undefined) return problem;
  return object.metadata.uid === uid ? undefined : 'metadata.uid is not the one it is stored under';
}

// The shape that the core needs: types of the members that a decision reads. What comes out of a queue may be anything
// (faults row 67). Members that nothing reads are not looked at, so a newer API server may add some (ADR 0006).

const text = v.optional(v.string());
// Not v.record: it looks away from keys such as `constructor`, which are legal labels.
const texts = v.optional(v.custom<Readonly<Record<string, string>>>(isTextMap));
const wholeNumber = v.optional(v.pipe(v.number(), v.safeInteger()));

const requirement = v.looseObject({
  key: v.string(),
  operator: text,
  values: v.optional(v.array(v.string())),
});

const requirements = v.optional(v.array(requirement));

const term = v.looseObject({ matchExpressions: requirements, matchFields: requirements });

const affinity = v.looseObject({
  nodeAffinity: v.optional(
    v.looseObject({
      requiredDuringSchedulingIgnoredDuringExecution: v.optional(
        v.looseObject({ nodeSelectorTerms: v.optional(v.array(term)) }),
      ),
    }),
  ),
});

const toleration = v.looseObject({
  key: text,
  operator: text,
  value: text,
  effect: text,
  tolerationSeconds: wholeNumber,
});

const podSpec = v.looseObject({
  nodeName: text,
  nodeSelector: texts,
  hostNetwork: v.optional(v.boolean()),
  tolerations: v.optional(v.array(toleration)),
  affinity: v.optional(affinity),
});

const template = v.looseObject({
  metadata: v.optional(
    v.looseObject({
      labels: texts,
      annotations: texts,
      finalizers: v.optional(v.array(v.string())),
    }),
  ),
  spec: podSpec,
});

const share = v.optional(v.union([v.pipe(v.number(), v.safeInteger()), v.string()]));

const spec = v.looseObject({
  selector: v.optional(v.looseObject({ matchLabels: texts, matchExpressions: requirements })),
  template,
  minReadySeconds: wholeNumber,
  revisionHistoryLimit: wholeNumber,
  updateStrategy: v.optional(
    v.looseObject({
      type: text,
      rollingUpdate: v.optional(v.looseObject({ maxUnavailable: share, maxSurge: share })),
    }),
  ),
});

const status = v.looseObject({
  observedGeneration: wholeNumber,
  collisionCount: wholeNumber,
  conditions: v.optional(v.array(v.looseObject({}))),
});

const shape = v.looseObject({
  metadata: v.looseObject({
    name: v.string(),
    namespace: v.string(),
    uid: v.string(),
    resourceVersion: v.string(),
    generation: wholeNumber,
    deletionTimestamp: text,
    labels: texts,
    annotations: texts,
  }),
  spec,
  status: v.optional(status),
});

/** The first member that is not as Kubernetes has it, as a sentence for a person; undefined if all are. */
export function findShapeProblem(object: unknown): string | undefined {
  const parsed = v.safeParse(shape, object, { abortEarly: true });
  if (parsed.success) return undefined;
  const [issue] = parsed.issues;
  // Keys below labels and the like are the sender's own words; the path down to them says enough.
  const path = (issue.path ?? [])
    .map(({ key }) => String(key))
    .filter((key) => /^\w{1,64}$/.test(key));
  const where = path.length === 0 ? 'it' : path.join('.');
  return `${where} is ${kindOf(issue.input)}, not what Kubernetes has there`;
}

function isTextMap(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

function kindOf(input: unknown): string {
  if (input === undefined) return 'missing';
  if (input === null) return 'null';
  return Array.isArray(input) ? 'a list' : `of type ${typeof input}`;
}
