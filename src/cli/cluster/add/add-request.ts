/**
 * The request of `cluster add`: options of the command line, or an entry of a list for `cluster import`.
 *
 * A closed schema, the same names in both. It names files, profiles and roles; it has no field for a
 * credential of the functions: the ways in are an access entry of EKS, or a token that the cluster seals
 * itself (S11). Contradictions are told before anything is asked or made.
 */
import * as v from 'valibot';
import { isPrivateRange } from '../../../adapters/kubernetes/egress/address-class.ts';
import { isRegion } from '../../../adapters/kubernetes/credentials/token-source.ts';
import { UID_PATTERN, clusterId } from '../../../core/model/identifiers.ts';
import {
  excludeEachOther,
  ID_PATTERN,
  LABEL_KEY,
  LABEL_VALUE,
  ROLE_ID,
  parseLabel,
} from '../../command-line/cluster-arguments.ts';
import { refusalsOf, throwTogether, together, usageError } from '../../process/exit-codes.ts';
import type { CommandError } from '../../process/exit-codes.ts';
import { CREDENTIAL_KINDS, releasedImage } from '../manifests/manifests.ts';
import {
  choiceOption,
  flagOption,
  textOption,
  textsOption,
} from '../../command-line/command-module.ts';
import type { OptionsOf } from '../../command-line/command-module.ts';
import { defined } from '@rollcall/base/defined.ts';

/** Options that belong to a request have its names but for two; the others are about the command. */
export function requestFields(
  options: Readonly<Record<string, unknown>>,
  environment: Readonly<NodeJS.ProcessEnv>,
): Record<string, unknown> {
  const { label, privateRange } = options as OptionsOf<typeof COMMON_OPTIONS>;
  const image = environment['ROLLCALL_WATCHER_IMAGE'] ?? releasedImage() ?? '';
  const named = Object.entries(options).filter(
    ([name, value]) => REQUEST_FIELDS.includes(name) && value !== undefined,
  );
  return {
    ...(image === '' ? {} : { image }),
    ...Object.fromEntries(named),
    ...(label === undefined ? {} : { labels: Object.fromEntries(label.map(parseLabel)) }),
    ...defined({ privateRanges: privateRange }),
  };
}

const AUTH_KINDS = ['none', 'eks', 'bound-token'] as const;

/** Modes that a cluster can be added in: takeover needs its probe (`cluster set`). */
const ADD_MODES = ['observe', 'copilot'] as const;

/** Options that `cluster add` and `cluster import` have. */
export const COMMON_OPTIONS = {
  eksRegion: textOption(
    '--eks-region <region>',
    'region of the EKS cluster (default: that of the stack)',
  ),
  auth: choiceOption(
    '--auth <way>',
    'how functions will get in: none (observe needs nothing), eks (access entries), bound-token (renewed by the cluster)',
    AUTH_KINDS,
  ),
  mode: choiceOption(
    '--mode <mode>',
    'observe (default): look only. copilot: time rollouts beside the built-in controller (needs --auth)',
    ADD_MODES,
  ),
  credentials: choiceOption(
    '--credentials <kind>',
    'where the watcher gets its AWS credentials (default: irsa for EKS, else web-identity)',
    CREDENTIAL_KINDS,
  ),
  label: textsOption('--label <key=value>', 'a label of the cluster; repeatable'),
  privateRange: textsOption(
    '--private-range <cidr>',
    'private range that its address may be in; repeatable',
  ),
  clusterProfile: textOption(
    '--cluster-profile <name>',
    'AWS profile of the account where the cluster is; its roles are deployed there',
  ),
  sameAccount: flagOption('--same-account', 'the cluster is in the account of the stack'),
  permissionsBoundary: textOption(
    '--permissions-boundary <arn>',
    'policy that bounds the roles which are made',
  ),
  image: textOption(
    '--image <reference>',
    'image of the watcher (default: ROLLCALL_WATCHER_IMAGE)',
  ),
  apply: flagOption('--apply', 'apply the manifests to the cluster'),
  dryRun: flagOption('--dry-run', 'show everything, write nothing'),
};

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(2048));
const matching = (pattern: RegExp, what: string) => v.pipe(v.string(), v.regex(pattern, what));
const oneOf = <const Values extends readonly string[]>(values: Values) =>
  v.picklist(values, `must be one of ${values.join(', ')}`);
const roleIdSchema = matching(ROLE_ID, 'is no unique id of a role (AROA…)');

const RequestSchema = v.strictObject({
  id: v.pipe(
    matching(ID_PATTERN, 'must have letters, digits, ".", "_" and "-" only, at most 100'),
    v.transform(clusterId),
  ),
  kubeconfig: v.exactOptional(text),
  context: v.exactOptional(text),
  eks: v.exactOptional(
    matching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/, 'is no name of an EKS cluster'),
  ),
  eksRegion: v.exactOptional(v.pipe(v.string(), v.check(isRegion, 'is no AWS region'))),
  clusterUid: v.exactOptional(matching(UID_PATTERN, 'is no UID')),
  server: v.exactOptional(text),
  caFile: v.exactOptional(text),
  auth: v.optional(oneOf(AUTH_KINDS), 'none'),
  mode: v.optional(oneOf(ADD_MODES), 'observe'),
  credentials: v.exactOptional(oneOf(CREDENTIAL_KINDS)),
  labels: v.optional(
    v.record(
      matching(LABEL_KEY, 'is no key of a label'),
      matching(LABEL_VALUE, 'is no value of a label'),
    ),
    {},
  ),
  privateRanges: v.optional(
    v.array(v.pipe(v.string(), v.check(isPrivateRange, 'is no private range in CIDR notation'))),
    [],
  ),
  clusterProfile: v.exactOptional(text),
  sameAccount: v.optional(v.boolean(), false),
  permissionsBoundary: v.exactOptional(
    matching(/^arn:[a-z-]+:iam::(\d{12}|aws):policy\/[\w+=,.@/-]+$/, 'is no ARN of an IAM policy'),
  ),
  oidcIssuer: v.exactOptional(
    matching(/^https:\/\/[A-Za-z0-9./_-]+$/, 'is no https address without a port'),
  ),
  senderRoleId: v.exactOptional(roleIdSchema),
  watcherRoleArn: v.exactOptional(text),
  renewerRoleId: v.exactOptional(roleIdSchema),
  renewerRoleArn: v.exactOptional(text),
  image: v.exactOptional(
    matching(/^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/, 'is no reference of an image'),
  ),
  watcherApiServer: v.exactOptional(text),
});

/** A request that can be carried out. */
export type AddRequest = Omit<v.InferOutput<typeof RequestSchema>, 'credentials'> & {
  readonly credentials: (typeof CREDENTIAL_KINDS)[number];
};

const REQUEST_FIELDS = Object.keys(RequestSchema.entries);

/** `clusterProfile` as a person writes it: `--cluster-profile`. */
function optionName(field: string): string {
  const plain = { labels: 'label', privateRanges: 'private-range' }[field] ?? field;
  return `--${plain.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Required fields of a request, by its purpose. */
export interface Needs {
  /** The role of its watcher: not where roles are only printed. */
  readonly roles?: boolean;
  /** The watcher's image: where the manifests are applied. */
  readonly image?: boolean;
}

/** A request that can be examined, and what is missing to carry it out. */
interface DraftRequest {
  readonly request: AddRequest;
  readonly missing: readonly CommandError[];
}

/** Checks a request. Throws CommandError (2) that has all that is wrong, and all that is missing; values are not repeated. */
export function draftAddRequest(candidate: unknown, needs: Needs = {}): DraftRequest {
  const missing = missingIn(candidate, needs);
  const parsed = v.safeParse(RequestSchema, candidate);
  if (!parsed.success) {
    const [first, ...others] = parsed.issues;
    throw together(describeIssue(first), [...others.map(describeIssue), ...missing]);
  }
  const request = parsed.output;
  const credentials = request.credentials ?? (request.eks === undefined ? 'web-identity' : 'irsa');
  const whole: AddRequest = { ...request, credentials };
  const wrong = [...contradictionsOfSource(whole), ...contradictionsOfRoles(whole)];
  if (wrong.length > 0) throwTogether([...wrong, ...missing]);
  return { request: whole, missing };
}

/** A request that can be carried out. Throws CommandError (2), also for what is missing. */
export function parseAddRequest(candidate: unknown, needs: Needs = {}): AddRequest {
  const { request, missing } = draftAddRequest(candidate, needs);
  throwTogether(missing);
  return request;
}

function describeIssue({ path, message, type }: v.BaseIssue<unknown>): CommandError {
  const [{ key } = { key: '' }] = path ?? [];
  const field = REQUEST_FIELDS.includes(String(key)) ? optionName(String(key)) : 'a field';
  return usageError(
    type === 'strict_object'
      ? 'The request has a field that is not known.'
      : `${field}: ${message}.`,
    `Known fields: ${REQUEST_FIELDS.join(', ')}.`,
  );
}

/** Told beside whatever else is wrong, so it asks only whether something is given. */
function missingIn(candidate: unknown, needs: Needs): readonly CommandError[] {
  // Not judged yet: whether something stands there is all that is asked.
  const { image, ...given } = (candidate ?? {}) as Partial<AddRequest>;
  return refusalsOf([
    () => {
      if (needs.roles === true) requireRoleSource(given);
    },
    () => {
      if (needs.image !== true || image !== undefined) return;
      throw usageError(
        'Nothing can be applied without the image of the watcher.',
        'Build it (npm run build:image), push it, and pass --image REFERENCE.',
      );
    },
  ]);
}

type Contradiction = readonly [isThere: boolean, message: string, remedy: string];

function errorsOf(contradictions: readonly Contradiction[]): readonly CommandError[] {
  return contradictions
    .filter(([isThere]) => isThere)
    .map(([, message, remedy]) => usageError(message, remedy));
}

function exclusion(options: Readonly<Record<string, unknown>>): readonly CommandError[] {
  return refusalsOf([
    () => {
      excludeEachOther(options);
    },
  ]);
}

const PASS_EKS = 'Pass the name of the EKS cluster with --eks.';

function contradictionsOfSource(request: AddRequest): readonly CommandError[] {
  const { kubeconfig, context, eks, eksRegion, clusterUid, server, caFile } = request;
  const { auth, credentials, mode } = request;
  const isEks = eks !== undefined;
  const isGiven = clusterUid !== undefined;
  const contradictions = errorsOf([
    [eksRegion !== undefined && !isEks, '--eks-region needs --eks.', PASS_EKS],
    [
      !isGiven && (server ?? caFile) !== undefined,
      '--server and --ca-file are for a cluster that is not asked.',
      'Pass --cluster-uid as well: kubectl get namespace kube-system -o jsonpath={.metadata.uid}',
    ],
    [
      isGiven && (server !== undefined) === isEks,
      '--cluster-uid needs either --server or --eks.',
      'Pass one of them.',
    ],
    [auth === 'eks' && !isEks, '--auth eks needs --eks.', PASS_EKS],
    [
      mode === 'copilot' && auth === 'none',
      '--mode copilot needs a way in for the functions.',
      'Pass --auth eks, or --auth bound-token.',
    ],
    [
      (credentials === 'pod-identity' || credentials === 'irsa') && !isEks,
      `--credentials ${credentials} is for EKS.`,
      'Pass --eks NAME, or --credentials web-identity.',
    ],
  ]);
  const ways = { '--cluster-uid': clusterUid, '--kubeconfig': kubeconfig ?? context };
  return [...contradictions, ...exclusion(ways)];
}

/** Whether the roles are there already, so that no stack makes them. */
export function hasRoles({ senderRoleId, watcherRoleArn }: Partial<AddRequest>): boolean {
  return senderRoleId !== undefined || watcherRoleArn !== undefined;
}

/** Throws CommandError (2) when nothing says where the roles are to come from. */
export function requireRoleSource(request: Partial<AddRequest>): void {
  const { clusterProfile, sameAccount } = request;
  if (hasRoles(request) || clusterProfile !== undefined || sameAccount === true) return;
  throw usageError(
    'The watcher needs a role in the account where the cluster is.',
    'Pass --cluster-profile NAME (or --same-account) to deploy it, --print cloudformation or terraform to deploy it yourself, or --watcher-role-arn if it is there.',
  );
}

function contradictionsOfRoles(request: AddRequest): readonly CommandError[] {
  const { auth, credentials, clusterProfile, sameAccount, renewerRoleId, renewerRoleArn } = request;
  const hasRenewer = (renewerRoleId ?? renewerRoleArn) !== undefined;
  const isGiven = hasRoles(request);
  return [
    ...exclusion({ '--cluster-profile': clusterProfile, '--same-account': sameAccount }),
    ...errorsOf([
      [
        hasRenewer && auth !== 'bound-token',
        'A token renewer is for --auth bound-token.',
        'Pass it, or leave the token renewer out.',
      ],
      [
        !isGiven && hasRenewer,
        'The role of the token renewer is given, that of the watcher is not.',
        'Pass --watcher-role-arn or --sender-role-id as well, or neither.',
      ],
      [
        !isGiven && credentials === 'static',
        '--credentials static makes no role.',
        'Pass --sender-role-id: the unique id of who owns the keys (aws sts get-caller-identity: UserId before the colon).',
      ],
      ...(isGiven ? contradictionsOfGivenRoles(request, hasRenewer) : []),
    ]),
  ];
}

function contradictionsOfGivenRoles(
  request: AddRequest,
  hasRenewer: boolean,
): readonly Contradiction[] {
  const { auth, credentials, senderRoleId } = request;
  const { watcherRoleArn, renewerRoleId, renewerRoleArn } = request;
  const isByArn = credentials === 'irsa' || credentials === 'web-identity';
  const isBound = auth === 'bound-token';
  const isShared =
    (renewerRoleId !== undefined && renewerRoleId === senderRoleId) ||
    (renewerRoleArn !== undefined && renewerRoleArn === watcherRoleArn);
  return [
    [
      isByArn && watcherRoleArn === undefined,
      'The manifests name the role.',
      'Pass --watcher-role-arn as well.',
    ],
    [
      isBound && (!hasRenewer || (isByArn && renewerRoleArn === undefined)),
      '--auth bound-token needs a role for the token renewer.',
      'Pass --renewer-role-arn (and --renewer-role-id if it cannot be looked up).',
    ],
    [
      isBound && isShared && credentials !== 'static',
      'Watcher and token renewer must not share a role: what may watch must not be able to renew.',
      'Make a role for each: rollcall cluster add ID --print cloudformation',
    ],
  ];
}
