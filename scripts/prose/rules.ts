/**
 * The rules on sentences, as rules of markdownlint.
 *
 * A sentence has at most 35 words. A clause names who acts: it does not begin with `What is …` or `Who waits …`, and does
 * not put `of …, nothing` before its verb. Headings and cells may be fragments, so only their length and words are judged.
 */
import type { Rule, RuleOnError, RuleParams } from 'markdownlint';
import { countWords, readSentences, unquoted, type Sentence } from './passages.ts';
import { refusedWords } from './vocabulary.ts';

const SENTENCE_WORDS_MAX = 35;

/** Clauses whose subject is a question word. */
const HEADLESS: readonly RegExp[] = [
  /^(?:And |But |So |Only |All |Not )?what\b(?![^,.;:]{1,50}:|(?: (?:follows|remains) (?:is|are)\b))[^?]*$/i,
  /[;:] (?:and |but )?what (?:is|was|are|were|has|had|does|did|will|can|may|must|\w+s)\b[^?]*$/i,
  /(?:^|[;:–] (?:and |but )?)who(?:m|se)?\b[^?]*$/i,
  /^Of [^,.]{1,80}? (?:nothing|none|only) /i,
];

type Judge = (sentence: Sentence) => readonly string[];

function ruleOf(name: string, description: string, judge: Judge): Rule {
  return {
    names: [name],
    description,
    tags: ['prose'],
    parser: 'micromark',
    function: (parameters: RuleParams, onError: RuleOnError): void => {
      const { tokens } = parameters.parsers.micromark;
      for (const sentence of readSentences(tokens)) {
        const context = `${sentence.text.slice(0, 60)}${sentence.text.length > 60 ? '…' : ''}`;
        for (const detail of judge(sentence)) {
          onError({ lineNumber: sentence.line, detail, context });
        }
      }
    },
  };
}

function judgeLength({ text }: Sentence): readonly string[] {
  const words = countWords(unquoted(text));
  return words > SENTENCE_WORDS_MAX ? [`${words} words, at most ${SENTENCE_WORDS_MAX}`] : [];
}

function judgeClauses({ place, text }: Sentence): readonly string[] {
  if (place !== 'paragraph') return [];
  const isHeadless = HEADLESS.some((pattern) => pattern.test(unquoted(text)));
  return isHeadless ? ['name the subject'] : [];
}

function judgeWords({ text }: Sentence): readonly string[] {
  return refusedWords(unquoted(text));
}

/** All rules on sentences. */
export const proseRules: Rule[] = [
  ruleOf('sentence-length', 'A sentence is short', judgeLength),
  ruleOf('headless-clause', 'A clause names who acts', judgeClauses),
  ruleOf('vocabulary', 'A page uses the words that readers know', judgeWords),
];
