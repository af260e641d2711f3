/** A command line that can be copied. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const SAID_MS = 2_000;

/** The command, with what it does. */
export function CommandLine(props: { readonly command: string; readonly about?: string }): VNode {
  const { command, about } = props;
  const [said, setSaid] = useState<'' | 'copied' | 'not copied'>('');
  useEffect(() => {
    if (said === '') return undefined;
    const timer = setTimeout(() => {
      setSaid('');
    }, SAID_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [said]);
  const copy = (): void => {
    navigator.clipboard.writeText(command).then(
      () => {
        setSaid('copied');
      },
      () => {
        setSaid('not copied');
      },
    );
  };
  return (
    <span class="command">
      <code>{command}</code>
      <button type="button" class="quiet" onClick={copy} aria-label={`Copy: ${command}`}>
        {said === '' ? 'copy' : said}
      </button>
      {about === undefined ? null : <span class="about">{about}</span>}
    </span>
  );
}

/** A remedy: a command line where it is one, else words. */
export function Remedy(props: { readonly text: string }): VNode {
  const { text } = props;
  return /^(?:rollcall|kubectl) [^,]*$/.test(text) ? (
    <CommandLine command={text} />
  ) : (
    <span class="remedy">{text}</span>
  );
}
