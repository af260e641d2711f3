/** Planted bugs of what talks to API servers (table.ts), by the file that they change. */
import type { PlantedBugs } from './planted-bug.ts';

/** The rows by name. */
export const KUBERNETES_BUGS: PlantedBugs = {
  'wish-to-wait-heard-by-nobody': {
    bug: 'what one request is asked by an API server, the next one does not know',
    at: 'src/adapters/kubernetes/api/cluster-access.ts#HttpsClusterAccess.#send',
    change: 'this.#pressure.note(answer.retryAfterMs);',
    to: 'this.#pressure.note(undefined);',
    killedBy:
      'test/integration/adapters/kubernetes/api/cluster-access.test.ts: leaves it alone whichever read was asked to wait',
  },
  'rejected-credential-is-silence': {
    bug: 'an API server that rejects a credential counts as one that does not answer',
    at: 'src/adapters/kubernetes/api/cluster-connector.ts#HttpsClusterConnector.#checkIdentity',
    change: 'if (isUnauthorized(answer))',
    to: 'if (isUnauthorized(answer) && warm.sealed !== undefined)',
    killedBy:
      'test/integration/adapters/kubernetes/api/cluster-connector.test.ts: takes a rejected token of EKS for no outage',
  },
  'event-limit-holds-pods': {
    bug: 'a limit on Events holds pods back',
    at: 'src/adapters/kubernetes/api/cluster-access.ts#HttpsClusterAccess.#executeOne',
    change: "const isOfItsOwn = effect.kind === 'create-event';",
    to: 'const isOfItsOwn = false;',
    killedBy:
      'test/integration/adapters/kubernetes/api/cluster-access.test.ts: lets throttled Events hold nothing back',
  },
  'copilot-keeps-restored-fields': {
    bug: "the fields of a restored template stay the functions' own, and whoever rolls the fix meets a conflict",
    at: 'src/adapters/kubernetes/api/cluster-access.ts#HttpsClusterAccess.#executeOne',
    change: "outcome.kind === 'done' ? releaseRequestOf(effect, outcome.object)",
    to: "outcome.kind === 'gone' ? releaseRequestOf(effect, {})",
    killedBy:
      'test/conformance/scenarios/restored-template.test.ts: conflicts with no server-side apply',
  },
  'credential-after-deadline': {
    bug: 'a write is repeated with a new credential after the deadline of the run',
    at: 'src/adapters/kubernetes/api/cluster-access.ts#HttpsClusterAccess.#exchange',
    change: 'refreshCredential() && !(options !== undefined && isOver(options, clock));',
    to: 'refreshCredential();',
    killedBy:
      'test/integration/adapters/kubernetes/api/cluster-access.test.ts: starts no repetition after the deadline',
  },
  'live-reads-take-a-minute': {
    bug: 'one object is waited for as long as nothing else: a hung cluster holds places',
    at: 'src/adapters/kubernetes/api/cluster-access.ts#OBJECT_READ_TIMEOUT_MS',
    to: '50_000',
    killedBy: 'test/unit/composition/published-bounds.test.ts: cluster that begins to hang adds',
  },
  'dropped-clusters-keep-connections': {
    bug: 'a cluster that leaves the connector keeps its connections',
    at: 'src/adapters/kubernetes/api/cluster-connector.ts#HttpsClusterConnector.#drop',
    change: 'warm.transport.retire();',
    to: '',
    killedBy:
      'test/integration/adapters/kubernetes/api/cluster-connector.test.ts: ends the connections of a cluster that it forgets',
  },
  'connector-stretches-time-outs': {
    bug: 'who makes a connector may give requests more time than safety counts on',
    at: 'src/adapters/kubernetes/api/cluster-connector.ts#HttpsClusterConnector.#open',
    change: 'Math.min(requestTimeoutMs ?? Infinity, REQUEST_TIMEOUT_MS)',
    to: 'requestTimeoutMs ?? REQUEST_TIMEOUT_MS',
    killedBy:
      'test/integration/adapters/kubernetes/api/cluster-connector.test.ts: gives writes the time that safety counts on',
  },
  'new-tokens-need-no-identity': {
    bug: 'the identity is not read again under a new token',
    at: 'src/adapters/kubernetes/api/cluster-connector.ts#HttpsClusterConnector.#verify',
    change: 'verified.generation === (warm.tokens?.generation() ?? 0) &&',
    to: '',
    killedBy:
      'test/integration/adapters/kubernetes/api/cluster-connector.test.ts: signs EKS tokens itself, and mints another after a 401',
  },
  'tokens-are-used-to-the-end': {
    bug: 'a bound token is used until ten milliseconds before it ends',
    at: 'src/adapters/kubernetes/credentials/sealed-token-source.ts#EXPIRY_MARGIN_MS',
    to: '10',
    killedBy:
      'test/unit/adapters/kubernetes/credentials/sealed-token-source.test.ts: is used to its end while no newer one can be had, and then says so',
  },
  'address-not-judged': {
    bug: 'an address that is written out in the registry is connected to unjudged (14 A.3, S12)',
    at: 'src/adapters/kubernetes/egress/egress.ts#openEgress',
    change: 'if (reason !== undefined) return refuse(reason);',
    to: '',
    killedBy: 'test/simulation/registry-data.test.ts: a metadata address',
  },
  'any-port': {
    bug: 'the registry chooses the port, those of mail and shells too (14 A.3, S12)',
    at: 'src/adapters/kubernetes/egress/egress.ts#openEgress',
    change: "if (port !== HTTPS_PORT && port < UNPRIVILEGED_PORT_MIN) return refuse('port');",
    to: '',
    killedBy: 'test/simulation/registry-data.test.ts: a port of mail',
  },
  'name-not-judged': {
    bug: 'where a name of the registry leads is not judged (14 A.3, S12)',
    at: 'src/adapters/kubernetes/egress/egress.ts#resolveJudged',
    change: 'if (reason !== undefined) throw new EgressRefusedError(reason);',
    to: '',
    killedBy: 'test/simulation/registry-data.test.ts: a name that leads to metadata',
  },
  'empty-authority-trusted': {
    bug: 'a file that is just being exchanged is taken for an authority, and then nobody is trusted',
    at: 'src/adapters/kubernetes/settings/program-settings.ts#readApiServer',
    change: '(known) => certificateIn(caFile) ?? known',
    to: "() => readSettingFile(caFile, 'CA')",
    killedBy:
      'test/integration/adapters/kubernetes/changed-authority.test.ts: goes on with what it knew',
  },
  'authority-read-once': {
    bug: 'the watcher reads its authority at the start alone: after a change it is blind until somebody restarts it',
    at: 'src/adapters/kubernetes/settings/program-settings.ts#readingAgain',
    change: 'if (nowMs - known.readMs >= FILE_LIFETIME_MS)',
    to: 'if (nowMs < known.readMs)',
    killedBy:
      'test/integration/adapters/kubernetes/changed-authority.test.ts: heals within a minute of the file',
  },
  'untrusted-says-nothing': {
    bug: 'who looks for the reason of a refused certificate finds a code of OpenSSL',
    at: 'src/adapters/kubernetes/transport/tls-fault.ts#describeFailure',
    change: "tlsFaultOf(code) === 'untrusted'",
    to: "tlsFaultOf(code) === 'unreadable-ca'",
    killedBy: 'test/integration/adapters/kubernetes/changed-authority.test.ts: says so',
  },
  'connecting-takes-half-a-minute': {
    bug: 'an API server that takes no connection holds a run for its whole time',
    at: 'src/adapters/kubernetes/transport/transport.ts#CONNECT_TIMEOUT_MS',
    to: '30_000',
    killedBy:
      'test/unit/composition/dependent-bounds.test.ts: gives up connecting before it gives up reading',
  },
  'transport-takes-a-minute': {
    bug: 'a request may take 60 s while safety counts on it being dead after twice ten',
    at: 'src/adapters/kubernetes/transport/transport.ts#HttpsTransport.constructor',
    change: 'options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS',
    to: 'options.requestTimeoutMs ?? 60_000',
    killedBy:
      'test/integration/adapters/kubernetes/transport/transport.test.ts: gives up after the time that safety counts on',
  },
  'answer-timeout-kept': {
    bug: 'every stream is torn down half a minute after it was opened',
    at: 'src/adapters/kubernetes/watch/watch-connection.ts#answerTo',
    change: 'cancel(); resolve(response);',
    to: 'resolve(response);',
    killedBy:
      'test/integration/adapters/kubernetes/watch/watch-source.test.ts: the time for an answer is over once it begins',
  },
  'streams-keep-the-authority': {
    bug: 'requests follow a changed authority, lists and streams do not',
    at: 'src/adapters/kubernetes/watch/watch-connection.ts#createWatchConnection',
    change: 'new TrustedPool(options',
    to: "new TrustedPool({ ...options, readCaPem: () => options.caPem ?? '' }",
    killedBy:
      'test/integration/adapters/kubernetes/changed-authority.test.ts: heals within a minute of the file',
  },
  'no-bookmarks': {
    bug: 'no bookmarks are asked for: marks of a quiet kind stand still',
    at: 'src/adapters/kubernetes/watch/watch-source.ts#watchPath',
    change: "allowWatchBookmarks: 'true'",
    to: '',
    killedBy:
      'test/integration/adapters/kubernetes/watch/watch-source.test.ts: a stream asks for bookmarks and its time-out',
  },
  'a-time-out-is-unsent': {
    bug: 'a create that timed out with Retry-After counts as not applied, and a second pod is made',
    at: 'src/adapters/kubernetes/api/status-classifier.ts#classifyWrite',
    change: 'answer.status === 503 && answer.retryAfterMs',
    to: 'answer.retryAfterMs',
    killedBy:
      'test/unit/adapters/kubernetes/api/status-classifier.test.ts: calls no other failure of a server unsent',
  },
};
