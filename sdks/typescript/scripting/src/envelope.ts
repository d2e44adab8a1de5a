/** The envelope: what Trailblaze sends with every call. */

export type DevicePlatform = 'android' | 'ios' | 'web' | 'desktop';

export type TrailblazeDevice = {
  id: string;
  platform: DevicePlatform;
  widthPixels: number;
  heightPixels: number;
  /** The full driver key, such as `android-ondevice-accessibility`. */
  driverType: string;
};

/** `_meta.trailblaze` of a call. */
export type TrailblazeMeta = {
  /** The base URL for callbacks, such as `http://127.0.0.1:52525`. */
  baseUrl: string;
  sessionId: string;
  /** The id of this call; valid until the call returns. */
  invocationId: string;
  device: TrailblazeDevice;
  memory: Record<string, unknown>;
  capabilities: { sampling: boolean };
};

/** `arguments._trailblazeContext` of a call, for servers that are written without this package. */
export type TrailblazeContext = {
  memory: Record<string, unknown>;
  device: {
    platform: 'ANDROID' | 'IOS' | 'WEB' | 'DESKTOP';
    widthPixels: number;
    heightPixels: number;
    driverType: string;
  };
};

/** Arguments of a tool, with the context that Trailblaze adds. */
export type WithTrailblazeContext<A = Record<string, unknown>> = A & {
  /** Undefined if another MCP client makes the call. */
  _trailblazeContext?: TrailblazeContext;
};

/** The envelope as received: other versions of Trailblaze may omit fields. */
export type ReceivedMeta = Partial<TrailblazeMeta>;

/** Reads `_meta` of a call. Returns undefined for a call of another MCP client. */
export function readMeta(meta: unknown): ReceivedMeta | undefined {
  const found = isRecord(meta) ? meta['trailblaze'] : undefined;
  if (!isRecord(found)) {
    return undefined;
  }
  const received: ReceivedMeta = {};
  for (const key of ['baseUrl', 'sessionId', 'invocationId'] as const) {
    const value = found[key];
    if (typeof value === 'string' && value !== '') {
      received[key] = value;
    }
  }
  if (isRecord(found['device'])) {
    received.device = found['device'] as TrailblazeDevice;
  }
  if (isRecord(found['memory'])) {
    received.memory = found['memory'];
  }
  const capabilities = found['capabilities'];
  received.capabilities = { sampling: isRecord(capabilities) && capabilities['sampling'] === true };
  return received;
}

/** Removes `_trailblazeContext` from the arguments: it is for servers that are written without this package. */
export function withoutContext(args: unknown): Record<string, unknown> {
  if (!isRecord(args)) {
    return {};
  }
  const { _trailblazeContext: _, ...rest } = args;
  return rest;
}

/** `_trailblazeContext` of a call. Trailblaze leaves the argument out for tools that forbid it, so `_meta` has it too. */
export function contextOf(args: unknown, meta: unknown): TrailblazeContext | undefined {
  if (isRecord(args) && isRecord(args['_trailblazeContext'])) {
    return args['_trailblazeContext'] as TrailblazeContext;
  }
  const received = readMeta(meta);
  if (received?.device === undefined) {
    return undefined;
  }
  const { platform, widthPixels, heightPixels, driverType } = received.device;
  const device = { platform: platform.toUpperCase() as TrailblazeContext['device']['platform'], widthPixels, heightPixels, driverType };
  return { memory: received.memory ?? {}, device };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
