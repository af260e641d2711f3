/**
 * Length limits: 400 lines a source file, 500 a test, 70 lines of code a function, tests included.
 *
 * Blank lines and comments inside a function do not count. A describe block is a chapter and has no limit, also where
 * a helper named describe… opens it; the body of one test may have 120 lines, since a scenario reads best from top to
 * bottom. The linter's own limit covers everything but tests; this one covers all, so that switching the linter's off is
 * no way around it.
 */
import ts from 'typescript';
import { lineAt, type Finding, type Repository, type SourceFile } from './repository.ts';

const SOURCE_LINES_MAX = 400;
const TEST_LINES_MAX = 500;
/** What is delivered, and what builds it. */
const SOURCE = /^(src|functions|scripts|packages\/[^/]+\/src)\//;
const FUNCTION_LINES_MAX = 70;
const TEST_BODY_LINES_MAX = 120;

const chapterCallee = /^(describe([A-Z]|$)|suite$)/;
const testCallees = new Set(['it', 'test', 'before', 'after', 'beforeEach', 'afterEach']);

function calleeName(expression: ts.Expression): string {
  if (ts.isIdentifier(expression)) return expression.text;
  if (ts.isPropertyAccessExpression(expression)) return calleeName(expression.expression);
  return '';
}

function linesMaxOf(node: ts.Node, file: SourceFile): number {
  if (!/^(packages\/[^/]+\/)?test\//.test(file.path) || !ts.isCallExpression(node.parent)) {
    return FUNCTION_LINES_MAX;
  }
  const name = calleeName(node.parent.expression);
  if (chapterCallee.test(name)) return Number.POSITIVE_INFINITY;
  return testCallees.has(name) ? TEST_BODY_LINES_MAX : FUNCTION_LINES_MAX;
}

function countCodeLines(node: ts.Node, file: SourceFile): number {
  const lines = file.text.slice(node.getStart(file.tree), node.end).split('\n');
  return lines.filter((line) => !/^\s*($|\/\/|\/\*|\*)/.test(line)).length;
}

function isFunctionWithBody(node: ts.Node): boolean {
  return ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;
}

function findLongFunctions(file: SourceFile): Finding[] {
  const findings: Finding[] = [];
  const visit = (node: ts.Node): void => {
    if (isFunctionWithBody(node)) {
      const lines = countCodeLines(node, file);
      const linesMax = linesMaxOf(node, file);
      if (lines > linesMax) {
        findings.push({
          rule: 'function-length',
          path: file.path,
          line: lineAt(file, node.getStart(file.tree)),
          message: `a function of ${lines} lines of code; at most ${linesMax}`,
        });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file.tree);
  return findings;
}

function findLongFiles(file: SourceFile): Finding[] {
  const lines = file.text.split('\n').length - 1;
  const linesMax = SOURCE.test(file.path) ? SOURCE_LINES_MAX : TEST_LINES_MAX;
  if (lines <= linesMax) return [];
  const message = `a file of ${lines} lines; at most ${linesMax}`;
  return [{ rule: 'file-length', path: file.path, line: 1, message }];
}

/** Finds files and functions that are too long. */
export function checkSize(repository: Repository): Finding[] {
  return repository.sources.flatMap((file) => [...findLongFiles(file), ...findLongFunctions(file)]);
}
