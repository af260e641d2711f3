/** docs/reference/findings.md: what `cluster doctor` and `stack check` find, from the table of their codes. */
import { FINDINGS, type LinkFindings } from '../../src/app/checks/finding-codes.ts';
import { bullets, page, term, wrapped } from './markdown.ts';

/** Links that only `stack check` looks at. */
const OF_ACCOUNT = new Set(['concurrency', 'registry-table', 'triggers']);

/** Text of the page. */
export function renderFindingsPage(): string {
  const links = Object.entries<LinkFindings>(FINDINGS);
  return page('Findings', [
    wrapped(
      '`rollcall cluster doctor` looks at every link between a cluster and Rollcall, in this order. A finding is `ok`, `warning` (it works; look at it), `failed`, or `unknown` (it could not be checked from here; the code is then `LINK-unchecked`).',
    ),
    ...links.filter(([link]) => !OF_ACCOUNT.has(link)).flatMap(sectionOf),
    '## `rollcall stack check`',
    wrapped('It lists only what has to be done.'),
    bullets(links.filter(([link]) => OF_ACCOUNT.has(link)).flatMap(([, found]) => rowsOf(found))),
  ]);
}

function sectionOf([link, found]: readonly [string, LinkFindings]): readonly string[] {
  return [`## ${link}`, bullets(rowsOf(found))];
}

function rowsOf({ ok = [], ...others }: LinkFindings): readonly string[] {
  return [
    ...Object.entries(others).flatMap(([level, rows]) =>
      Object.entries(rows).map(([code, about]) => term(code, `**${level}.** ${about}`)),
    ),
    ...(ok.length === 0 ? [] : [`${ok.map((code) => `\`${code}\``).join(', ')}: **ok.**`]),
  ];
}
