/** What comes along with every call that Trailblaze makes. */

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
  /** Where callbacks go, such as `http://127.0.0.1:52525`. */
  baseUrl: string;
  sessionId: string;
  /** This one call. It ends with the call's answer. */
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

/** What a sender filled in; older and newer ones may leave things out. */
export type ReceivedMeta = Partial<TrailblazeMeta>;

/** Reads `_meta` of a call. Nothing for a call of another MCP client. */
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

/** The arguments that the caller meant: Trailblaze's own key is for servers written without this package. */
export function withoutContext(args: unknown): Record<string, unknown> {
  if (!isRecord(args)) {
    return {};
  }
  const { _trailblazeContext: _, ...rest } = args;
  return rest;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
