/**
 * docs/reference/openapi.json: the API of `rollcall ui` (docs/page.md), from the commands that it runs and the types of their documents.
 *
 * The server sends this very file at /api/v1/openapi.json.
 */
import { RELEASE } from '../../functions/release.ts';
import { apiCommands, type ApiCommand, type ApiParameter } from '../../src/cli/ui/api-commands.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import type { Documents } from './json-page.ts';
import { referenceTo, TypeSchemas, type Schema } from './type-schemas.ts';

const VERSION = 'rollcall.dev/v1alpha1';
const JSON_TYPE = 'application/json';
/** Documents that no command names: of a failure, and of the stream. */
const FAILURE = 'CommandError';

/** Its text. */
export function renderOpenApi(documents: Documents): string {
  const commands = apiCommands(COMMANDS);
  const kinds = new Set([...commands.flatMap(kindsOf), FAILURE]);
  const schemas = new TypeSchemas(documents.checker, kinds);
  const shapes = [...kinds]
    .toSorted()
    .map((kind) => [kind, shapeOf(kind, documents, schemas)] as const);
  const paths = Object.fromEntries(
    commands.map((command) => [
      `/api/v1/${command.path}`,
      { [command.method.toLowerCase()]: operationOf(command) },
    ]),
  );
  const api = {
    openapi: '3.1.0',
    info: {
      title: 'Rollcall',
      version: RELEASE,
      description:
        'The commands of rollcall over HTTP, as rollcall ui serves them on this machine.',
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:7080' }],
    security: [{ token: [] }],
    paths: { ...paths, '/api/v1/events': { get: EVENTS } },
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'What follows #token= in the address.',
        },
      },
      schemas: { ...Object.fromEntries(shapes), ...schemas.named },
    },
  };
  return `${layOut(api, 0)}
`;
}

/** Levels with a line for each entry: below them a path, or a schema, is one line. */
const LEVELS = 3;

function layOut(value: unknown, level: number): string {
  if (level >= LEVELS || typeof value !== 'object' || value === null || Array.isArray(value)) {
    return JSON.stringify(value);
  }
  const entries = Object.entries(value).map(
    ([name, each]) => `${JSON.stringify(name)}: ${layOut(each, level + 1)}`,
  );
  return `{\n${entries.join(',\n')}\n}`;
}

/** The documents of one path; of `get` and `fleet get`, which have several, that of its word. */
function kindsOf({ module, fixed }: ApiCommand): readonly string[] {
  const { documents = [] } = module;
  const [word] = fixed;
  return word === undefined ? documents : documents.filter((kind) => kind === OF_WORDS[word]);
}

const OF_WORDS: Readonly<Record<string, string>> = {
  clusters: 'ClusterList',
  daemonsets: 'DaemonSetHealthList',
  rollouts: 'RolloutList',
  fleets: 'FleetHealthList',
  nodes: 'NodeMap',
};

/** A document: one of several shapes where several places make it. */
function shapeOf(kind: string, documents: Documents, schemas: TypeSchemas): Schema {
  const head = { apiVersion: { const: VERSION }, kind: { const: kind } };
  const code = kind === FAILURE ? { exitCode: { type: 'integer' } } : {};
  const shapes = documents
    .fieldsOf(kind)
    .map((fields) => schemas.ofFields(fields, { ...head, ...code }));
  const [first = {}, ...others] = shapes;
  return others.length === 0 ? first : { anyOf: shapes };
}

function operationOf(command: ApiCommand): object {
  const { method, path, module, parameters } = command;
  const { summary, about = [] } = module;
  const kinds = kindsOf(command);
  const answer =
    kinds.length === 1 ? referenceTo(kinds[0] ?? '') : { anyOf: kinds.map(referenceTo) };
  const headers = {
    'rollcall-exit-code': {
      description: 'The exit code of the command.',
      schema: { type: 'integer' },
    },
  };
  return {
    operationId: path.replaceAll(/\W(\w)/g, (_, letter: string) => letter.toUpperCase()),
    summary,
    ...(about.length === 0 ? {} : { description: about.join(' ') }),
    ...(method === 'GET'
      ? { parameters: parameters.map(inQuery) }
      : { requestBody: bodyOf(parameters) }),
    responses: {
      '200': {
        description: 'What the command prints with --json.',
        headers,
        content: { [JSON_TYPE]: { schema: answer } },
      },
      default: {
        description: 'What is refused or failed; docs/page.md lists the statuses.',
        content: { [JSON_TYPE]: { schema: referenceTo(FAILURE) } },
      },
    },
  };
}

function inQuery(parameter: ApiParameter): object {
  const { name, about, isRequired } = parameter;
  return {
    ...{ name, in: 'query', description: about },
    ...(isRequired ? { required: true } : {}),
    schema: schemaOf(parameter),
  };
}

function bodyOf(parameters: readonly ApiParameter[]): object {
  const properties = Object.fromEntries(
    parameters.map((one) => [one.name, { description: one.about, ...schemaOf(one) }]),
  );
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const schema = {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
  return { required: true, content: { [JSON_TYPE]: { schema } } };
}

/** A value is a text, unless its option is given or not; a number may be sent as one. */
function schemaOf({ option }: ApiParameter): object {
  if (option === undefined) return { type: 'string' };
  const { flags, choices, repeats } = option;
  if (!/[<[]/.test(flags)) return { type: 'boolean' };
  const one =
    choices === undefined ? { type: ['string', 'number'] } : { type: 'string', enum: choices };
  return repeats === true ? { type: 'array', items: one } : one;
}

const EVENTS = {
  operationId: 'events',
  summary: 'a stream of what changes, as server-sent events; docs/page.md lists them',
  parameters: [
    {
      name: 'last-event-id',
      in: 'header',
      description: 'the last id that this client had',
      schema: { type: 'string' },
    },
  ],
  responses: {
    '200': {
      description: 'Events, each with a JSON document.',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    },
    default: {
      description: 'What is refused.',
      content: { [JSON_TYPE]: { schema: referenceTo(FAILURE) } },
    },
  },
};
