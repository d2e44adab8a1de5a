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
    capabilities: {
        sampling: boolean;
    };
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
export declare function readMeta(meta: unknown): ReceivedMeta | undefined;
/** Removes `_trailblazeContext` from the arguments: it is for servers that are written without this package. */
export declare function withoutContext(args: unknown): Record<string, unknown>;
/** `_trailblazeContext` of a call. Trailblaze leaves the argument out for tools that forbid it, so `_meta` has it too. */
export declare function contextOf(args: unknown, meta: unknown): TrailblazeContext | undefined;
export declare function isRecord(value: unknown): value is Record<string, unknown>;
