/**
 * Bugs that contradict what docs/security.md claims: for claims that a program drew (scripts/draw-claims.ts at 366e927,
 * seed 366927), the test that each claim leans on has to fail.
 */
import type { PlantedBug } from './planted-bug.ts';

/** Rights, manifests, what listens, and what judges them. */
export const SECURITY_CLAIM_BUGS: Readonly<Record<string, PlantedBug>> = {
  'requeue-may-send-events': {
    bug: 'requeue may send to the events queue (security, rights in AWS)',
    file: 'infra/roles.yml',
    before:
      'Sid: ForwardOrHop\n                Effect: Allow\n                Action: sqs:SendMessage\n                Resource: [',
    after:
      'Sid: ForwardOrHop\n                Effect: Allow\n                Action: sqs:SendMessage\n                Resource: [!GetAtt EventsQueue.Arn, ',
    killedBy: {
      file: 'test/security/iam.test.ts',
      title: 'does everything under its role, and uses every right',
    },
  },
  'dead-letter-may-write-state': {
    bug: 'dead-letter may change states (security, rights in AWS)',
    file: 'infra/roles.yml',
    before:
      "Resource: !GetAtt ViewTable.Arn\n                Condition:\n                  ForAllValues:StringLike:\n                    dynamodb:LeadingKeys: ['CLUSTER#*']\n              - Sid: Logs\n                Effect: Allow\n                Action:\n                  - logs:CreateLogStream\n                  - logs:PutLogEvents\n                Resource: !GetAtt DeadDashletterLogGroup.Arn",
    after:
      "Resource: !GetAtt ViewTable.Arn\n                Condition:\n                  ForAllValues:StringLike:\n                    dynamodb:LeadingKeys: ['CLUSTER#*', 'DS#*']\n              - Sid: Logs\n                Effect: Allow\n                Action:\n                  - logs:CreateLogStream\n                  - logs:PutLogEvents\n                Resource: !GetAtt DeadDashletterLogGroup.Arn",
    killedBy: {
      file: 'test/security/iam.test.ts',
      title: 'does everything under its role, and uses every right',
    },
  },
  'requeue-polls-two-queues': {
    bug: 'requeue may take messages of reconcile (security, rights in AWS)',
    file: 'infra/roles.yml',
    before: 'Resource: !GetAtt DelayQueue.Arn\n              - Sid: ForwardOrHop',
    after:
      'Resource: [!GetAtt DelayQueue.Arn, !GetAtt ReconcileQueue.Arn]\n              - Sid: ForwardOrHop',
    killedBy: {
      file: 'test/security/iam.test.ts',
      title: 'give every mapping its own queue and nothing else to poll',
    },
  },
  'rivals-may-be-deleted': {
    bug: 'reconcile may delete notes of rivals (security, rights in AWS)',
    file: 'infra/roles.yml',
    before:
      '- Sid: NoteRival\n                Effect: Allow\n                Action: dynamodb:PutItem\n',
    after:
      '- Sid: NoteRival\n                Effect: Allow\n                Action: [dynamodb:PutItem, dynamodb:DeleteItem]\n',
    killedBy: {
      file: 'test/security/iam.test.ts',
      title: 'does everything under its role, and uses every right',
    },
  },
  'a-function-has-an-address': {
    bug: 'anybody may call requeue by an address of its own (security, rights in AWS)',
    file: 'serverless.yml',
    before: 'handler: dist/functions/requeue/handler.handler\n',
    after: 'handler: dist/functions/requeue/handler.handler\n    url: true\n',
    killedBy: {
      file: 'test/security/template.test.ts',
      title: 'there is no public endpoint, nor anything of a kind that nobody has judged',
    },
  },
  'unknown-conditions-hold': {
    bug: 'the local judge of rights takes a condition that it does not know (security, rights in AWS)',
    file: 'packages/local-aws/src/iam/policy.ts',
    before: 'const statementSchema = v.strictObject({',
    after: 'const statementSchema = v.looseObject({',
    killedBy: {
      file: 'packages/local-aws/test/unit/iam/policy.test.ts',
      title: 'is refused where it says what is not understood',
    },
  },
  'anybody-may-read-the-bucket': {
    bug: 'the rules of the template let a policy open the bucket of deployments (security, rights in AWS)',
    file: 'test/support/template/function-rules.ts',
    before: "(statement) => at(statement, 'Effect') !== 'Deny',",
    after: "(statement) => at(statement, 'Effect') === 'None',",
    killedBy: {
      file: 'test/security/template.test.ts',
      title: 'a policy that lets others read',
    },
  },
  'probes-keep-all-connections': {
    bug: 'the probe port takes connections without end (security, threats)',
    file: 'src/adapters/system/http-endpoint.ts',
    before: '  server.maxConnections = CONNECTIONS_MAX;\n',
    after: '',
    killedBy: {
      file: 'test/integration/adapters/system/http-endpoint.test.ts',
      title: 'keeps 32 connections, and drops the next one unheard',
    },
  },
  'probes-look-every-half-minute': {
    bug: 'the probe port ends a slow request half a minute late (security, threats)',
    file: 'src/adapters/system/http-endpoint.ts',
    before: '      connectionsCheckingInterval: Math.min(LOOK_MS, requestMsMax),\n',
    after: '',
    killedBy: {
      file: 'test/integration/adapters/system/http-endpoint.test.ts',
      title: 'waits for no request for long, neither its head nor its body',
    },
  },
  'probes-wait-for-bodies': {
    bug: 'the probe port keeps a connection whose body it does not want (security, threats)',
    file: 'src/adapters/system/http-endpoint.ts',
    before: '  if (!isRead) request.destroy();\n',
    after: '',
    killedBy: {
      file: 'test/integration/adapters/system/http-endpoint.test.ts',
      title: 'reads no body: who sends one is answered and cut off at once',
    },
  },
  'probes-answer-any-method': {
    bug: 'the probe port answers every method (security, threats)',
    file: 'src/adapters/system/http-endpoint.ts',
    before: "request.method === 'GET' || request.method === 'HEAD';",
    after: "request.method !== 'PUT';",
    killedBy: {
      file: 'test/integration/watcher/process.test.ts',
      title: 'answers nothing else: no other path, no other method',
    },
  },
  'probes-quote-an-api-server-whole': {
    bug: '/readyz shows whatever an API server said (security, threats, S11)',
    file: 'src/watcher/main.ts',
    before: '.slice(0, PROBLEM_LENGTH_MAX),',
    after: '.slice(0),',
    killedBy: {
      file: 'test/integration/watcher/process.test.ts',
      title: 'of what an API server says it tells little',
    },
  },
  'on-call-writes-registrations': {
    bug: 'who is on call may write registrations, too (security, operators)',
    file: 'infra/operators.yml',
    before: "dynamodb:LeadingKeys: ['FREEZE#*']",
    after: "dynamodb:LeadingKeys: ['FREEZE#*', 'CLUSTER#*']",
    killedBy: {
      file: 'test/security/operators.test.ts',
      title: 'writes no other partition of either table',
    },
  },
  'probes-tell-tokens': {
    bug: '/readyz shows a token that an API server echoes (security, threats, S11)',
    file: 'src/watcher/main.ts',
    before: 'safeText(problem, redactor)',
    after: 'problem',
    killedBy: {
      file: 'test/integration/watcher/process.test.ts',
      title: 'of what an API server says it tells little',
    },
  },
  'refused-creates-do-not-say-why': {
    bug: 'the Event about a pod that a policy refuses does not say why (security, sidecars)',
    file: 'src/app/reconcile/execute/note-outcomes.ts',
    before: ': createFailedEvent(creation.said ?? creation.message),',
    after: ": createFailedEvent('refused'),",
    killedBy: {
      file: 'test/unit/app/reconcile/execution-rules.test.ts',
      title: 'of some nodes do not stop the others, and back off per node',
    },
  },
  'one-group-for-all-clusters': {
    bug: 'messages of all clusters stand in one group (security, threats, L3)',
    file: 'src/adapters/sqs/queue-ids.ts',
    before: 'return fitting(header.cluster);',
    after: "return fitting(header.cluster === '' ? '' : 'all');",
    killedBy: {
      file: 'test/unit/adapters/sqs/queue-ids.test.ts',
      title: 'are cluster, and cluster/epoch/incarnation/seq, for events',
    },
  },
  'crowds-take-all-the-room': {
    bug: 'a cluster’s crowd goes through as many lanes as there is room for (security, threats, L3)',
    file: 'src/adapters/sqs/queue-ids.ts',
    before: 'const CROWD_LANES = 12;',
    after: 'const CROWD_LANES = 50;',
    killedBy: {
      file: 'test/unit/adapters/sqs/hint-queue.test.ts',
      title: 'sends a crowd through a few lanes, whatever its size (L3, row 61)',
    },
  },
  'the-lease-takes-owners': {
    bug: 'a stolen credential has the watcher’s Lease collected by an owner (security, beside pods)',
    file: 'infra/admission/policy.yaml',
    before:
      "oldObject.metadata.?ownerReferences.orValue([]) &&\n        object.metadata.?finalizers.orValue([]) == oldObject.metadata.?finalizers.orValue([]) &&\n        variables.newAnnotations.all(k, k == 'rollcall.dev/snapshot-requested'",
    after:
      "object.metadata.?ownerReferences.orValue([]) &&\n        object.metadata.?finalizers.orValue([]) == oldObject.metadata.?finalizers.orValue([]) &&\n        variables.newAnnotations.all(k, k == 'rollcall.dev/snapshot-requested'",
    killedBy: {
      file: 'test/conformance/rights/other-objects.test.ts',
      title: 'lets a snapshot be asked for, and nothing else be changed',
    },
  },
  'watchers-read-any-namespace': {
    bug: 'a watcher may read every namespace, not kube-system alone (security, rights)',
    file: 'infra/watcher/rbac.yaml',
    before: '    resourceNames: [kube-system]\n',
    after: '',
    killedBy: {
      file: 'test/unit/infra/watcher-rights.test.ts',
      title: 'gets kube-system, and keeps its own Lease: nothing else',
    },
  },
  'refusals-are-not-counted': {
    bug: 'what an API server refuses counts in no metric (security, rights in a cluster)',
    file: 'src/app/isolation/reported-access.ts',
    before: "    metrics.count('ClusterRefusals', { outcome: code });\n",
    after: '',
    killedBy: {
      file: 'test/unit/app/isolation/reported-access.test.ts',
      title: 'tells of refused effects: a line for each kind and code, a metric for each',
    },
  },
  'local-keys-by-name': {
    bug: 'the local AWS takes the name of an access key for the key (40.6)',
    file: 'packages/local-aws/src/iam/authorizer.ts',
    before: 'return isSignedWith(key, request, claim) ? claim.accessKey : undefined;',
    after:
      'return isSignedWith(key, request, claim) || key.length > 0 ? claim.accessKey : undefined;',
    killedBy: {
      file: 'test/security/second-user.test.ts',
      title: 'answers none who was not given the key',
    },
  },
  'second-terminal-readable-by-all': {
    bug: 'a file of npm start that was there keeps the rights of others to read the keys in it (40.6)',
    file: 'packages/local-aws/src/deployment/owner-file.ts',
    before:
      "rmSync(file, { force: true });\n  writeFileSync(file, text, { mode: OWNER_ONLY, flag: 'wx' });",
    after: 'writeFileSync(file, text, { mode: OWNER_ONLY });',
    killedBy: {
      file: 'test/security/second-user.test.ts',
      title: 'shows another user of the machine no file',
    },
  },
  'start-goes-by-the-umask': {
    bug: 'files of npm start are made with the rights that the umask leaves (40.6)',
    file: 'src/cli/process/working-directory.ts',
    before: '  process.umask(OWNER_MASK);\n',
    after: '',
    killedBy: {
      file: 'test/security/second-user.test.ts',
      title: 'shows another user of the machine no file',
    },
  },
  'local-servers-answer-browsers': {
    bug: 'servers on 127.0.0.1 answer pages of other origins (40.6)',
    file: 'packages/base/src/system/local-caller.ts',
    before: 'if (origin !== undefined)',
    after: "if (origin === 'nobody')",
    killedBy: {
      file: 'test/integration/local-aws/strangers.test.ts',
      title: 'refuses a browser in a sentence',
    },
  },
};
