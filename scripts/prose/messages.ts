/**
 * Messages of the product: texts of three words and more in `src` and `functions`, which people read in terminals, Events and
 * logs. Only the vocabulary judges them; names, keys and comments are left alone.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { unquoted } from './passages.ts';
import { refusedWords } from './vocabulary.ts';

const WORDS_MIN = 3;

/** A word that a message should not use; `line` counts from 1. */
export interface MessageFinding {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

function isText(node: ts.Node): node is ts.LiteralLikeNode {
  return (
    ts.isStringLiteralLike(node) ||
    ts.isTemplateHead(node) ||
    ts.isTemplateMiddleOrTemplateTail(node)
  );
}

function judgeFile(file: string, text: string): MessageFinding[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const findings: MessageFinding[] = [];
  const visit = (node: ts.Node): void => {
    if (isText(node) && node.text.split(/\s+/).filter(Boolean).length >= WORDS_MIN) {
      const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
      const words = refusedWords(unquoted(node.text));
      findings.push(...words.map((message) => ({ path: file, line, message })));
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return findings;
}

/** Findings in the messages below a directory. */
export function judgeMessages(directory: string): MessageFinding[] {
  return globSync(['src/**/*.ts', 'functions/**/*.ts'], { cwd: directory })
    .sort()
    .flatMap((file) => judgeFile(file, readFileSync(path.join(directory, file), 'utf8')));
}
