// Resolves the Serverless Framework's variables, as far as they are known here.
//
// Known: ${self:a.b}, ${file(path)} and ${file(path):a.b}, ${sls:stage}, ${opt:name, 'default'}, ${param:name} from
// `params` (those of the stage, then `default`). A reference that stands alone may be any value; inside of text it must
// be a string or a number. Files are read relative to the service file and may use variables themselves. What is
// CloudFormation's, ${AWS::Region} for example, stays. An unknown source is an error, never an empty string.
import path from 'node:path';
import { readYamlFile, type Json } from './yaml-file.ts';

/** What variables are resolved against. */
export interface VariableContext {
  readonly serviceDirectory: string;
  readonly service: Json;
  /** Command-line options; `stage` among them also answers ${sls:stage}. */
  readonly options: Readonly<Record<string, string>>;
}

const referencePattern = /\$\{(?!AWS::)([^{}]+)\}/;
const wholePattern = /^\$\{(?!AWS::)([^{}]+)\}$/;
const depthMax = 20;

/** A value with all its variables resolved. */
export function resolveVariables(value: Json, context: VariableContext, depth = 0): Json {
  if (depth > depthMax) throw new Error('variables refer to each other in a circle');
  if (typeof value === 'string') return resolveText(value, context, depth);
  if (Array.isArray(value)) return value.map((item) => resolveVariables(item, context, depth));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, resolveVariables(item, context, depth)]),
  );
}

function resolveText(text: string, context: VariableContext, depth: number): Json {
  const whole = wholePattern.exec(text)?.[1];
  const resolve = (reference: string): Json =>
    resolveVariables(lookUp(reference.trim(), context), context, depth + 1);
  if (whole !== undefined) return resolve(whole);
  if (!referencePattern.test(text)) return text;
  const replaced = text.replaceAll(
    new RegExp(referencePattern, 'g'),
    (_match, reference: string) => {
      const found = resolve(reference);
      if (typeof found === 'string' || typeof found === 'number') return String(found);
      throw new Error(`\${${reference}} stands inside of text and is no text: ${text}`);
    },
  );
  // A reference may have held another one: that was replaced first.
  return resolveVariables(replaced, context, depth + 1);
}

function lookUp(reference: string, context: VariableContext): Json {
  const file = /^file\(([^)]+)\)(?::(.+))?$/.exec(reference);
  if (file?.[1] !== undefined) {
    const content = readYamlFile(path.resolve(context.serviceDirectory, file[1]));
    return file[2] === undefined ? content : follow(content, file[2], reference);
  }
  if (reference.startsWith('self:')) return follow(context.service, reference.slice(5), reference);
  if (reference.startsWith('param:')) return parameter(reference.slice(6), context);
  const option = /^opt:([\w-]+)(?:\s*,\s*'([^']*)')?$/.exec(reference);
  const optionName = reference === 'sls:stage' ? 'stage' : option?.[1];
  const value = optionName === undefined ? undefined : context.options[optionName];
  const found = value ?? option?.[2];
  if (found === undefined) throw new Error(`cannot resolve \${${reference}}`);
  return found;
}

/** As osls looks a parameter up, without those of the command line. */
function parameter(name: string, { service, options }: VariableContext): Json {
  const blocks = [options['stage'] ?? 'default', 'default'];
  const found = blocks
    .map((block) => find(service, ['params', block, name]))
    .find((value) => value !== undefined && value !== null);
  if (found === undefined) throw new Error(`cannot resolve \${param:${name}}`);
  return found;
}

function follow(value: Json, keys: string, reference: string): Json {
  const found = find(value, keys.split('.'));
  if (found === undefined) throw new Error(`cannot resolve \${${reference}}`);
  return found;
}

function find(value: Json, keys: readonly string[]): Json | undefined {
  let current: Json | undefined = value;
  for (const key of keys) {
    const isMap: boolean =
      typeof current === 'object' && current !== null && !Array.isArray(current);
    current = isMap ? (current as Record<string, Json>)[key] : undefined;
  }
  return current;
}
