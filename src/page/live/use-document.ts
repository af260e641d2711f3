/**
 * A document of a command, asked anew every few seconds while a part of the page shows it.
 *
 * The next question begins after the answer of the last, so a slow server is asked less often. A document stays when a later
 * question fails, and the failure is told beside it.
 */
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { CommandError } from '../model/documents.ts';
import type { Answered, Parameters } from './client.ts';
import { usePage } from './page-context.ts';

/** What is known. */
export interface Asked<Document> {
  readonly document?: Document;
  /** When it came, by the browser's clock. */
  readonly atMs?: number;
  readonly error?: CommandError;
  readonly isAbsent?: true;
  readonly askAgain: () => void;
}

interface Question {
  /** Words of the command, joined by `/`. */
  readonly words: string;
  readonly parameters?: Parameters;
  /** Absent: it is asked until it is answered. */
  readonly everyMs?: number;
}

/** After a failure of what is asked for once. */
const AGAIN_MS = 5_000;

type Known<Document> = Omit<Asked<Document>, 'askAgain'>;

/** Asks while the part is shown. */
export function useDocument<Document>({
  words,
  parameters = {},
  everyMs,
}: Question): Asked<Document> {
  const { client } = usePage();
  const [known, setKnown] = useState<Known<Document>>({});
  const [round, setRound] = useState(0);
  const key = `${words} ${JSON.stringify(parameters)}`;
  useEffect(() => {
    setKnown({});
  }, [key]);
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      const answer = await client.look<Document>(words, parameters, abort.signal);
      if (abort.signal.aborted) return;
      setKnown((before) => after(before, answer));
      const nextMs = everyMs ?? (answer.kind === 'error' ? AGAIN_MS : undefined);
      if (nextMs !== undefined && answer.kind !== 'absent') timer = setTimeout(start, nextMs);
    };
    const start = (): void => {
      ask().catch((error: unknown) => {
        if (!abort.signal.aborted) throw error;
      });
    };
    start();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
    // `key` stands for words and parameters.
  }, [client, key, everyMs, round]);
  const askAgain = useCallback(() => {
    setRound((count) => count + 1);
  }, []);
  return { ...known, askAgain };
}

function after<Document>(before: Known<Document>, answer: Answered<Document>): Known<Document> {
  switch (answer.kind) {
    case 'document':
      return { document: answer.document, atMs: Date.now() };
    case 'error':
      return { ...before, error: answer.error };
    case 'absent':
      return { isAbsent: true };
  }
}
