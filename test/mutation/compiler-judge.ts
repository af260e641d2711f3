/**
 * Says whether the compiler accepts an area with one mutant in it.
 *
 * Only survivors are asked about, so the cost is one check of one file for each. A check of that file alone is
 * enough: an error that a mutant causes elsewhere (a changed return type) is rare, and then it stays a survivor.
 */
import path from 'node:path';
import ts from 'typescript';

/** A place in a file as Stryker counts it: lines and columns from one. */
interface Place {
  readonly line: number;
  readonly column: number;
}

export interface TextChange {
  /** Absolute path. */
  readonly file: string;
  readonly location: { readonly start: Place; readonly end: Place };
  readonly replacement: string;
}

/** The compiler over one project, with at most one file changed at a time. */
export class CompilerJudge {
  readonly #service: ts.LanguageService;
  #changedFile: string | undefined;
  #changedText = '';
  #version = 0;
  /** Files that were accepted as they are. */
  readonly #sound = new Set<string>();

  constructor(configFile: string) {
    const config = ts.getParsedCommandLineOfConfigFile(
      configFile,
      {},
      {
        ...ts.sys,
        onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
          throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'));
        },
      },
    );
    if (config === undefined) throw new Error(`no compiler options in ${configFile}`);
    const { fileNames } = config;
    // Sources of other projects are read as such, not as what these were built to: no project holds all it reads.
    const options = {
      ...config.options,
      composite: false,
      rootDir: path.parse(path.resolve(configFile)).root,
    };
    this.#service = ts.createLanguageService({
      getCompilationSettings: () => options,
      getScriptFileNames: () => fileNames,
      getScriptVersion: (file) =>
        file === this.#changedFile ? `changed ${this.#version}` : 'read',
      getScriptSnapshot: (file) => {
        const text = file === this.#changedFile ? this.#changedText : ts.sys.readFile(file);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => path.dirname(configFile),
      getDefaultLibFileName: (settings) => ts.getDefaultLibFilePath(settings),
      fileExists: (file) => ts.sys.fileExists(file),
      readFile: (file) => ts.sys.readFile(file),
      readDirectory: (...parameters) => ts.sys.readDirectory(...parameters),
    });
  }

  /** Why the compiler refuses the change; undefined if it does not. Throws if it refuses the file as it is. */
  refusal({ file, location, replacement }: TextChange): string | undefined {
    const source = ts.sys.readFile(file);
    if (source === undefined) throw new Error(`cannot read ${file}`);
    if (!this.#sound.has(file)) {
      const complaint = this.#complaintAbout(file, source);
      if (complaint !== undefined) throw new Error(`${file} without a mutant: ${complaint}`);
      this.#sound.add(file);
    }
    const from = offsetOf(source, location.start);
    const to = offsetOf(source, location.end);
    return this.#complaintAbout(file, source.slice(0, from) + replacement + source.slice(to));
  }

  #complaintAbout(file: string, text: string): string | undefined {
    this.#changedFile = file;
    this.#changedText = text;
    this.#version += 1;
    const [first] = [
      ...this.#service.getSyntacticDiagnostics(file),
      ...this.#service.getSemanticDiagnostics(file),
    ];
    return first && ts.flattenDiagnosticMessageText(first.messageText, ' ');
  }
}

function offsetOf(source: string, { line, column }: Place): number {
  const before = source.split('\n').slice(0, line - 1);
  return before.reduce((sum, text) => sum + text.length + 1, 0) + column - 1;
}
