/** Why an operator's change was refused. Nothing was changed. */
type OperationErrorCode =
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
  | 'no-feed'
  | 'no-live-documents'
  | 'unknown-candidate'
  | 'candidate-unfit'
  | 'shadow-running'
  | 'no-shadow'
  | 'no-verdict'
  | 'no-control-store'
  | 'cut-over-running'
  | 'cut-over-behind'
  | 'no-cut-over'
  /** Too many calls wait. */
  | 'overloaded'
  /** The document could not be read or written: whether other processes follow is unknown. */
  | 'control-unavailable';

/** An operation that was refused: a wrong request, or a state that does not allow it. The message is for the operator. */
export class OperationError extends Error {
  override readonly name = 'OperationError';
  readonly code: OperationErrorCode;
  /** The field of the request that is wrong, as a JSON pointer or as the name of an option. */
  readonly parameter: string | undefined;

  constructor(code: OperationErrorCode, message: string, parameter?: string) {
    super(message);
    this.code = code;
    this.parameter = parameter;
  }
}
