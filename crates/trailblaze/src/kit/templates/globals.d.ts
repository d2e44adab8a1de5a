/** An element of the screen. */
interface TrailblazeElement {
  ref?: string;
  role: string;
  text?: string;
  id?: string;
  bounds: { left: number; top: number; right: number; bottom: number };
  enabled?: boolean;
  children?: TrailblazeElement[];
  [state: string]: unknown;
}

interface TrailblazeScreen {
  platform: string;
  width: number;
  height: number;
  app?: string;
  /** The screen as a tree. */
  root: TrailblazeElement;
  /** All elements, in the order of the tree. */
  elements: TrailblazeElement[];
}

interface TrailblazeMemory {
  get(key: string): any;
  has(key: string): boolean;
  keys(): string[];
  /** Sets any JSON value. Changes count unless the tool fails. */
  set(key: string, value: unknown): void;
  delete(key: string): boolean;
}

interface TrailblazeDevice {
  id: string;
  platform: string;
  widthPixels: number;
  heightPixels: number;
  driverType: string;
}

interface TrailblazeResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null; has(name: string): boolean };
  text(): Promise<string>;
  json(): Promise<any>;
}

type TrailblazeArgsOf<N extends keyof TrailblazeTools> = Parameters<TrailblazeTools[N]>;

/** The second parameter of a script's function. */
interface TrailblazeScript {
  readonly tools: TrailblazeTools;
  callTool<N extends keyof TrailblazeTools>(name: N, ...args: TrailblazeArgsOf<N>): ReturnType<TrailblazeTools[N]>;
  screen(): Promise<TrailblazeScreen>;
  readonly memory: TrailblazeMemory;
  readonly platform: string;
  readonly device: TrailblazeDevice;
  log(...values: unknown[]): void;
  /** Fails the tool. A fatal failure ends the trail. */
  fail(message: string, options?: { fatal?: boolean }): never;
  sleep(ms: number): Promise<void>;
  readFile(path: string): Promise<string>;
  fetch(url: string, options?: { method?: string; headers?: Record<string, string>; body?: string }): Promise<TrailblazeResponse>;
  env(name: string): Promise<string | undefined>;
}

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
