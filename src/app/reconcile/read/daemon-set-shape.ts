/**
 * The shape that the core needs a DaemonSet to have: types of the members that a decision reads.
 *
 * A DaemonSet travels as raw JSON, and what comes out of a queue may be anything (faults row 67): a member of another
 * type than Kubernetes gives it makes the whole malformed, with the member's name, and the core never sees it. Members
 * that nothing reads are not looked at, so that a newer API server can add some (ADR 0006).
 */
import * as v from 'valibot';
import { isJsonObject } from '@rollcall/base/json.ts';

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
