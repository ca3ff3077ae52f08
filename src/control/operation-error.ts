/** Why an operator's change was refused, with status and title. Nothing was changed. 409: the present state does not allow it. */
export const OPERATION_PROBLEMS = {
  'unknown-plan': { status: 404, title: 'Unknown plan' },
  'unknown-drill': { status: 404, title: 'Unknown drill' },
  'unknown-report': { status: 404, title: 'Unknown report' },
  'unknown-warm-up': { status: 404, title: 'Unknown warm-up' },
  'invalid-fraction': { status: 400, title: 'Invalid fraction' },
  'invalid-plan': { status: 400, title: 'Invalid plan' },
  'reason-required': { status: 400, title: 'Reason required' },
  'control-full': { status: 409, title: 'List is full' },
  'drill-running': { status: 409, title: 'A drill is running' },
  'drill-over': { status: 409, title: 'The drill is over' },
  'warm-up-running': { status: 409, title: 'A warm-up is running' },
  'erasure-running': { status: 409, title: 'An erasure is running' },
  halted: { status: 409, title: 'Drills are halted' },
  'not-dedicated': { status: 409, title: 'Store is not dedicated' },
  'hypothesis-failed': { status: 409, title: 'Hypothesis fails already' },
  'no-store': { status: 409, title: 'Domain has no store' },
  'no-feed': { status: 409, title: 'Domain has no feed of changes' },
  'no-live-documents': { status: 409, title: 'Engine takes no documents here' },
  'unknown-candidate': { status: 404, title: 'Unknown candidate' },
  'candidate-unfit': { status: 409, title: 'Candidate is unfit' },
  'shadow-running': { status: 409, title: 'A shadow is running' },
  'no-shadow': { status: 409, title: 'No shadow is running' },
  'no-verdict': { status: 409, title: 'The verdict is not favourable' },
  'no-control-store': { status: 409, title: 'No separate control store' },
  'cut-over-running': { status: 409, title: 'A cut-over is under way' },
  'cut-over-behind': { status: 409, title: 'A process has not followed' },
  'no-cut-over': { status: 409, title: 'No cut-over to reverse' },
  /** The document could not be read or written: whether other processes follow is unknown. */
  'control-unavailable': { status: 503, title: 'Control store is out of reach' },
} as const;

/** Searches and other requests are refused with the last three as well. `overloaded`: too many calls wait. */
type OperationErrorCode = keyof typeof OPERATION_PROBLEMS | 'unknown-domain' | 'invalid-request' | 'overloaded';

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
