/**
 * Bugs of pods that are watched in protobuf (ADR 0075): what is read of bytes, and what becomes of a stream that is garbled.
 */
import type { PlantedBug } from './planted-bug.ts';

const MESSAGE = 'src/adapters/kubernetes/protobuf/message.ts';
const MESSAGE_TEST = 'test/unit/adapters/kubernetes/protobuf/message.test.ts';
const FORMS = 'src/adapters/kubernetes/protobuf/forms.ts';
const FORMS_TEST = 'test/unit/adapters/kubernetes/protobuf/forms.test.ts';
const EVENTS = 'src/adapters/kubernetes/watch/protobuf-events.ts';
const EVENTS_TEST = 'test/unit/adapters/kubernetes/watch/protobuf-events.test.ts';
const SOURCE = 'src/adapters/kubernetes/watch/watch-source.ts';
const SOURCE_TEST = 'test/integration/adapters/kubernetes/watch/watch-source.test.ts';

/** The rows of protobuf. */
export const PROTOBUF_BUGS: Readonly<Record<string, PlantedBug>> = {
  'protobuf-numbers-without-a-sign': {
    bug: 'a container that ended by a negative code is told to have ended by one of twenty digits',
    file: MESSAGE,
    before: 'this.#high * TWO_TO_32',
    after: '(this.#high >>> 0) * TWO_TO_32',
    killedBy: { file: MESSAGE_TEST, title: 'numbers are signed' },
  },
  'protobuf-time-of-nobody': {
    bug: 'a pod without a deletionTimestamp is on its way out since 1970: it is replaced beside itself (S2)',
    file: MESSAGE,
    before: "typeof seconds === 'number' && seconds !== 0 ? timeText(seconds) : ''",
    after: "typeof seconds === 'number' ? timeText(seconds) : timeText(0)",
    killedBy: { file: MESSAGE_TEST, title: 'a time that is none' },
  },
  'protobuf-reads-beyond-its-message': {
    bug: 'a field that claims to be longer than its message takes bytes of the next one',
    file: MESSAGE,
    before: 'if (this.#high !== 0 || length > end - this.#at) {',
    after: 'if (this.#high !== 0) {',
    killedBy: { file: MESSAGE_TEST, title: 'what is no message is refused' },
  },
  'protobuf-label-becomes-a-prototype': {
    bug: 'a label changes what every object of the watcher inherits',
    file: MESSAGE,
    before:
      "if (key === '__proto__') Object.defineProperty(texts, key, { ...MEMBER, value });\n    else texts[key] = value;",
    after: 'texts[key] = value;',
    killedBy: { file: MESSAGE_TEST, title: 'a key that objects have by themselves' },
  },
  'protobuf-field-of-another-number': {
    bug: 'the reason of a pod is read where its message stands',
    file: FORMS,
    before: "  4: text('reason'),\n  8: listOf(",
    after: "  3: text('reason'),\n  8: listOf(",
    killedBy: { file: FORMS_TEST, title: 'those of the generated code' },
  },
  'protobuf-field-left-out': {
    bug: 'when a pod became ready is not read: it counts as available at once, minReadySeconds or not',
    file: FORMS,
    before: "  4: time('lastTransitionTime'),\n",
    after: '',
    killedBy: { file: FORMS_TEST, title: 'nothing is read of a pod that the form leaves out' },
  },
  'protobuf-foreign-pods-whole': {
    bug: 'pods of others are read whole: nine of ten, which nobody looks at',
    file: EVENTS,
    before:
      "hasForeignController(metadata['ownerReferences']) ? { metadata } : readMessage(POD, raw)",
    after: 'metadata === undefined ? {} : readMessage(POD, raw)',
    killedBy: { file: EVENTS_TEST, title: 'something else controls' },
  },
  'protobuf-object-of-another-kind': {
    bug: 'an error that is told as an object is kept as a pod without a name',
    file: EVENTS,
    before: "  if (kind !== 'Pod') return undefined;\n",
    after: '',
    killedBy: { file: EVENTS_TEST, title: 'what is no event of a pod' },
  },
  'protobuf-bookmark-without-its-end': {
    bug: 'initial events never end: the kind is listed by pages for ever after',
    file: FORMS,
    before: ", 12: { name: 'annotations', as: 'texts' } }",
    after: ' }',
    killedBy: { file: EVENTS_TEST, title: 'a bookmark tells' },
  },
  'protobuf-garbled-for-ever': {
    bug: 'behind a proxy that garbles protobuf the watcher lists all pods again and again',
    file: SOURCE,
    before: "if (stream.form === 'protobuf') this.#isProtobufRead = false;",
    after: '',
    killedBy: { file: SOURCE_TEST, title: 'is the last that is asked for' },
  },
  'protobuf-by-what-was-asked-for': {
    bug: 'a server that has JSON alone is read as protobuf, and no pod is ever known',
    file: 'src/adapters/kubernetes/transport/answer-forms.ts',
    before: 'return contentType !== undefined && contentType.startsWith(PROTOBUF);',
    after: 'return contentType !== undefined;',
    killedBy: { file: SOURCE_TEST, title: 'pods are asked for in protobuf' },
  },
};
