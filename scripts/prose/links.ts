/**
 * Relative links of pages: the file or folder exists, and the heading that an anchor names.
 *
 * Anchors are made as GitHub makes them: lower case, no punctuation, hyphens for spaces, `-1` for the second of a name.
 * Links to other sites are not followed.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** A link that leads nowhere; `line` counts from 1. */
export interface LostLink {
  readonly line: number;
  readonly message: string;
}

const CODE = /^(`{3,}|~{3,})[\s\S]*?^\1|`(?:[^`\n]|\n(?!\n))*`/gm;

function withoutCode(text: string): string {
  return text.replace(CODE, (code) => code.replace(/[^\n]/g, ' '));
}

function slugOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

/** Every anchor of a page. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const fences = text.replace(/^(`{3,}|~{3,})[\s\S]*?^\1/gm, '');
  for (const [, heading = ''] of fences.matchAll(/^#{1,6} +(.*?)(?: +#+)?$/gm)) {
    const slug = slugOf(heading);
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  for (const [, id = ''] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id);
  return anchors;
}

function problemOf(page: string, target: string): string | undefined {
  const [link = '', anchor] = target.split('#');
  const file = link === '' ? page : path.join(path.dirname(page), decodeURI(link));
  if (!existsSync(file)) return `${link} does not exist`;
  if (anchor === undefined || anchor === '' || !file.endsWith('.md')) return undefined;
  if (!statSync(file).isFile()) return `${link} is a folder and has no anchors`;
  const isThere = anchorsOf(readFileSync(file, 'utf8')).has(anchor);
  return isThere ? undefined : `${link === '' ? 'this page' : link} has no heading #${anchor}`;
}

/** The links of one page that lead nowhere; `page` is its whole path. */
export function findLostLinks(page: string, text: string): LostLink[] {
  const links = /\]\((?!\w+:)([^)\s]+)\)|^\[[^\]]+\]: +(?!\w+:)(\S+)/gm;
  return [...withoutCode(text).matchAll(links)].flatMap(({ index, 1: inline, 2: reference }) => {
    const message = problemOf(page, inline ?? reference ?? '');
    const line = text.slice(0, index).split('\n').length;
    return message === undefined ? [] : [{ line, message }];
  });
}
