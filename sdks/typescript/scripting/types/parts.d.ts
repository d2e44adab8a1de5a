/** What the package has, wherever the tools run. */
export { tool } from './tool.ts';
export type { Args, DefinedTool, Handler, HandlerResult, Input, JsonSchema, ToolSpec } from './tool.ts';
export type { CallOptions, ToolAnswer, ToolCallArgs, ToolClient, ToolName, ToolContext, ToolSession } from './context.ts';
export { Context } from './context.ts';
export type { ToolMemory } from './memory.ts';
export { TrailblazeCallbackError, TrailblazeToolError } from './errors.ts';
export { ActionFailed, AssertionFailed, registry, TrailblazeClient, TrailblazeError } from '@trailblaze/client';
export type { ToolFlags, TrailblazeTool, TrailblazeToolMeta } from './tool-meta.ts';
export type { DevicePlatform, TrailblazeContext, TrailblazeDevice, TrailblazeMeta, WithTrailblazeContext } from './envelope.ts';
export type { Delegate, TrailblazeResultMeta, Variant } from './result.ts';
export { CALLBACK_PATH, CALLBACK_VERSION } from './callback.ts';
export type { CallbackAction, CallbackAnswer, CallbackRequest, CallbackResult } from './callback.ts';
export type { RunningServer, RunOptions } from './serving.ts';
export type { RegisteredArgs, RegisteredTool, ServerOptions } from './server.ts';
