/** Errors between a tool and Trailblaze. A handler that does not catch one fails with its message. */

import { ActionFailed, TrailblazeError, type ErrorCode } from '@trailblaze/client';

/** A tool that was called through `client.callTool` failed. */
export class TrailblazeToolError extends ActionFailed {
  override name = 'TrailblazeToolError';
  readonly toolName: string;

  constructor(toolName: string, message: string) {
    super(message === '' ? `\`${toolName}\` failed` : message, 'ExceptionThrown');
    this.toolName = toolName;
  }
}

/** Trailblaze could not be reached, refused to call the tool, or returned a response that this version cannot read. */
export class TrailblazeCallbackError extends TrailblazeError {
  override name = 'TrailblazeCallbackError';

  constructor(message: string, code: ErrorCode = 'unknown') {
    super(code, message);
  }
}

/** A tool used its context after its call had ended. Log a warning wherever this is created: nothing may catch it. */
export class LateUse extends TrailblazeError {
  override name = 'LateUse';

  constructor(tool: string, what: string) {
    const hint = 'hint: wait for everything that the tool starts before it returns';
    super('not_found', `\`${tool}\` called \`${what}\` after it had ended, so nothing was done\n${hint}`);
  }
}

export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) {
    return thrown.message === '' ? thrown.name : thrown.message;
  }
  return String(thrown);
}
