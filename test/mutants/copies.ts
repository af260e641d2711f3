/** Bugs of the copies of proven templates: which is written, over what, and what a pod says of them (ADR 0063). */
import type { PlantedBug } from './planted-bug.ts';

const PLAN_TEST = 'test/unit/core/admission/plan-copy.test.ts';
const KEEP = 'src/app/reconcile/admission/keep-copy.ts';
const FORMER_TEST = 'test/unit/app/reconcile/admission/former-copy.test.ts';
const TROUBLE_TEST = 'test/unit/app/reconcile/admission/copy-trouble.test.ts';
const KEEP_TEST = 'test/unit/app/reconcile/admission/keep-copy.test.ts';

/** The rows of copies. */
export const COPY_BUGS: Readonly<Record<string, PlantedBug>> = {
  'copies-overwrite-the-former': {
    bug: 'the copy of the former revision is written over, and a late breach leads nowhere',
    file: 'src/core/admission/plan-copy.ts',
    before: '.filter((slot) => slot !== needed);',
    after: ".filter((slot) => slot !== needed || slot === 'a').slice(0, 1);",
    killedBy: { file: PLAN_TEST, title: 'leaves the former revision’s alone' },
  },
  'copies-take-what-is-not-theirs': {
    bug: 'an object of somebody else’s is written over',
    file: KEEP,
    before: 'if (!isCopyOfOwner(found, input.stored.ref.uid)) {',
    after: "if (!isCopyOfOwner(found, input.stored.ref.uid) && name === '') {",
    killedBy: { file: KEEP_TEST, title: 'is never written over an object of somebody else' },
  },
  'copies-of-an-edited-template': {
    bug: 'a template that was edited since it was seen is copied as the proven one',
    file: KEEP,
    before: 'import { readPlanned } from',
    after: 'import { readPresent as readPlanned } from',
    killedBy: { file: KEEP_TEST, title: 'is not written of a template that was edited' },
  },
  'copies-unsaid': {
    bug: 'a pod of a former revision does not say which copy it is of, and admission refuses it',
    file: 'src/core/pod/pod-template.ts',
    before: 'labels: { ...own, ...labels } }',
    after: 'labels: { ...own } }',
    killedBy: { file: KEEP_TEST, title: 'a rollback returns the canary' },
  },
  'copies-past-the-deadline': {
    bug: 'a copy is written after the time of its run',
    file: KEEP,
    before: "if (fence.kind === 'stop') {",
    after: "if (fence.kind === 'stop' && step.stateVersion < 0) {",
    killedBy: {
      file: TROUBLE_TEST,
      title: 'is not begun once the time of its run is over by ',
    },
  },
  'copies-held-by-a-conflict': {
    bug: 'a copy that somebody else wrote meanwhile is taken for the one that was to be written',
    file: KEEP,
    before: "case 'done':\n      noteHeld",
    after: "case 'done':\n    case 'conflict':\n      noteHeld",
    killedBy: { file: TROUBLE_TEST, title: 'that meets another version' },
  },
  'copies-forgotten': {
    bug: 'after a lost state pods of the former revision go unmarked, and admission refuses them',
    file: 'src/app/reconcile/admission/mark-former.ts',
    before: "if (found !== undefined) return { kind: 'found', slot: found.slot };",
    after: '',
    killedBy: { file: FORMER_TEST, title: 'is found by what it says' },
  },
  'copies-over-the-forgotten': {
    bug: 'after a lost state the copy of the former revision is written over',
    file: KEEP,
    before: 'if (hashOfCopy(found) === hash) return YES;',
    after: 'if (hashOfCopy(found) === hash) return NO;',
    killedBy: { file: FORMER_TEST, title: 'is not written over by the next revision' },
  },
  'copies-over-another-hash': {
    bug: 'the copy of the former revision is written over, once that one has another hash for the same template',
    file: KEEP,
    before: "read.kind === 'found' && holdsTemplate(found, read.former.template) ? YES : NO",
    after: 'NO',
    killedBy: { file: FORMER_TEST, title: 'nor where its revision got another hash' },
  },
  'copies-over-the-unread': {
    bug: 'a former revision that cannot be read at this moment has its copy written over',
    file: KEEP,
    before: "return { kind: 'unknown', message: read.message };",
    after: 'return NO;',
    killedBy: { file: FORMER_TEST, title: 'nor while that cannot be read' },
  },
  'copies-unread-for-hours': {
    bug: 'a node whose former revision could not be read waits until somebody looks again',
    file: 'src/app/reconcile/history/former.ts',
    before: "if (template?.kind === 'unavailable') {",
    after: "if (template?.kind === 'unavailable' && template.message === '') {",
    killedBy: { file: FORMER_TEST, title: 'is asked for again where it could not be read' },
  },
};
