/**
 * What a pod asks of its simulation, by annotations and image names (docs/try-it.md has the table).
 *
 * `simulate.rollcall.dev/<container>` speaks for one container, `simulate.rollcall.dev/pod` for all of them and for the
 * sandbox, `simulate.rollcall.dev/volumes` for the volumes; an image name speaks for all pods that run the image. What is said
 * more closely wins: container, then pod, then image. A malformed list is ignored as a whole and told as a warning. Pure.
 *
 *     pull=3s, exit=1@5s, ignore-sigterm          in an annotation
 *     app:2.0-simulate-pull-3s_exit-1-5s          in an image name, which has no room for these signs
 */
/** How a container and its image behave. Failures count how often it fails; Infinity: always. */
export interface Simulation {
  readonly pullMs?: number;
  readonly pullFailures: number;
  readonly createFailures: number;
  readonly startFailures: number;
  readonly startMs?: number;
  readonly exit?: { readonly code: number; readonly afterMs: number };
  readonly oomAfterMs?: number;
  /** Its machine loses its power so long after it started, where the kernel's version begins so. */
  readonly panic?: { readonly kernel: string; readonly afterMs: number };
  /** While it runs, the API server of its cluster answers so much later. */
  readonly apiLoadMs?: number;
  readonly ignoresSigterm: boolean;
  /** How long it takes to end after SIGTERM. */
  readonly stopMs?: number;
  readonly startupAfterMs: number;
  readonly readyAfterMs: number;
  readonly unreadyAtMs: number;
  /** Readiness fails and succeeds in turns of this length, beginning with success. */
  readonly flapMs?: number;
  readonly livenessFailsAtMs: number;
  /** How long an answer to a probe takes. */
  readonly probeMs: number;
  readonly failsPostStart: boolean;
  readonly postStartMs: number;
  readonly failsPreStop: boolean;
  readonly preStopMs: number;
  /** Exits, kills and failing probes and hooks happen in this many first runs of the container. */
  readonly affectedRuns: number;
}

interface SandboxSimulation {
  readonly sandboxFailures: number;
  readonly networkFailures: number;
}

interface VolumeSimulation {
  readonly delayMs: number;
  readonly failures: number;
}

/** What was asked, and what could not be understood. */
export interface SimulationRequest<Asked> {
  readonly simulation: Asked;
  readonly warnings: readonly string[];
}

/** All annotations that speak to the simulation begin so. */
const SIMULATION_PREFIX = 'simulate.rollcall.dev/';

/** A container without a request: it starts, runs and obeys. */
export const WELL_BEHAVED: Simulation = {
  pullFailures: 0,
  createFailures: 0,
  startFailures: 0,
  ignoresSigterm: false,
  startupAfterMs: 0,
  readyAfterMs: 0,
  unreadyAtMs: Number.POSITIVE_INFINITY,
  livenessFailsAtMs: Number.POSITIVE_INFINITY,
  probeMs: 0,
  failsPostStart: false,
  postStartMs: 0,
  failsPreStop: false,
  preStopMs: 0,
  affectedRuns: Number.POSITIVE_INFINITY,
};

type Annotations = Readonly<Record<string, string>>;
type Reader = (value: string | undefined) => Parsed<Partial<Asked>>;
type Asked = Simulation & SandboxSimulation & VolumeSimulation;

const NO_WARNINGS: readonly string[] = [];
const SOUND_SANDBOX: SandboxSimulation = { sandboxFailures: 0, networkFailures: 0 };
const SOUND_VOLUMES: VolumeSimulation = { delayMs: 0, failures: 0 };
const NO_REQUEST: SimulationRequest<Simulation> = {
  simulation: WELL_BEHAVED,
  warnings: NO_WARNINGS,
};

function map<From, To>(parsed: Parsed<From>, convert: (value: From) => To): Parsed<To> {
  return parsed.kind === 'ok' ? { kind: 'ok', value: convert(parsed.value) } : parsed;
}

const duration =
  (member: keyof Asked): Reader =>
  (value) =>
    map(parseDuration(value), (durationMs) => ({ [member]: durationMs }));
const count =
  (member: keyof Asked): Reader =>
  (value) =>
    map(parseCount(value), (times) => ({ [member]: times }));
const flag =
  (member: keyof Asked): Reader =>
  (value) =>
    value === undefined
      ? { kind: 'ok', value: { [member]: true } }
      : { kind: 'malformed', because: `it takes no value, not "${value}"` };

const CONTAINER_REQUESTS: ReadonlyMap<string, Reader> = new Map([
  ['pull', duration('pullMs')],
  ['pull-fails', count('pullFailures')],
  ['create-fails', count('createFailures')],
  ['start', duration('startMs')],
  ['start-fails', count('startFailures')],
  ['exit', (value) => map(parseExit(value), (exit) => ({ exit }))],
  ['oom', (value) => map(parseDuration(value ?? '0s'), (oomAfterMs) => ({ oomAfterMs }))],
  ['panic', (value) => map(parsePanic(value), (panic) => ({ panic }))],
  ['load-api', duration('apiLoadMs')],
  ['ignore-sigterm', flag('ignoresSigterm')],
  ['stop', duration('stopMs')],
  ['startup-after', duration('startupAfterMs')],
  ['ready-after', duration('readyAfterMs')],
  ['unready-at', duration('unreadyAtMs')],
  ['flap', duration('flapMs')],
  ['liveness-fails-at', duration('livenessFailsAtMs')],
  ['probe', duration('probeMs')],
  ['post-start', duration('postStartMs')],
  ['post-start-fails', flag('failsPostStart')],
  ['pre-stop', duration('preStopMs')],
  ['pre-stop-fails', flag('failsPreStop')],
  ['runs', count('affectedRuns')],
]);
const POD_REQUESTS: ReadonlyMap<string, Reader> = new Map([
  ...CONTAINER_REQUESTS,
  ['sandbox-fails', count('sandboxFailures')],
  ['network-fails', count('networkFailures')],
]);
const VOLUME_REQUESTS: ReadonlyMap<string, Reader> = new Map([
  ['delay', duration('delayMs')],
  ['fail', count('failures')],
]);

/** Images whose repository ends so misbehave without being asked. */
const KNOWN_IMAGES: ReadonlyMap<string, Partial<Simulation>> = new Map<string, Partial<Simulation>>(
  [
    ['cannot-pull', { pullFailures: Number.POSITIVE_INFINITY }],
    ['crash-loop', { exit: { code: 1, afterMs: 1000 } }],
    ['completes', { exit: { code: 0, afterMs: 1000 } }],
  ],
);
const IMAGE_MARK = 'simulate-';
const IMAGE_NAMES: ReadonlySet<string> = new Set(CONTAINER_REQUESTS.keys());

/** What is asked of one container. Warnings are those about its image: annotations warn with the sandbox. */
export function readContainerSimulation(input: {
  readonly annotations: Annotations;
  readonly containerName: string;
  readonly image: string;
}): SimulationRequest<Simulation> {
  const { annotations, containerName, image } = input;
  const forImage = readImage(image);
  const forPod = readAnnotation(annotations, 'pod');
  const isScopeOfPod = containerName === 'pod' || containerName === 'volumes';
  const forContainer = isScopeOfPod ? undefined : readAnnotation(annotations, containerName);
  if (forImage === undefined && forPod === undefined && forContainer === undefined) {
    return NO_REQUEST;
  }
  const asked = { ...valueOf(forImage), ...valueOf(forPod), ...valueOf(forContainer) };
  const warnings = warningsOf(`image ${image}`, forImage);
  return { simulation: { ...WELL_BEHAVED, ...asked }, warnings };
}

/** What is asked of the pod's sandbox; warnings are about all annotations of the pod that speak to the simulation. */
export function readSandboxSimulation(
  annotations: Annotations,
): SimulationRequest<SandboxSimulation> {
  const scopes = Object.keys(annotations)
    .filter((key) => key.startsWith(SIMULATION_PREFIX))
    .map((key) => key.slice(SIMULATION_PREFIX.length));
  const warnings = scopes.flatMap((scope) =>
    warningsOf(`annotation ${SIMULATION_PREFIX}${scope}`, readAnnotation(annotations, scope)),
  );
  const asked = valueOf(readAnnotation(annotations, 'pod'));
  return { simulation: { ...SOUND_SANDBOX, ...asked }, warnings };
}

/** What is asked of the pod's volumes. */
export function readVolumeSimulation(annotations: Annotations): VolumeSimulation {
  return { ...SOUND_VOLUMES, ...valueOf(readAnnotation(annotations, 'volumes')) };
}

function readAnnotation(
  annotations: Annotations,
  scope: string,
): Parsed<Partial<Asked>> | undefined {
  const text = annotations[SIMULATION_PREFIX + scope];
  if (text === undefined) return undefined;
  const items = parseList(text);
  return items.kind === 'ok' ? readItems(items.value, readersOf(scope)) : items;
}

function readersOf(scope: string): ReadonlyMap<string, Reader> {
  if (scope === 'pod') return POD_REQUESTS;
  return scope === 'volumes' ? VOLUME_REQUESTS : CONTAINER_REQUESTS;
}

function readItems(
  items: readonly RequestItem[],
  readers: ReadonlyMap<string, Reader>,
): Parsed<Partial<Asked>> {
  let value: Partial<Asked> = {};
  for (const item of items) {
    const read = readers.get(item.name);
    if (read === undefined) {
      return { kind: 'malformed', because: `there is no "${item.name}" to ask for here` };
    }
    const parsed = read(item.value);
    if (parsed.kind === 'malformed') {
      return { kind: 'malformed', because: `${item.name}: ${parsed.because}` };
    }
    value = { ...value, ...parsed.value };
  }
  return { kind: 'ok', value };
}

function readImage(image: string): Parsed<Partial<Asked>> | undefined {
  const [withoutDigest = ''] = image.split('@');
  const lastSegment = withoutDigest.slice(withoutDigest.lastIndexOf('/') + 1);
  const [repository = '', tag = ''] = lastSegment.split(':');
  const known = KNOWN_IMAGES.get(repository);
  if (known !== undefined) return { kind: 'ok', value: known };
  const text = afterMark(tag) ?? afterMark(repository);
  if (text === undefined) return undefined;
  const items = parseDashedList(text, IMAGE_NAMES);
  return items.kind === 'ok' ? readItems(items.value, CONTAINER_REQUESTS) : items;
}

function afterMark(text: string): string | undefined {
  const index = text.indexOf(IMAGE_MARK);
  return index < 0 ? undefined : text.slice(index + IMAGE_MARK.length);
}

function valueOf(parsed: Parsed<Partial<Asked>> | undefined): Partial<Asked> {
  return parsed?.kind === 'ok' ? parsed.value : {};
}

function warningsOf(source: string, parsed: Parsed<Partial<Asked>> | undefined): readonly string[] {
  if (parsed?.kind !== 'malformed') return NO_WARNINGS;
  return [`The simulation ignores ${source}: ${parsed.because}`];
}

/** One request of a list. */
interface RequestItem {
  readonly name: string;
  /** What follows the `=` or the `@`. */
  readonly value?: string;
}

/** A value of a request, or why it is none. */
type Parsed<Value> =
  | { readonly kind: 'ok'; readonly value: Value }
  | { readonly kind: 'malformed'; readonly because: string };

const ITEM = /^([a-z][a-z-]*)(?:[=@](.*))?$/;
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const COUNT = /^\d{1,6}$/;
const EXIT_CODE_MAX = 255;
const KERNEL = /^\d+(?:\.\d+){0,2}$/;

/** Splits an annotation's value. */
function parseList(text: string): Parsed<readonly RequestItem[]> {
  const items: RequestItem[] = [];
  for (const part of text.split(',')) {
    const trimmed = part.trim();
    if (trimmed === '') continue;
    const match = ITEM.exec(trimmed);
    if (match === null) return { kind: 'malformed', because: `cannot read "${trimmed}"` };
    const [, name = '', value] = match;
    items.push(value === undefined ? { name } : { name, value });
  }
  return { kind: 'ok', value: items };
}

/** Splits what follows `simulate-` in an image name: `exit-1-5s_pull-3s` asks `exit=1@5s, pull=3s`. */
function parseDashedList(text: string, names: ReadonlySet<string>): Parsed<readonly RequestItem[]> {
  const items: RequestItem[] = [];
  for (const part of text.split('_')) {
    const words = part.split('-');
    const length = longestName(words, names);
    if (length === 0) return { kind: 'malformed', because: `cannot read "${part}"` };
    const name = words.slice(0, length).join('-');
    const value = words.slice(length).join('@');
    items.push(value === '' ? { name } : { name, value });
  }
  return { kind: 'ok', value: items };
}

function longestName(words: readonly string[], names: ReadonlySet<string>): number {
  for (let length = words.length; length > 0; length -= 1) {
    if (names.has(words.slice(0, length).join('-'))) return length;
  }
  return 0;
}

/** `500ms`, `3s`, `1.5m`, `1h` in milliseconds. */
function parseDuration(text: string | undefined): Parsed<number> {
  const match = DURATION.exec(text ?? '');
  const unitMs = UNIT_MS[match?.[2] ?? ''];
  if (match === null || unitMs === undefined) {
    return { kind: 'malformed', because: `"${text ?? ''}" is no duration such as 500ms or 3s` };
  }
  return { kind: 'ok', value: Math.round(Number(match[1]) * unitMs) };
}

/** How often: a number, or always when nothing is said. */
function parseCount(text: string | undefined): Parsed<number> {
  if (text === undefined) return { kind: 'ok', value: Number.POSITIVE_INFINITY };
  if (!COUNT.test(text)) return { kind: 'malformed', because: `"${text}" is no number of times` };
  return { kind: 'ok', value: Number(text) };
}

/** `5.10@10s`: on machines whose kernel begins so, after ten seconds; without a moment at once. */
function parsePanic(
  text: string | undefined,
): Parsed<{ readonly kernel: string; readonly afterMs: number }> {
  const [kernel = '', moment] = (text ?? '').split('@');
  if (!KERNEL.test(kernel)) {
    return { kind: 'malformed', because: `"${kernel}" begins no kernel version such as 5.10` };
  }
  if (moment === undefined) return { kind: 'ok', value: { kernel, afterMs: 0 } };
  const after = parseDuration(moment);
  return after.kind === 'ok' ? { kind: 'ok', value: { kernel, afterMs: after.value } } : after;
}

/** `1@5s`: exits with code 1 after five seconds; without a moment at once; `never`: not by itself. */
function parseExit(
  text: string | undefined,
): Parsed<{ readonly code: number; readonly afterMs: number }> {
  if (text === 'never') {
    return { kind: 'ok', value: { code: 0, afterMs: Number.POSITIVE_INFINITY } };
  }
  const [codeText = '', moment] = (text ?? '').split('@');
  if (!/^\d{1,3}$/.test(codeText) || Number(codeText) > EXIT_CODE_MAX) {
    return { kind: 'malformed', because: `"${codeText}" is no exit code from 0 to 255` };
  }
  const code = Number(codeText);
  if (moment === undefined) return { kind: 'ok', value: { code, afterMs: 0 } };
  const after = parseDuration(moment);
  return after.kind === 'ok' ? { kind: 'ok', value: { code, afterMs: after.value } } : after;
}
