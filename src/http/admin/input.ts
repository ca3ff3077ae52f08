import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import type { AuditEntry } from '../../operations/audit/audit.ts';
import type { DomainOperations, Operations } from '../../operations/operations.ts';
import { describeFault, HIDDEN, knownNames, showValue } from '../../schema/faults.ts';
import { type Decoded, domainName, shortText } from '../../schema/fields.ts';
import { allowedAt, nodeOf, type SchemaNode, writtenForm } from '../../schema/node.ts';
import { isMapping } from '../../schema/read.ts';
import { namingParameter } from '../problems.ts';
import { PROBLEM_ANSWERS } from '../search-api/openapi.ts';
import { type Problem, Refusal } from '../transport/problem.ts';
import { parseQueryString } from '../transport/request-target.ts';
import { sendReport } from '../transport/static-file.ts';
import { callerName } from './access.ts';

/** A change as the route that made it reports it. */
export type ChangeNote = Pick<AuditEntry, 'domain' | 'before' | 'after'>;

/** The common options of all groups of operators' routes. */
export interface AdminContext {
  readonly operations: Operations;
  /** Adds the change to the audit line of the request. */
  readonly audit: { readonly changed: (request: FastifyRequest, note: ChangeNote) => void };
}

/** The OpenAPI description of one route of the operators' API. */
interface Described {
  readonly summary: string;
  readonly description?: string;
  readonly tag: 'state' | 'flush' | 'drills' | 'warm-up' | 'shadow' | 'changes' | 'doctor' | 'audit';
  readonly body?: TSchema;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly answer: TSchema;
  /** Absent: 200. */
  readonly status?: 201 | 202;
  /** Content types of the body. Absent: `application/json`. */
  readonly consumes?: readonly string[];
  /** The content type of the answer. Absent: `application/json`. */
  readonly type?: string;
}

export function routeSchema(route: Described): Record<string, unknown> {
  const { summary, description, tag, body, consumes, params, query, answer } = route;
  const { status = 200, type = 'application/json' } = route;
  const headers = body && Operator;
  const members = { summary, description, params, querystring: query, body, consumes, headers };
  return {
    // Fastify warns of a schema that is present and undefined.
    ...Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined)),
    tags: [tag],
    security: [{ token: [] }],
    response: {
      [status]: { description: 'Done.', content: { [type]: { schema: writtenForm(answer) } } },
      ...PROBLEM_ANSWERS,
    },
  };
}

/** A route that takes and answers JSON. */
interface AdminRoute<Body extends TSchema, Query extends TQuery, Answer extends TSchema>
  extends Omit<Described, 'tag' | 'params' | 'type'> {
  readonly query?: Query;
  /** Bodies are checked against it. */
  readonly body?: Body;
  /** The body and the query in the API description, where the route checks them in another way. */
  readonly describedBody?: TSchema;
  readonly describedQuery?: TSchema;
  readonly answer: Answer;
  readonly id?: PathId;
  /** The name of the change in the audit. */
  readonly action?: string;
  /** False: it gets no audit line, because it changes nothing, or brings data. */
  readonly audited?: false;
  readonly bodyLimit?: number;
  /** The address of the new resource. */
  readonly location?: (answer: Decoded<Answer>) => string;
  /** False: a HEAD would do the work, and throw the answer away. */
  readonly exposeHeadRoute?: false;
  readonly handle: (asked: Asked<Static<Body>, Static<Query>>) => Decoded<Answer> | Promise<Decoded<Answer>>;
}

/** The id in a path. `unknown`: the refusal of an id that no file may have. */
type PathId = { readonly description: string; readonly unknown?: Problem };

type TQuery = TSchema & { readonly properties: object };

interface Asked<Body, Query> {
  readonly body: Body;
  readonly query: Query;
  readonly id: string;
  /** The operator, for the audit. */
  readonly by: string;
  readonly request: FastifyRequest;
  readonly changed: (note: ChangeNote) => void;
}

/**
 * Registers routes whose input is checked and whose answers have the type of their schemas. Query, id and body are checked in
 * this order; each refusal names the field.
 */
export function adminRoutes(app: FastifyInstance, tag: Described['tag'], audit?: AdminContext['audit']) {
  const register =
    (method: 'GET' | 'POST') =>
    <Body extends TSchema, Query extends TQuery, Answer extends TSchema>(
      url: string,
      route: AdminRoute<Body, Query, Answer>,
    ): void => {
      const { id, query, body, action, audited, bodyLimit, exposeHeadRoute, location } = route;
      const described = { query: route.describedQuery ?? query, body: route.describedBody ?? body };
      const params = id && paramsOf(id);
      const bodyOf = body === undefined ? () => undefined as Static<Body> : bodyReader(body);
      const queryOf = query === undefined ? () => undefined as Static<Query> : queryReader(query);
      // Fastify refuses an undefined limit.
      const limit = bodyLimit === undefined ? undefined : { bodyLimit };
      const head = exposeHeadRoute === undefined ? undefined : { exposeHeadRoute };
      app.route({
        method,
        url,
        ...limit,
        ...head,
        config: { action, audited },
        schema: routeSchema({ ...route, ...described, tag, params }),
        handler: async (request, reply) => {
          const answer = await route.handle({
            query: queryOf(request),
            id: id === undefined ? '' : pathId(request, id.unknown),
            body: bodyOf(request.body),
            by: callerName(request.raw),
            request,
            changed: (note) => audit?.changed(request, note),
          });
          if (location !== undefined) reply.header('location', location(answer));
          return reply.code(route.status ?? 200).send(answer);
        },
      });
    };
  /** A route that answers with a page of HTML. */
  const report = (url: string, summary: string, id: PathId, page: (id: string) => Promise<string>): void => {
    app.get(url, {
      schema: routeSchema({ summary, tag, params: paramsOf(id), answer: Type.String(), type: 'text/html' }),
      handler: async (request, reply) => sendReport(request, reply, await page(pathId(request, id.unknown))),
    });
  };
  return { get: register('GET'), post: register('POST'), report };
}

function paramsOf({ description }: PathId) {
  return Type.Object({ id: Type.String({ description }) });
}

const Operator = Type.Object({
  'x-operator': Type.Optional(
    Type.String({ maxLength: 64, description: 'The name of the operator, for the audit. Without it: `operator`.' }),
  ),
});

/** For bodies: unknown members are refused. Answers stay open, because later versions may add members. */
export const strict = { additionalProperties: false } as const;

export const DomainName = domainName();

const MAX_REASON = 500;
export const RequiredReason = shortText(MAX_REASON, `Why, for the audit: 1 to ${MAX_REASON} characters.`);
export const OptionalReason = Type.Optional(
  Type.String({ maxLength: MAX_REASON, description: `Why, for the audit: at most ${MAX_REASON} characters.` }),
);

export const DomainQuery = Type.Object({ domain: DomainName });

/** A parameter with a default: it may be left out, and the route always gets a value. */
export function defaulted<S extends TSchema>(schema: S): S {
  return Type.Optional(schema);
}

/**
 * The id in a path. An id may become a file name: with `unknown` only the characters of an id are accepted.
 * @throws Refusal `unknown` for any other text.
 */
function pathId({ params }: FastifyRequest, unknown?: Problem): string {
  const id = typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : '';
  if (unknown === undefined || /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id)) return id;
  throw new Refusal(unknown);
}

/** For lists of samples that grow while they are read. */
export const SkippedSamples = defaulted(
  Type.Integer({
    minimum: 0,
    default: 0,
    description: 'Number of samples to skip: those that the client has already.',
  }),
);

/** Maximum number of characters of a pointer in an answer: a member name of a client may be as long as its body. */
const MAX_POINTER = 128;

/**
 * Checks bodies against a closed schema. An unknown, missing or invalid field is refused by name, and the answer says what
 * is allowed. A request without a body counts as `{}`.
 */
function bodyReader<const S extends TSchema>(schema: S): (body: unknown) => Static<S> {
  const shape = Compile(schema);
  return (given) => {
    const body = given ?? {};
    if (shape.Check(body)) return body;
    throw new Refusal(problemOf(shape.Errors(body)[0], body, schema));
  };
}

/** @param error the first error: TypeBox lists an unknown field three times, and the first entry is the clearest. */
function problemOf(error: TLocalizedValidationError | undefined, body: unknown, schema: TSchema): Problem {
  if (error === undefined) return { code: 'invalid-body', detail: 'The body is not as described.' };
  const { keyword, message, instancePath, params } = error;
  const [missing] = keyword === 'required' ? params.requiredProperties : [];
  const pointer = missing === undefined ? instancePath : `${instancePath}/${missing}`;
  const path = pointer.slice(0, MAX_POINTER);
  const parameter = path === '' ? undefined : path;
  const steps = pointer.split('/').slice(1);
  if (keyword === 'boolean') {
    const known = Object.keys(nodeAt(schema, steps.slice(0, -1))?.properties ?? {});
    const allowed = `no such field; ${knownNames(steps.at(-1) ?? '', known)}`;
    return { code: codeOf(path, false), detail: describeFault({ path, value: HIDDEN, allowed }), parameter };
  }
  const node = nodeAt(schema, steps);
  const allowed = node === undefined ? message : `${allowedAt(node)}${node.description ? `. ${node.description}` : ''}`;
  const given = valueAt(body, steps);
  // Unlike in a file, null is a value here: it is refused even where the field is optional.
  const value = given === null ? 'null' : showValue(given);
  const detail = describeFault({ path: path === '' ? 'The body' : path, value, allowed });
  return { code: codeOf(path, missing !== undefined || keyword === 'minLength'), detail, parameter };
}

function nodeAt(schema: object, steps: readonly string[]): SchemaNode | undefined {
  return steps.reduce<SchemaNode | undefined>((node, step) => node?.properties?.[step] ?? node?.items, nodeOf(schema));
}

function valueAt(body: unknown, steps: readonly string[]): unknown {
  return steps.reduce(
    (value, step) => (isMapping(value) || Array.isArray(value) ? Reflect.get(value, step) : undefined),
    body,
  );
}

/** Some fields have a code of their own. */
function codeOf(pointer: string, isMissing: boolean): Problem['code'] {
  if (pointer === '/fraction') return 'invalid-fraction';
  if (pointer === '/reason' && isMissing) return 'reason-required';
  if (pointer === '/plan' || pointer.startsWith('/plan/')) return 'invalid-plan';
  return 'invalid-body';
}

/**
 * Reads the query of an operator's request by its schema; numbers and flags are read from text. Unlike in a search, an unknown
 * parameter is refused, because it is a typing error.
 */
function queryReader<S extends TQuery>(schema: S): (request: FastifyRequest) => Static<S> {
  const { properties = {} } = nodeOf(schema);
  const known = Object.keys(properties);
  const defaults = Object.entries(properties).flatMap(([name, node]) =>
    node.default === undefined ? [] : [[name, node.default]],
  );
  const shape = Compile(schema);
  return ({ raw: { url = '' } }) => {
    const mark = url.indexOf('?');
    const given = new Map<string, unknown>();
    for (const [name, value] of mark < 0 ? [] : parseQueryString(url.slice(mark + 1))) {
      if (!known.includes(name))
        throw invalid(name.slice(0, 64), `There is no such parameter; known are ${known.join(', ')}.`);
      if (given.has(name)) throw invalid(name, 'It is given twice.');
      given.set(name, valueIn(value, properties[name]));
    }
    const query: unknown = Object.fromEntries([...defaults, ...given]);
    if (shape.Check(query)) return query;
    const { detail, parameter } = problemOf(shape.Errors(query)[0], query, schema);
    throw invalid(parameter?.slice(1) ?? '', detail.slice(1));
  };
}

function valueIn(text: string, node: SchemaNode | undefined): unknown {
  if (node?.type === 'integer' && /^\d{1,9}$/.test(text)) return Number(text);
  return node?.type === 'boolean' && /^(?:true|false)$/.test(text) ? text === 'true' : text.trim();
}

/** @throws Refusal `unknown-domain`, with the name of the query parameter. */
export function queriedDomain(operations: Pick<Operations, 'domain'>, name: string): DomainOperations {
  return namingParameter('domain', () => operations.domain(name));
}

function invalid(parameter: string, detail: string): Refusal {
  return new Refusal({ code: 'invalid-request', detail, parameter });
}
