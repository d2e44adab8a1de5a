/** Drive a device of Trailblaze with typed commands. */
export { COMMAND_NAMES, GROUP_NAMES, TrailblazeClient, type ClientOptions } from './client.ts';
export { ActionFailed, AssertionFailed, TrailblazeError, withStackOf, type ErrorCode, type RpcCode } from './errors.ts';
export { registry, REGISTRY_URI, type ToolEntry, type ToolRegistry } from './registry.ts';
export type { Sampling, SamplingMessage, SamplingParams, SamplingReply } from './sampling.ts';
export type { AboutCall, Track } from './context.ts';
export type { Transport } from './connect.ts';
export type { CallOptions } from './method.ts';
export type * from './generated.ts';
