// Written by `trailblaze types`; do not edit. What scripts find without an import; tool servers do not have it.

declare const tools: TrailblazeScript['tools'];
declare const callTool: TrailblazeScript['callTool'];
declare const memory: TrailblazeMemory;
declare const platform: string;
declare const device: TrailblazeDevice;
declare const log: TrailblazeScript['log'];
declare const fail: TrailblazeScript['fail'];
declare const sleep: TrailblazeScript['sleep'];
declare const readFile: TrailblazeScript['readFile'];
declare const env: TrailblazeScript['env'];
/** The arguments of the call. */
declare const args: any;
declare const input: { params: any; memory: Record<string, any> };
declare const trailblaze: {
  /** Calls a tool and says what happened, whether it failed or not. */
  execute<N extends keyof TrailblazeTools>(
    name: N,
    ...args: TrailblazeArgsOf<N>
  ): Promise<{ isError: boolean; message: string; text: string; variant: string; structured?: unknown }>;
  callTool: TrailblazeScript['callTool'];
};
