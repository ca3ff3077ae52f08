import { OperationError } from '../control/operation-error.ts';
import { REASONS, SearchError } from '../resilience/search-error.ts';
import { nearest } from '../schema/faults.ts';
import { InvalidSearch } from '../search/query.ts';
import { type Problem, Refusal } from './transport/problem.ts';

const OPERATION_RETRY_MS = 1000;

/** Any thrown value → the problem that the client is told. An unknown error says nothing about the service's internals. */
export function problemOf(error: unknown): Problem {
  if (error instanceof InvalidSearch) {
    return { code: error.code, detail: error.message, parameter: error.parameter };
  }
  if (error instanceof SearchError) {
    return { code: error.code, detail: REASONS[error.reason].detail, retryAfterMs: error.retryAfterMs };
  }
  if (error instanceof OperationError) return refusedOperation(error);
  if (error instanceof Refusal) return error.problem;
  return { code: 'internal', detail: 'The service failed to answer; the fault is ours and is logged.' };
}

/** Runs `ask`. Its refusal then names `parameter`: the name that the route has for it. @throws Refusal */
export function namingParameter<Value>(parameter: string, ask: () => Value): Value {
  try {
    return ask();
  } catch (error) {
    if (!(error instanceof InvalidSearch || error instanceof OperationError)) throw error;
    throw new Refusal({ code: error.code, detail: error.message, parameter });
  }
}

function refusedOperation({ code, message, parameter }: OperationError): Problem {
  return {
    code,
    detail: message,
    // Operators send bodies, so a parameter is a JSON pointer; the rooms below give the option's name.
    parameter: parameter === undefined || parameter.startsWith('/') ? parameter : `/${parameter}`,
    retryAfterMs: code === 'control-unavailable' || code === 'overloaded' ? OPERATION_RETRY_MS : undefined,
  };
}

/** The detail for a field that a closed body does not have. @param pointer as the client wrote it, or its JSON pointer. */
export function unknownField(pointer: string, known: readonly string[]): string {
  const shown = pointer.length > 64 ? `${pointer.slice(0, 64)}…` : pointer;
  const near = nearest(pointer.slice(pointer.lastIndexOf('/') + 1), known);
  const list = `nown here are ${known.join(', ')}.`;
  return `There is no field ${shown}; ${near === undefined ? 'k' : `did you mean ${near}? K`}${list}`;
}
