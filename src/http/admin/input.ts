import type { FastifyRequest } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import type { DomainOperations, Operations } from '../../operations/operations.ts';
import { describeFault, HIDDEN, knownNames, showValue } from '../../schema/faults.ts';
import { allowedAt, nodeOf, type SchemaNode, writtenForm } from '../../schema/node.ts';
import { isMapping } from '../../schema/read.ts';
import { namingParameter } from '../problems.ts';
import { PROBLEM_ANSWERS } from '../search-api/openapi.ts';
import { type Problem, Refusal } from '../transport/problem.ts';
import { parseQueryString } from '../transport/request-target.ts';

/** The OpenAPI description of one route of the operators' API. */
interface Described {
  readonly summary: string;
  readonly description?: string;
  readonly tag: 'state' | 'flush' | 'drills' | 'warm-up' | 'shadow' | 'doctor' | 'audit';
  readonly body?: TSchema;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly answer: TSchema;
  /** Absent: 200. */
  readonly status?: 201;
  /** The content type of the answer. Absent: `application/json`. */
  readonly type?: string;
}

export function routeSchema(route: Described): Record<string, unknown> {
  const { summary, description, tag, body, params, query, answer, status = 200, type = 'application/json' } = route;
  return {
    summary,
    description,
    tags: [tag],
    security: [{ token: [] }],
    params,
    querystring: query,
    body,
    headers: body === undefined ? undefined : Operator,
    response: {
      [status]: { description: 'Done.', content: { [type]: { schema: writtenForm(answer) } } },
      ...PROBLEM_ANSWERS,
    },
  };
}

const Operator = Type.Object({
  'x-operator': Type.Optional(
    Type.String({ maxLength: 64, description: 'The name of the operator, for the audit. Without it: `operator`.' }),
  ),
});

/** For bodies: unknown members are refused. Answers stay open, because later versions may add members. */
export const strict = { additionalProperties: false } as const;

export const DomainName = Type.String({ minLength: 1, maxLength: 64, description: 'A configured domain.' });

const MAX_REASON = 500;
export const Reason = Type.String({
  minLength: 1,
  maxLength: MAX_REASON,
  description: `Why, for the audit: 1 to ${MAX_REASON} characters.`,
});
export const OptionalReason = Type.Optional(
  Type.String({ maxLength: MAX_REASON, description: `Why, for the audit: at most ${MAX_REASON} characters.` }),
);

export const DomainQuery = Type.Object({ domain: DomainName });

export const IdParams = (description: string): TSchema => Type.Object({ id: Type.String({ description }) });

/**
 * The id in a path. Ids become file names, so only the characters of an id are accepted.
 * @throws Refusal `unknown` for any other text.
 */
export function pathId({ params }: FastifyRequest, unknown: Problem): string {
  const id = typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : '';
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id)) return id;
  throw new Refusal(unknown);
}

/** Wall time in milliseconds since the epoch. */
export const AtMs = Type.Number({ description: 'Milliseconds since 1970-01-01T00:00Z.' });

/** Maximum number of characters of a pointer in an answer: a member name of a client may be as long as its body. */
const MAX_POINTER = 128;

/**
 * Checks bodies against a closed schema. An unknown, missing or invalid field is refused by name, and the answer says what
 * is allowed. A request without a body counts as `{}`.
 */
export function bodyReader<const S extends TSchema>(schema: S): (body: unknown) => Static<S> {
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

interface Query {
  /** @throws Refusal when it is missing or empty. */
  readonly text: (name: string) => string;
  /** Undefined when it is missing. */
  readonly optional: (name: string) => string | undefined;
  /** A whole number. @throws Refusal when it is out of bounds. */
  readonly count: (name: string, bounds: CountBounds) => number;
}

interface CountBounds {
  readonly min: number;
  readonly max: number;
  /** The value when the parameter is missing. */
  readonly otherwise: number;
}

/** The query of an operator's request. Unlike in a search, an unknown parameter is refused, because it is a typing error. */
export function queryOf(request: FastifyRequest, schema: { readonly properties: object }): Query {
  const known = Object.keys(schema.properties);
  const target = request.raw.url ?? '';
  const mark = target.indexOf('?');
  const pairs = mark < 0 ? [] : parseQueryString(target.slice(mark + 1));
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (!known.includes(name)) {
      const allowed = known.length === 0 ? 'it takes none' : `known are ${known.join(', ')}`;
      throw invalid(name.slice(0, 64), `There is no such parameter; ${allowed}.`);
    }
    if (values.has(name)) throw invalid(name, 'It is given twice.');
    values.set(name, value);
  }
  return {
    text: (name) => {
      const value = values.get(name)?.trim() ?? '';
      if (value === '') throw invalid(name, `The parameter ${name} is required.`);
      return value;
    },
    optional: (name) => values.get(name),
    count: (name, { min, max, otherwise }) => {
      const value = values.get(name);
      if (value === undefined) return otherwise;
      const count = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
      if (count >= min && count <= max) return count;
      throw invalid(name, `The parameter ${name} is a whole number from ${min} to ${max}.`);
    },
  };
}

/** @throws Refusal `unknown-domain`, with the name of the query parameter. */
export function queriedDomain(operations: Pick<Operations, 'domain'>, name: string): DomainOperations {
  return namingParameter('domain', () => operations.domain(name));
}

function invalid(parameter: string, detail: string): Refusal {
  return new Refusal({ code: 'invalid-request', detail, parameter });
}
