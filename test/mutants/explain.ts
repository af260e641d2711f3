/**
 * Bugs by which verdicts say what no run does: each leaves out one thing that keeps a run from acting (ADR 0047).
 */
import type { PlantedBug } from './planted-bug.ts';

const EXPLAIN = 'src/app/explain/explain.ts';
const EXPLAIN_TEST = 'test/unit/app/explain/explain.test.ts';

/** The rows of explaining. */
export const EXPLAIN_BUGS: Readonly<Record<string, PlantedBug>> = {
  'explain-without-freeze': {
    bug: 'verdicts of a frozen cluster say that pods are being created (issue 16)',
    file: EXPLAIN,
    before: 'const registered = guardOfSubject(registration, daemonSet, frozen);',
    after: "const registered = { kind: 'act' } as Guard;",
    killedBy: { file: EXPLAIN_TEST, title: 'tells that a frozen cluster waits, and why' },
  },
  'explain-without-sentinel': {
    bug: 'verdicts of a takeover without its sentinel say that pods are being created (ADR 0033)',
    file: EXPLAIN,
    before: 'return seen === undefined || seen.object === null;',
    after: 'return seen !== undefined && seen.object === null;',
    killedBy: { file: EXPLAIN_TEST, title: 'tells that a takeover without its sentinel waits' },
  },
  'explain-before-a-run': {
    bug: 'verdicts of a DaemonSet that nobody looked at yet are those of a lost state (protocol 6)',
    file: EXPLAIN,
    before: '  if (stored.state === undefined) return undefined;\n',
    after: '',
    killedBy: { file: EXPLAIN_TEST, title: 'tells nothing before a run has looked' },
  },
  'explain-without-silence': {
    bug: 'verdicts forget that a silent watcher is waited for (protocol 1)',
    file: EXPLAIN,
    before: '?? doubt ?? registered;',
    after: '?? registered;',
    killedBy: { file: EXPLAIN_TEST, title: 'tells that a silent watcher is waited for' },
  },
  'explain-without-outage': {
    bug: 'verdicts of a cluster that does not answer say that pods are being created (L3)',
    file: EXPLAIN,
    before:
      "  if (isOpen(stored.meta.breaker, nowMs)) return UNAVAILABLE['cluster-unavailable'];\n  return UNAVAILABLE[state.retry?.code ?? ''] ?? doubt",
    after: '  return doubt',
    killedBy: {
      file: 'test/unit/app/isolation/breaker.test.ts',
      title: 'says in the verdicts why there is no pod',
    },
  },
};
