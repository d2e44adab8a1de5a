/** A run as html.rs writes it, and as the daemon sends it. */

export type State = 'failed' | 'errored' | 'bug' | 'invalid' | 'unfinished' | 'cancelled' | 'passed' | 'skipped';
export type Standing = 'counts' | 'flaky' | 'healed' | 'retried';
export type Moment = 'before' | 'after' | 'failure';
export type StepKind = 'trailhead' | 'step' | 'verify';
export type Exit = 'passed' | 'failed' | 'invalid' | 'environment' | 'bug';

export interface Run {
  run: string;
  startedAt: string | null;
  version: string | null;
  isNewer: boolean;
  command: string | null;
  project: string | null;
  seed: string | null;
  trails: number | null;
  exit: Exit | null;
  code: number | null;
  micros: number;
  torn: number;
  unknown: number;
  stray: number;
  counts: Record<State | 'flaky' | 'healed' | 'total', number>;
  modelUse: string | null;
  lanes: Lane[];
  servers: Server[];
  leakedProcesses: number;
  notes: Note[];
  attempts: Attempt[];
  failures: number[][];
  retried: number[][];
}

export interface Lane {
  name: string;
  sessions: { device: Device }[];
}

export interface Device {
  driver: string;
  size: Size;
  classifiers: string[];
}

export interface Server {
  name: string;
  device: string | null;
  protocol: string;
  log: string;
  tail: string;
  ended: string | null;
}

export interface Attempt {
  id: string;
  name: string;
  trail: { id: string; path: string; tags?: string[] };
  lane: number;
  number: number;
  repeat?: number;
  state: State;
  standing: Standing;
  at: number;
  micros: number;
  message: string;
  nCalls: number;
  trouble?: Trouble;
  /** The text that is searched, made when it is first needed. */
  haystack?: string;
}

export interface Trouble {
  step: string | null;
  stepNumber: number | null;
  stepKind: StepKind | null;
  message: string;
  expected: string | null;
  saw: string | null;
  picture: Picture | null;
}

export interface Detail {
  steps: Step[];
  loose: Call[];
  failingStep: number | null;
}

export interface Step {
  number: number | null;
  kind: StepKind;
  text: string;
  plan: Plan;
  state: State;
  message: string;
  micros: number | null;
  calls: Call[];
  pictures: Picture[];
  notes: Note[];
  turns: Turn[];
  modelUse: string | null;
  heals?: Heal[];
}

/** A request to a model. */
export interface Turn {
  at: number;
  purpose: string;
  model: string;
  setup: string;
  messages: string[];
  pictures: [file: string, kept: FileInPage][];
  reply: Reply | null;
}

export interface Reply {
  text: string;
  calls: string[];
  problem: string | null;
  micros: number;
  tokensIn: number;
  tokensOut: number;
  tokensCached: number;
  cost: string | null;
}

/** A call that did not find its element. */
export interface Heal {
  result: 'healed' | 'withdrawn' | 'suggested';
  from: string;
  suggestions: { call: string; element: string; reason: string; score: number | null; isByModel: boolean }[];
  message: string;
}

export type Plan = 'authored' | 'model' | 'interactive' | { recording?: { classifier?: string } };
export type Pair = [name: string, value: string];

export interface Call {
  id: string;
  at: number;
  depth: number;
  tool: string;
  args: Pair[];
  origin: string;
  kind: string;
  isRecordable: boolean;
  isDelegating: boolean;
  source: string;
  micros: number | null;
  touches: Touch[];
  waits: { what: string; micros: number; met: boolean; saw: string }[];
  notes: Note[];
  pictures: Picture[];
  judgedBy: string | null;
  answer: { outcome?: Outcome; fault?: { exit: Exit; message: string } } | null;
}

export interface Outcome {
  variant: string | { missingRequiredArgs?: { missing: string[] } };
  text: string;
  structured: string | null;
  attachments: Attachment[];
  delegates: [tool: string, args: Pair[]][];
  remembered: Pair[];
  forgotten: string[];
}

export interface Attachment {
  name: string;
  mime: string;
  file: string | null;
  kept: FileInPage | null;
}

export interface Touch {
  point: { x: number; y: number } | null;
  bounds: { left: number; top: number; right: number; bottom: number } | null;
  what: string;
}

export interface Note {
  level: 'debug' | 'info' | 'warning' | 'error';
  text: string;
}

export interface Picture {
  moment?: Moment;
  file: string;
  screen: Size;
  kept: FileInPage;
  tree?: FileInPage | null;
  treeFile?: string | null;
  isAttached?: boolean;
}

/** Where a file is: in the page, next to it, or nowhere. */
export type FileInPage = 'nextToPage' | { embedded: number; missing?: undefined } | { missing: string; embedded?: undefined };

export interface Size {
  width: number;
  height: number;
}
