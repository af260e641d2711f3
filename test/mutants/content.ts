/** Bugs of content in revisions: a restart out of ignorance, and what must not be told or asked for (ADR 0061). */
import type { PlantedBug } from './planted-bug.ts';

const LOOK = 'src/core/config/look-at-config.ts';
const ROLLOUT_TEST = 'test/property/core/config/config-rollout.test.ts';
const QUIET_TEST = {
  file: 'test/property/core/config/quiet-content.test.ts',
  title: 'nothing that is told of unchanged content restarts a pod',
};
const KEEPER_TEST = 'test/unit/watcher/content/content-keeper.test.ts';
const HASH_TEST = 'test/unit/core/config/content-hash.test.ts';

/** The rows of content. */
export const CONTENT_BUGS: Readonly<Record<string, PlantedBug>> = {
  'content-forgets-unread': {
    bug: 'an object that cannot be read counts as gone, and every node restarts',
    file: LOOK,
    before: 'const hash = told?.hash ?? last.get(text) ?? absent;',
    after: "const hash = told?.hash ?? absent ?? 'gone';",
    killedBy: QUIET_TEST,
  },
  'content-compares-scopes': {
    bug: 'hashes of different objects are compared: another list of names restarts every node',
    file: LOOK,
    before: 'if (known?.scope !== scope) {',
    after: 'if (known === undefined) {',
    killedBy: { file: ROLLOUT_TEST, title: 'by other objects that count' },
  },
  'content-labels-of-any-scope': {
    bug: 'a label of another scope is compared with the present content',
    file: 'src/core/pod/revision.ts',
    before: 'if (label.startsWith(`${config.scope}.`)) return',
    after: "if (label !== '') return",
    killedBy: QUIET_TEST,
  },
  'content-renames-nothing': {
    bug: 'turning content on begins a rollout',
    file: LOOK,
    before:
      'const renamed = isRenamed || before === undefined ? adopted(rollout, input, revision) : rollout;',
    after: 'const renamed = rollout;',
    killedBy: { file: ROLLOUT_TEST, title: 'keeps its record while it is renamed' },
  },
  'content-restored': {
    bug: 'a rollback of content alone makes pods of the same template for ever',
    file: 'src/core/stages/former.ts',
    before: 'return former !== undefined && !isSameTemplate(former.hash, hash);',
    after: 'return former !== undefined;',
    killedBy: {
      file: ROLLOUT_TEST,
      title: 'is halted on its canary, names the object, and rolls nothing back',
    },
  },
  'content-untold-by-former': {
    bug: 'a pod of the former template does not say what content it began with, and is restarted though that came back',
    file: 'src/core/plan/plan.ts',
    before: ': prepareFormer(view.daemonSet, targets.former, targets.content);',
    after: ': prepareFormer(view.daemonSet, targets.former);',
    killedBy: { file: ROLLOUT_TEST, title: 'a pod of the former template says what it began with' },
  },
  'content-rolled-back-for-ever': {
    bug: 'a rollback takes pods of the former template away for content that was halted, and makes the same again, for ever',
    file: 'src/core/stages/known-bad.ts',
    before: 'if (former !== undefined && config !== undefined) {',
    after: 'if (former !== undefined && config === null) {',
    killedBy: {
      file: ROLLOUT_TEST,
      title: 'a rollback to a template whose pods begin with content that was halted',
    },
  },
  'content-of-one-version': {
    bug: 'a run is skipped where content changed and the DaemonSet did not',
    file: 'src/app/reconcile/read/skip.ts',
    before: "  'contentHash',\n",
    after: '',
    killedBy: {
      file: 'test/unit/app/reconcile/staged-content.test.ts',
      title: 'is rolled out step by step',
    },
  },
  'content-confirms-by-template': {
    bug: 'a live read before a delete looks at the template alone, so no content is ever rolled out',
    file: 'src/app/reconcile/confirm/confirm.ts',
    before: '    ...defined({ content: plan.content }),\n',
    after: '',
    killedBy: {
      file: 'test/unit/app/reconcile/staged-content.test.ts',
      title: 'is rolled out step by step',
    },
  },
  'content-without-key': {
    bug: 'hashes need no key: a short Secret is found by trying',
    file: 'src/core/config/content-hash.ts',
    before: 'return bytesToHex(hmac(sha256, bytes, utf8ToBytes(text)));',
    after: 'return plain(text);',
    killedBy: { file: HASH_TEST, title: 'need the key: nobody tries words without it' },
  },
  'content-read-unasked': {
    bug: 'content is read for DaemonSets whose policy does not ask for it',
    file: 'src/watcher/content/content-keeper.ts',
    before: "return typeof text === 'string' && text.includes('config');",
    after: 'return true;',
    killedBy: { file: KEEPER_TEST, title: 'costs nothing while nobody asks' },
  },
  'content-of-any-key': {
    bug: 'a key is not told from the one before it: whoever makes it anew restarts every node',
    file: 'src/core/config/content-hash.ts',
    before:
      "return { bytes, id: keyed(bytes, 'rollcall config key').slice(0, KEY_ID_CHARACTERS) };",
    after: "return { bytes, id: '0'.repeat(KEY_ID_CHARACTERS) };",
    killedBy: {
      file: 'test/simulation/content.test.ts',
      title: 'restarts nobody out of ignorance',
    },
  },
};
