/** Why an operator's change was not made. Nothing has changed then. */
export type RefusalCode =
  | 'unknown-domain'
  | 'unknown-plan'
  | 'unknown-drill'
  | 'unknown-report'
  | 'unknown-warm-up'
  | 'invalid-fraction'
  | 'invalid-plan'
  | 'invalid-request'
  | 'reason-required'
  | 'control-full'
  | 'drill-running'
  | 'drill-over'
  | 'warm-up-running'
  | 'erasure-running'
  | 'halted'
  | 'not-dedicated'
  | 'hypothesis-failed'
  | 'no-store'
  /** The document could not be read or written now: nobody knows whether others follow. */
  | 'control-unavailable';

/** An operator's mistake or a state that does not allow it, in words for the operator. */
export class OperationRefused extends Error {
  override readonly name = 'OperationRefused';
  readonly code: RefusalCode;
  /** The offending field of the request, as a JSON pointer or an option's name. */
  readonly parameter: string | undefined;

  constructor(code: RefusalCode, message: string, parameter?: string) {
    super(message);
    this.code = code;
    this.parameter = parameter;
  }
}
