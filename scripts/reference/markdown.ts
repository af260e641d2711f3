/** How generated pages are written: wrapped lines, lists, and the head that says where a page comes from. */

const COLUMNS = 100;

/** A paragraph in lines of at most 100 characters; code and links are not broken. */
export function wrapped(text: string, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.match(/(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|\S)+/g) ?? []) {
    const isFull = line !== '' && `${indent}${line} ${word}`.length > COLUMNS;
    if (isFull) lines.push(line);
    line = isFull || line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line]
    .map((each, index) => (index === 0 ? each : `${indent}${each}`))
    .join('\n');
}

/** A list. */
export function bullets(items: readonly string[]): string {
  return items.map((item) => `* ${wrapped(item, '  ')}`).join('\n');
}

/** An item of a list of codes: the code, and what it means. */
export function term(code: string, about: string): string {
  return about === '' ? `\`${code}\`` : `\`${code}\`: ${about}`;
}

/** A block of code. */
export function fence(language: string, lines: readonly string[]): string {
  return ['```' + language, ...lines, '```'].join('\n');
}

/** A page of these blocks. */
export function page(title: string, blocks: readonly string[]): string {
  const note =
    '<!-- Made by `npm run reference`: change the tables in the code, never this page. -->';
  return `${[`# ${title}`, note, ...blocks].filter((block) => block !== '').join('\n\n')}\n`;
}

/** With a capital at its beginning and a full stop at its end. */
export function sentence(text: string): string {
  const whole = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return /[.?!:]$/.test(whole) ? whole : `${whole}.`;
}
