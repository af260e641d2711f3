/** Planted bugs of what is counted of coverage (table.ts), by the file that they change. */
import type { PlantedBugs } from './planted-bug.ts';

/** The rows by name. */
export const COVERAGE_BUGS: PlantedBugs = {
  'silence-is-covered': {
    bug: 'time after the last message of a silent watcher is told as covered (45.3)',
    at: 'src/core/coverage/spans.ts#unknownSpans',
    change: '...since(lastSentAtMs, SILENT_AFTER_MS),',
    to: '',
    killedBy: 'test/unit/core/coverage/spans.test.ts: is what lies after the last message',
  },
  'dark-time-is-covered': {
    bug: 'a silence that is over is told as covered (45.3)',
    at: 'src/core/coverage/spans.ts#spansSince',
    change: 'Math.ceil(heardOfMs / 1000)',
    to: 'Math.min(0, heardOfMs)',
    killedBy: 'test/simulation/coverage.test.ts: S20: is what really was',
  },
  'stops-are-covered': {
    bug: 'time in which the stack was stopped is told as covered (45.3)',
    at: 'src/core/coverage/spans.ts#unknownSpans',
    change: '...stops,',
    to: '',
    killedBy: 'test/unit/core/coverage/spans.test.ts: is what stops cover',
  },
  'late-runs-know-all': {
    bug: 'a run that comes hours late tells the time before it as covered (45.3)',
    at: 'src/core/coverage/spans.ts#unknownSpans',
    change: '...since(dueAtMs, MISSED_AFTER_MS),',
    to: '',
    killedBy: 'test/unit/core/coverage/spans.test.ts: is what follows a due time',
  },
  'unknown-adds-to-covered': {
    bug: 'unknown time is added to the covered time (45.3)',
    at: 'src/core/coverage/count-coverage.ts#addSpans',
    change: ': [0, 0, eligible * seconds];',
    to: ': [eligible * seconds];',
    killedBy:
      'test/unit/cli/coverage/coverage-command.test.ts: knows nothing of the time since the watcher',
  },
  'ending-pods-serve': {
    bug: 'a pod that is being deleted serves its node (45.3)',
    at: 'src/core/coverage/see-nodes.ts#isServing',
    change: 'isReady && !isTerminating && ownerUid',
    to: 'isReady && ownerUid',
    killedBy: 'test/unit/core/coverage/see-nodes.test.ts: counts an eligible node as covered',
  },
  'halted-releases-serve': {
    bug: 'pods of a halted release count as covered (45.3)',
    at: 'src/core/coverage/see-nodes.ts#isApproved',
    change: 'breach !== undefined',
    to: "breach?.cause === 'KnownBad'",
    killedBy: 'test/unit/core/coverage/see-nodes.test.ts: is a revision',
  },
  'open-days-leave': {
    bug: 'a day leaves the state before it is over, and what follows of it is lost (45.3)',
    at: 'src/core/coverage/kept-days.ts#leavingDays',
    change: 'newest - Math.floor(stored.at / DAY) + 1',
    to: '1',
    killedBy: 'test/unit/core/coverage/spans.test.ts: leave a state a week at a time',
  },
  'percentiles-too-low': {
    bug: 'a percentile is the lower bound of its range (45.3)',
    at: 'src/core/coverage/time-to-daemon.ts#timeToDaemon',
    change: 'BUCKET_SECONDS[bucket]',
    to: 'BUCKET_SECONDS[bucket - 1]',
    killedBy: 'test/unit/core/coverage/spans.test.ts: is told as the upper bound of a range',
  },
  'run-counts-beyond-its-view': {
    bug: 'a run counts coverage until now, though its view is as of the last message (45.3)',
    at: 'src/app/coverage/note-coverage.ts#noteCoverage',
    change: 'const untilMs = Math.min(nowMs, viewAtMs);',
    to: 'const untilMs = nowMs;',
    killedBy: 'test/simulation/coverage.test.ts: S20: is what really was',
  },
  'days-are-dropped': {
    bug: 'days of coverage leave the state though they got no item (45.3)',
    at: 'src/app/coverage/note-coverage.ts#keepDays',
    change: 'putCoverageDays(ref.clusterUid, days);',
    to: 'putCoverageDays(ref.clusterUid, days).catch(() => undefined);',
    killedBy: 'test/unit/app/coverage/note-coverage.test.ts: keeps the days in the state',
  },
  'live-reads-are-counted': {
    bug: 'pods that a run read live are counted beside nodes of long ago (S20)',
    at: 'src/app/coverage/note-coverage.ts#toldView',
    change: 'pods: shown, nowMs',
    to: 'pods: read.pods, nowMs',
    killedBy: 'test/unit/app/coverage/note-coverage.test.ts: counts what the watcher told',
  },
  'views-of-two-moments-count': {
    bug: 'nodes of one moment are counted beside pods of another (S20)',
    at: 'src/core/coverage/view-moment.ts#momentOfView',
    change: 'isOfOne && !isCutOpen',
    to: '!isCutOpen',
    killedBy: 'test/unit/app/coverage/note-coverage.test.ts: counts nothing of a view in which',
  },
  'told-late-counts-as-new': {
    bug: 'a message that comes an hour late is counted as of its arrival (S20)',
    at: 'src/app/coverage/note-coverage.ts#noteCoverage',
    change: 'Math.min(nowMs, viewAtMs)',
    to: 'Math.min(nowMs, lastSentAtMs)',
    killedBy: 'test/unit/app/coverage/note-coverage.test.ts: counts a message that came late',
  },
};
