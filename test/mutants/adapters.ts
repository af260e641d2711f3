/** Planted bugs of tables, queues and the system (table.ts), by the file that they change. */
import type { PlantedBugs } from './planted-bug.ts';

/** The rows by name. */
export const ADAPTER_BUGS: PlantedBugs = {
  'calls-outlast-functions': {
    bug: 'a call to AWS may take longer than the function that makes it',
    at: 'src/adapters/aws/create-client.ts#CALL_LIMITS',
    change: 'requestTimeoutMs: 2000, attemptsMax: 4',
    to: 'requestTimeoutMs: 20_000, attemptsMax: 4',
    killedBy:
      'test/unit/composition/dependent-bounds.test.ts: has time to record: a call that has to be tried twice',
  },
  'writes-wait-for-one-that-hangs': {
    bug: 'a request that hangs holds the writes of every other key of its process (L3)',
    at: 'src/adapters/dynamodb/batches.ts#IN_FLIGHT_MAX',
    to: '1',
    killedBy: 'test/unit/adapters/dynamodb/batched-writer.test.ts: for no one that hangs',
  },
  'reader-bug-told-as-unreadable': {
    bug: 'a bug in the code that reads a record is told as damage of the record, and hidden',
    at: 'src/adapters/dynamodb/table.ts#Table.listReadable',
    change: 'if (!(error instanceof ItemUnreadableError)) throw error;',
    to: 'if (!(error instanceof Error)) throw error;',
    killedBy: 'test/unit/adapters/dynamodb/table.test.ts: a fault of the kind itself',
  },
  'fleet-unknown-order-dropped': {
    bug: 'an order that a newer release wrote is lost with the next step (18.1)',
    at: 'src/adapters/dynamodb/fleet-records.ts#OrdersSchema',
    change: 'const OrdersSchema = v.strictObject({',
    to: 'const OrdersSchema = v.object({',
    killedBy:
      'test/integration/dynamodb/fleet/fleet-rollout-store.test.ts: a field that it does not know',
  },
  'fleet-list-removed-under-a-step': {
    bug: 'a step removes the list that another one is about to name (18.1)',
    at: 'src/adapters/dynamodb/fleet-stores.ts#membersStoredIn',
    change: "!kept.has(id) && Number(id.split('-', 1)[0]) < fleet.version",
    to: "!kept.has(id) && Number(id.split('-', 1)[0]) <= fleet.version",
    killedBy:
      'test/integration/dynamodb/fleet/fleet-rollout-store.test.ts: the DynamoDB store of rollouts of fleets on the local tables',
  },
  'fleet-page-cut-short': {
    bug: 'clusters of a page that is damaged are in no stage, and nobody is told (18.4)',
    at: 'src/adapters/dynamodb/fleet-stores.ts#membersStoredIn',
    change: 'members?.length === expected',
    to: 'members !== undefined && members.length > 0',
    killedBy:
      'test/integration/dynamodb/fleet/fleet-rollout-store.test.ts: the DynamoDB store of rollouts of fleets on the local tables',
  },
  'fleet-former-document-stays': {
    bug: 'each apply leaves a document behind (18.1)',
    at: 'src/adapters/dynamodb/fleet-stores.ts#writeFleet',
    change: '[documentId] : unnamed(former, head.history);',
    to: '[documentId] : [];',
    killedBy: 'test/integration/dynamodb/fleet/fleet-store.test.ts: keeps one document of each',
  },
  'breaker-shares-the-writer': {
    bug: 'the breaker keeps its writer token where META keeps its own',
    at: 'src/adapters/dynamodb/records.ts#BREAKER',
    change: "tokenIn: 'breakerWriter'",
    to: '',
    killedBy:
      'test/unit/adapters/dynamodb/table.test.ts: is written, of META, although the breaker beside it was noted before it was repeated',
  },
  'tokens-under-another-key': {
    bug: 'tokens that act are looked for under another key: every cluster waits for its renewer',
    at: 'src/adapters/dynamodb/records.ts#TOKENS',
    change: "act: 'CREDENTIAL'",
    to: "act: 'ACT-CREDENTIAL'",
    killedBy:
      'test/regression/release-before.test.ts: items of the view and the registry are read by both',
  },
  'states-under-another-key': {
    bug: 'items of a DaemonSet are looked for under another key: every state of the release before is lost',
    at: 'src/adapters/dynamodb/records.ts#daemonSetPartition',
    change: 'return `DS#${ref.clusterUid}/${ref.uid}`;',
    to: 'return `DAEMONSET#${ref.clusterUid}/${ref.uid}`;',
    killedBy:
      'test/regression/release-before.test.ts: items of the view and the registry are read by both',
  },
  'open-authentication': {
    bug: 'a registration may carry fields that nobody knows, such as a command (14 A.3, S12)',
    at: 'src/adapters/dynamodb/registration-schema.ts#AuthenticationSchema',
    change: "v.strictObject({ kind: v.literal('bearer')",
    to: "v.object({ kind: v.literal('bearer')",
    killedBy: 'test/simulation/registry-data.test.ts: a command beside a token',
  },
  'registrations-need-a-new-field': {
    bug: 'a registration without the newest field counts as none: every cluster is lost',
    at: 'src/adapters/dynamodb/registration-schema.ts#RegistrationSchema',
    change: 'takeoverProbedAtMs: v.exactOptional(timeSchema)',
    to: 'takeoverProbedAtMs: timeSchema',
    killedBy:
      'test/regression/release-before.test.ts: items of the view and the registry are read by both',
  },
  'forgotten-watcher-calls-each-hour': {
    bug: 'a watcher that outlives its registration calls somebody with every record',
    at: 'src/adapters/dynamodb/registry-store.ts#ANEW_AFTER_MS',
    to: '1',
    killedBy:
      'test/integration/dynamodb/stores.test.ts: the DynamoDB stores on the local tables (M4, row 62)',
  },
  'fleet-label-change-unseen': {
    bug: 'a label that moves a cluster between stages is seen the next day only (18.2)',
    at: 'src/adapters/dynamodb/registry-store.ts#createFunctionRegistryStore',
    change: "if (written === 'written') await raiseRevision",
    to: "if (written === 'lost') await raiseRevision",
    killedBy: 'test/integration/dynamodb/stores.test.ts: the DynamoDB stores on the local tables',
  },
  'rival-of-any-takeover': {
    bug: 'a rival of a former takeover stops the one that was entered anew (40.7)',
    at: 'src/adapters/dynamodb/registry-store.ts#withRival',
    change: "if (takeover === undefined || noted?.['takeover'] !== takeover) return registration;",
    to: 'if (takeover === undefined || noted === undefined) return registration;',
    killedBy: 'test/integration/dynamodb/stores.test.ts: the DynamoDB stores on the local tables',
  },
  'rebuilt-token-older': {
    bug: 'a token of a rebuilt cluster is older than the one of the cluster before',
    at: 'src/adapters/dynamodb/single-item-stores.ts#createDynamoCredentialStore',
    change:
      "'attribute_not_exists(pk) OR issuedAtMs < :issued OR clusterUid <> :uid', values: { ':issued': token.issuedAtMs, ':uid': token.clusterUid }",
    to: "'attribute_not_exists(pk) OR issuedAtMs < :issued', values: { ':issued': token.issuedAtMs }",
    killedBy:
      'test/integration/dynamodb/stores.test.ts: the DynamoDB stores on the local tables (M4, row 62)',
  },
  'columns-drop-what-is-new': {
    bug: 'a release drops members that a newer one wrote, so that both disagree about hashes',
    at: 'src/adapters/dynamodb/slice-codec.ts#othersAdder',
    change: '(isNone ? object : Object.assign(object, others))',
    to: 'object',
    killedBy: 'test/unit/adapters/dynamodb/slice-columns.test.ts: only a newer release knows',
  },
  'fleet-head-of-another': {
    bug: 'an apply replaces what was made anew under its name (18.1)',
    at: 'src/adapters/dynamodb/table.ts#ifSame',
    change: "expression: 'version = :version AND #uid = :uid'",
    to: "expression: 'version = :version OR #uid = :uid'",
    killedBy:
      'test/integration/dynamodb/fleet/fleet-store.test.ts: replaces nothing that was made anew',
  },
  'position-lost-beside-other': {
    bug: 'of two stamps of which one stands higher already, neither is raised',
    at: 'src/adapters/dynamodb/view-store.ts#raisePosition',
    change: "if (result === 'written' || given.length === 1) return;",
    to: "if (result === 'written' || given.length > 0) return;",
    killedBy:
      'test/integration/dynamodb/stores.test.ts: the DynamoDB stores on the local tables (M4, row 62)',
  },
  'batches-of-eleven': {
    bug: 'hints go in batches of more entries than SQS takes',
    at: 'src/adapters/sqs/hint-queue.ts#BATCH_ENTRIES_MAX',
    to: '11',
    killedBy:
      'test/integration/adapters/sqs/queues.test.ts: take the longest hints and timers that can be',
  },
  'too-large-fails-its-batch': {
    bug: 'one entry that SQS refuses makes those beside it count as refused',
    at: 'src/adapters/sqs/hint-queue.ts#BatchedSender.#sendOnce',
    change: "pending.tell({ kind: 'accepted' });",
    to: "pending.tell(Failed.length > 0 ? { kind: 'refused', code: 'Other' } : { kind: 'accepted' });",
    killedBy:
      'test/integration/adapters/sqs/queues.test.ts: refuse an entry that is too large alone',
  },
  'crowds-take-all-the-room': {
    bug: 'a cluster’s crowd goes through as many lanes as there is room for (security, threats, L3)',
    at: 'src/adapters/sqs/queue-ids.ts#CROWD_LANES',
    to: '50',
    killedBy:
      'test/unit/adapters/sqs/hint-queue.test.ts: sends a crowd through a few lanes, whatever its size (L3, row 61)',
  },
  'one-group-for-all-clusters': {
    bug: 'messages of all clusters stand in one group (security, threats, L3)',
    at: 'src/adapters/sqs/queue-ids.ts#eventGroupId',
    change: 'return fitting(header.cluster);',
    to: "return fitting(header.cluster === '' ? '' : 'all');",
    killedBy:
      'test/unit/adapters/sqs/queue-ids.test.ts: are cluster, and cluster/epoch/incarnation/seq, for events',
  },
  'no-lanes-for-crowds': {
    bug: 'a cluster that hints thousands of keys at once has a group for each of them (14 A.3, L3)',
    at: 'src/adapters/sqs/queue-ids.ts#hintGroupIds',
    change: 'if (keys.length < CROWD_KEYS_MIN) return keys.map(hintGroupId);',
    to: 'if (keys.length >= 0) return keys.map(hintGroupId);',
    killedBy: 'test/simulation/fleets.test.ts: keeps every promise beside a noisy cluster',
  },
  'bodies-of-any-size': {
    bug: 'a body is parsed however long it is (row 25, row 67)',
    at: 'src/adapters/sqs/schema/hint-codec.ts#BODY_LENGTH_MAX',
    to: '8_192_000',
    killedBy: 'test/security/schemas.test.ts: is refused by its length before it is parsed',
  },
  'any-depth-is-parsed': {
    bug: 'texts of a billion values are parsed (row 67, L3)',
    at: 'src/adapters/sqs/schema/watcher-message-codec.ts#PAYLOAD_STRUCTURE',
    to: '{ separatorsMax: 1_000_000_000, depthMax: 200_000_000 }',
    killedBy:
      'test/unit/adapters/sqs/schema/structure-bound.test.ts: row 67: a kilobyte that unpacks to millions of values is refused',
  },
  'messages-need-a-new-field': {
    bug: 'what a watcher of the release before says is refused for the newest field',
    at: 'src/adapters/sqs/schema/watcher-message-codec.ts#changesSchema',
    change: 'affected: v.optional(affectedSchema)',
    to: 'affected: affectedSchema',
    killedBy: 'test/regression/release-before.test.ts: what watchers say is read by both',
  },
  'probes-wait-for-bodies': {
    bug: 'the probe port keeps a connection whose body it does not want (security, threats)',
    at: 'src/adapters/system/http-endpoint.ts#answer',
    change: 'if (!isRead) request.destroy();',
    to: '',
    killedBy:
      'test/integration/adapters/system/http-endpoint.test.ts: reads no body: who sends one is answered and cut off at once',
  },
  'probes-answer-any-method': {
    bug: 'the probe port answers every method (security, threats)',
    at: 'src/adapters/system/http-endpoint.ts#answer',
    change: "request.method === 'GET' || request.method === 'HEAD';",
    to: "request.method !== 'PUT';",
    killedBy:
      'test/integration/watcher/process.test.ts: answers nothing else: no other path, no other method',
  },
  'probes-keep-all-connections': {
    bug: 'the probe port takes connections without end (security, threats)',
    at: 'src/adapters/system/http-endpoint.ts#openHttpEndpoint',
    change: 'server.maxConnections = CONNECTIONS_MAX;',
    to: '',
    killedBy:
      'test/integration/adapters/system/http-endpoint.test.ts: keeps 32 connections, and drops the next one unheard',
  },
  'probes-look-every-half-minute': {
    bug: 'the probe port ends a slow request half a minute late (security, threats)',
    at: 'src/adapters/system/http-endpoint.ts#openHttpEndpoint',
    change: 'connectionsCheckingInterval: Math.min(LOOK_MS, requestMsMax)',
    to: '',
    killedBy:
      'test/integration/adapters/system/http-endpoint.test.ts: waits for no request for long, neither its head nor its body',
  },
  'causes-are-not-redacted': {
    bug: 'causes behind an error reach the log as they are',
    at: 'src/adapters/system/logs.ts#causeFields',
    change: "errorCauses: safeText(behind.join('; '), redactor)",
    to: "errorCauses: behind.join('; ')",
    killedBy: 'test/unit/adapters/system/log.test.ts: into no part of a line (S11, faults 68)',
  },
  'unnamed-is-accepted': {
    bug: 'a hint that the answer of the queue names nowhere counts as accepted, and is lost',
    at: 'src/adapters/sqs/hint-queue.ts#BatchedSender.#sendOnce',
    change: 'if (accepted.has(id))',
    to: 'if (!refusals.has(id))',
    killedBy:
      'test/unit/adapters/sqs/batched-sender.test.ts: takes for accepted only what the answer names so',
  },
};
