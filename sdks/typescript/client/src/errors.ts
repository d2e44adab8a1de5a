/** What the client throws. */

/** Why a call was refused or got no answer: the codes of Connect and gRPC. */
export const CODES = [
  'canceled',
  'unknown',
  'invalid_argument',
  'deadline_exceeded',
  'not_found',
  'already_exists',
  'permission_denied',
  'resource_exhausted',
  'failed_precondition',
  'aborted',
  'out_of_range',
  'unimplemented',
  'internal',
  'unavailable',
  'data_loss',
  'unauthenticated',
] as const;

export type RpcCode = (typeof CODES)[number];

/** `action_failed` and `assertion_failed` are results of the command; the others mean that there is no result. */
export type ErrorCode = RpcCode | 'action_failed' | 'assertion_failed';

export class TrailblazeError extends Error {
  override name = 'TrailblazeError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** An action was carried out and failed, such as a tap on an element that did not appear. */
export class ActionFailed extends TrailblazeError {
  override name = 'ActionFailed';
  /** The kind of failure, such as `ExceptionThrown` or `MissingRequiredArgs`. */
  readonly variant: string;

  constructor(message: string, variant: string) {
    super('action_failed', message);
    this.variant = variant;
  }
}

/** An assertion did not hold. */
export class AssertionFailed extends TrailblazeError {
  override name = 'AssertionFailed';
  /** The kind of failure: `AssertionFailed`, or why it could not be checked. */
  readonly variant: string;

  constructor(message: string, variant: string) {
    super('assertion_failed', message);
    this.variant = variant;
  }
}

/**
 * Gives an error the stack of the call that it is about, so that it leads to the caller's line: a stack does not go back beyond an
 * `await` in every engine. `call` is an error that was made when the call was.
 */
export function withStackOf(call: Error, error: unknown): unknown {
  const frames = call.stack?.match(/^\s*at [^]*/m)?.[0];
  if (error instanceof TrailblazeError && frames !== undefined) {
    error.stack = `${error.name}: ${error.message}\n${frames}`;
  }
  return error;
}

export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) {
    return thrown.message === '' ? thrown.name : thrown.message;
  }
  return String(thrown);
}

/** Shortens an unexpected response for a message. */
export function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
