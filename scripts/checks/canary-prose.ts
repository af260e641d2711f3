/**
 * Canaries for prose: planted sentences that each rule must refuse, and sentences beside them that it must let through.
 *
 * The page `docs/clean.md` holds the latter; the canaries fail when a report names it.
 */
import type { Canary } from './check.ts';

const clean = `# What runs when

The words of this page are plain. Ask what the watcher sends, and see who may write.
What follows is a list. What does it cost? Those who wait see a line with the message
"somebody holds it", and \`verdict\` is a stored name. The token renewer runs each night.

See [what the second section says](#second-section) and
[a page](docs-page.md#a-heading-with-code-and-a-comma).

| what | who |
|---|---|
| a row of a table may be as long as it needs to be, since a cell cannot break, and prettier is not asked to | nodes |

    code may be long: kubectl get daemonset --all-namespaces --output=custom-columns=NAME:.metadata.name,READY:.status

## Second section

[a line that is one link may be long](https://example.com/a/very/long/address/that/cannot/break/anywhere/at/all)
`;

/** Sentences that the check refuses, one for each line. */
const planted = [
  'What is idle costs nothing.',
  'The stack sleeps; what is idle costs nothing.',
  'Who waits decides when a flush goes.',
  'Of a cluster whose breaker is open nothing is asked that may not be needed.',
  'Whoever reads this is somebody.',
  'The rival left with a verdict.',
  `A sentence ${'with one more word '.repeat(9)}is too long.`,
  'This line of a paragraph goes on beyond the hundred characters that fit into a window that stands beside another one.',
  'The log tells of it.',
  'A [link](nowhere.md), an [anchor](docs-page.md#nowhere), a [folder](../nowhere/).',
];

/** Violations for the check prose. */
export const proseCanaries: readonly Canary[] = [
  {
    check: 'prose',
    files: {
      'docs/clean.md': clean,
      'docs/docs-page.md': '# A page\n\n## A heading with `code`, and a comma\n',
      'docs/planted.md': planted.map((sentence) => `${sentence}\n`).join('\n'),
      'src/core/says.ts': "export const message = 'somebody else changed it';\n",
    },
    expected: [
      /planted\.md:1 headless-clause/,
      /planted\.md:3 headless-clause/,
      /planted\.md:5 headless-clause/,
      /planted\.md:7 headless-clause/,
      /planted\.md:9 vocabulary: "Whoever"/,
      /planted\.md:11 vocabulary: "rival"/,
      /planted\.md:11 vocabulary: "verdict"/,
      /planted\.md:13 sentence-length: 41 words/,
      /planted\.md:15 line-length/,
      /planted\.md:17 vocabulary: "tells of"/,
      /planted\.md:19 link: nowhere\.md does not exist/,
      /planted\.md:19 link: \S+ has no heading #nowhere/,
      /planted\.md:19 link: \.\.\/nowhere\/ does not exist/,
      /core\/says\.ts:1 message: "somebody"/,
    ],
  },
];
