/** Planted bugs of what tests judge by, and the stand-ins (table.ts), by the file that they change. */
import type { PlantedBugs } from './planted-bug.ts';

/** The rows by name. */
export const TEST_BUGS: PlantedBugs = {
  'second-terminal-readable-by-all': {
    bug: 'a file of npm start that was there keeps the rights of others to read the keys in it (40.6)',
    at: 'packages/local-aws/src/deployment/owner-file.ts#writeOwnerFile',
    change:
      "rmSync(file, { force: true }); writeFileSync(file, text, { mode: OWNER_ONLY, flag: 'wx' });",
    to: 'writeFileSync(file, text, { mode: OWNER_ONLY });',
    killedBy: 'test/security/second-user.test.ts: shows another user of the machine no file',
  },
  'tables-take-an-unused-placeholder': {
    bug: 'the local table does a write that DynamoDB refuses, since it has a placeholder that nothing uses',
    at: 'packages/local-aws/src/dynamodb/expressions.ts#Expressions.end',
    change: 'if (unused.length === 0) return;',
    to: 'return;',
    killedBy:
      'packages/local-aws/test/unit/dynamodb/expressions.test.ts: placeholders that nothing used',
  },
  'tables-change-a-key': {
    bug: 'a statement to the local table makes an item whose key is not its own',
    at: 'packages/local-aws/src/dynamodb/expressions.ts#Reader.updates',
    change: "if (KEY.has(read[0] ?? '')) {",
    to: "if (KEY.has('')) {",
    killedBy: 'test/integration/local-aws/batch-statements.test.ts: changes a key',
  },
  'local-keys-by-name': {
    bug: 'the local AWS takes the name of an access key for the key (40.6)',
    at: 'packages/local-aws/src/iam/authorizer.ts#Authorizer.signerOf',
    change: 'return isSignedWith(key, request, claim) ? claim.accessKey : undefined;',
    to: 'return isSignedWith(key, request, claim) || key.length > 0 ? claim.accessKey : undefined;',
    killedBy: 'test/security/second-user.test.ts: answers none who was not given the key',
  },
  'unknown-conditions-hold': {
    bug: 'the local judge of rights takes a condition that it does not know (security, rights in AWS)',
    at: 'packages/local-aws/src/iam/policy.ts#statementSchema',
    change: 'const statementSchema = v.strictObject({',
    to: 'const statementSchema = v.looseObject({',
    killedBy:
      'packages/local-aws/test/unit/iam/policy.test.ts: is refused where it says what is not understood',
  },
  'engine-crash-is-no-failure': {
    bug: 'an engine that crashes by itself passes a run of chaos',
    at: 'test/conformance/chaos/report.ts#failuresOf',
    change: 'engine: engineOwnEnds }',
    to: 'engine: Math.min(0, engineOwnEnds) }',
    killedBy: 'test/conformance/chaos/report.test.ts: ended by itself',
  },
  'fields-are-never-drawn': {
    bug: 'no scenario selects nodes by matchFields',
    at: 'test/differential/generate-kinds.ts#drawFields',
    change: "operator: model.seeded.pick(['In', 'NotIn', 'NotIn'] as const), nodes }",
    to: "operator: model.seeded.pick(['NotIn', 'NotIn', 'NotIn'] as const), nodes }",
    killedBy: 'test/unit/differential/generate.test.ts: into one scenario of ten, at least',
  },
  'judge-refuses-everything': {
    bug: 'the compiler refuses all survivors of an area that reads another project',
    at: 'test/mutation/compiler-judge.ts#CompilerJudge.constructor',
    change: 'rootDir: path.parse(path.resolve(configFile)).root',
    to: 'rootDir: path.dirname(path.resolve(configFile))',
    killedBy:
      'test/unit/mutation/compiler-judge.nightly.test.ts: reads a source of another project',
  },
  'pace-forgets-children': {
    bug: 'only the threads of the test itself are ours, not those of the programs it started',
    at: 'test/support/own-threads.ts#treeOf',
    change: 'left.push(...(children.get(entry.pid) ?? []));',
    to: 'children.get(entry.pid);',
    killedBy: 'test/unit/support/own-threads.test.ts: and of its children',
  },
  'few-receives': {
    bug: 'messages are given up while a table is throttled (14 A.3, protocol 23)',
    at: 'test/support/simulation/queues.ts#SimulatedQueues.constructor',
    change: 'visibility: 20, receivesMax: 1000',
    to: 'visibility: 20, receivesMax: 5',
    killedBy: 'test/simulation/protocol.test.ts: protocol 23: a throttled table',
  },
  'faults-that-never-fire-pass': {
    bug: 'a trial passes although its fault never fired (M1)',
    at: 'test/support/systematic/trial.ts#playTrial',
    change: 'if (installed.fired() === undefined) {',
    to: "if (installed.fired() === 'never') {",
    killedBy:
      'test/simulation/systematic/passages.test.ts: M1, row 16: a plan that matches no passage',
  },
  'anybody-may-read-the-bucket': {
    bug: 'the rules of the template let a policy open the bucket of deployments (security, rights in AWS)',
    at: 'test/support/template/function-rules.ts#bucket',
    change: "(statement) => at(statement, 'Effect') !== 'Deny'",
    to: "(statement) => at(statement, 'Effect') === 'None'",
    killedBy: 'test/security/template.test.ts: a policy that lets others read',
  },
};
