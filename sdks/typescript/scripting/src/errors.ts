/** Errors between a tool and Trailblaze. A handler that does not catch one fails with its message. */

export class TrailblazeError extends Error {
  override name = 'TrailblazeError';
}

/** A tool that was called through `client.callTool` failed. */
export class TrailblazeToolError extends TrailblazeError {
  override name = 'TrailblazeToolError';
  readonly toolName: string;

  constructor(toolName: string, message: string) {
    super(message === '' ? `\`${toolName}\` failed` : message);
    this.toolName = toolName;
  }
}

/** Trailblaze could not be reached, refused to call the tool, or returned a response that this version cannot read. */
export class TrailblazeCallbackError extends TrailblazeError {
  override name = 'TrailblazeCallbackError';
}

export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) {
    return thrown.message === '' ? thrown.name : thrown.message;
  }
  return String(thrown);
}
