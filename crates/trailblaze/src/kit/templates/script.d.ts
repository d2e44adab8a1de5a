/** The arguments that a caller gives: those with a default may be left out. */
type TrailblazeWithout<Args, Preset extends keyof Args> = Omit<Args, Preset> & Partial<Pick<Args, Preset>>;

/** An element of the screen, as the typed API has it. */
interface TrailblazeElement {
  ref?: string;
  role: string;
  text?: string;
  label?: string;
  id?: string;
  bounds: { left: number; top: number; right: number; bottom: number };
  enabled?: boolean;
  checked?: boolean;
  selected?: boolean;
  focused?: boolean;
  clipped?: boolean;
  nodeId?: number;
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
