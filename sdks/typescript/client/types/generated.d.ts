import type { CallOptions, MethodSpec } from './method.ts';
/** A direction on the screen. */
export type Direction = 'up' | 'UP' | 'down' | 'DOWN' | 'left' | 'LEFT' | 'right' | 'RIGHT';
/** How an app is launched. */
export type LaunchMode = 'reinstall' | 'REINSTALL' | 'force_restart' | 'FORCE_RESTART' | 'resume' | 'RESUME';
/** A session. */
export interface SessionInfo {
    /** Its id. */
    readonly sessionId: string;
    /** Its device. */
    readonly device: Device;
}
/** A device. */
export interface Device {
    /** Its id, such as android/sim-1. */
    readonly id: string;
    /** android, ios, web or desktop. */
    readonly platform: string;
    /** Its driver, such as playwright-native. */
    readonly driver: string;
    /** The size of its screen in pixels. */
    readonly width: number;
    readonly height: number;
}
/** The tools of a session. */
export interface ToolList {
    /** All tools that can be called by name. */
    readonly tools: readonly ToolInfo[];
}
/** A tool. */
export interface ToolInfo {
    /** Its name. */
    readonly name: string;
    /** What it does. */
    readonly description: string;
    /** The JSON Schema of its arguments. */
    readonly inputSchema: Readonly<Record<string, unknown>>;
    /** What else is known about it. */
    readonly metadata: ToolMetadata;
}
/** The result of a tool. A tool that failed is a result, not an error of the call. */
export interface ToolResult {
    /** Whether it succeeded. */
    readonly success: boolean;
    /** Its text, or why it failed. */
    readonly message: string;
    /** The kind of failure, such as AssertionFailed; empty if it succeeded. */
    readonly variant: string;
    /** What it returned as data. Absent if nothing. */
    readonly structured?: unknown;
}
/** What a reload changed. */
export interface ReloadResult {
    /** The names of the tools. */
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly changed: readonly string[];
    /** How many tools there are now. */
    readonly total: number;
}
/** What a model answered. */
export interface ModelReply {
    /** What it answered. */
    readonly text: string;
    /** The model that answered. */
    readonly model: string;
}
/** An event of a session. */
export interface SessionEvent {
    /** Counts from 1, without gaps. */
    readonly number: number;
    /** Its type, such as called. */
    readonly type: string;
    /** The event as JSON, as in events.jsonl: an object whose only key is its type. */
    readonly json: string;
}
/** The devices of the running program. */
export interface DeviceList {
    /** Counts the changes, from 1. */
    readonly number: number;
    /** The devices, in the order of their ids. */
    readonly devices: readonly Device[];
}
/** The metadata that a tool server publishes as its resource trailblaze://registry. */
export interface TrailblazeToolRegistry {
    /** By the name of the tool. */
    readonly tools: Readonly<Record<string, ToolMetadata>>;
    /** By the name of the group. */
    readonly groups: Readonly<Record<string, GroupInfo>>;
    /** The server itself. */
    readonly serverInfo?: ServerInfo;
}
/** The metadata of a tool. What is absent has its default. */
export interface ToolMetadata {
    /** The platforms that it supports; all if empty. */
    readonly platforms: readonly string[];
    /** The groups that it belongs to. */
    readonly groups: readonly string[];
    /** Whether models may call it (default true). */
    readonly exposedToLlm?: boolean;
    /** Whether its calls are recorded (default true). */
    readonly isRecordable?: boolean;
    /** Whether it returns calls to make in its place (default false). */
    readonly isDelegating?: boolean;
}
/** A group of tools. */
export interface GroupInfo {
    /** What its tools have in common. */
    readonly description: string;
    /** Whether its tools are offered unless something else is asked for (default true). */
    readonly defaultEnabled?: boolean;
}
/** A tool server. */
export interface ServerInfo {
    /** Its name. */
    readonly name: string;
    /** Its version. */
    readonly version: string;
}
/** The result of an action or an assertion. A tool that failed is a result, not an error of the call. */
export interface ActionResult {
    /** Whether it succeeded. */
    readonly success: boolean;
    /** What was done, or why it failed. */
    readonly message: string;
    /** The kind of failure, such as AssertionFailed or MissingRequiredArgs; empty if it succeeded. */
    readonly variant: string;
}
/** The result of a shell command on the device. */
export interface ShellResult {
    /** What it wrote to its standard output. */
    readonly output: string;
    /** Its exit code; 0 means success. */
    readonly exitCode: number;
    /** Whether it succeeded. */
    readonly success: boolean;
    /** Why it failed. */
    readonly message: string;
    /** The kind of failure; empty if it succeeded. */
    readonly variant: string;
}
/** What a screen shows. */
export interface ScreenState {
    /** android, ios, web or desktop. */
    readonly platform: string;
    /** The size of the screen in pixels. */
    readonly width: number;
    readonly height: number;
    /** The app in the foreground, or the URL of the page. Absent if unknown. */
    readonly app?: string;
    /** The elements of the screen, as a tree. */
    readonly root: Element;
    /** A screenshot with secrets masked, if one was requested. */
    readonly picture?: Picture;
    /** All elements of the screen, each before its children. */
    readonly elements: readonly Element[];
}
/** An element of a screen. */
export interface Element {
    /** The ref by which tap and others find the element on this screen. Absent if it cannot be referred to. */
    readonly ref?: string;
    /** What it is, such as button or textbox; on a phone, its class. */
    readonly role: string;
    /** Its own text. */
    readonly text?: string;
    /** Its label for assistive technology, if that differs from its text. */
    readonly label?: string;
    /** Its developer-assigned id. */
    readonly id?: string;
    /** Where it is. Absent if it is not laid out. */
    readonly bounds?: Bounds;
    /** Whether it accepts input. */
    readonly enabled: boolean;
    /** Whether it is checked. Absent if it cannot be. */
    readonly checked?: boolean;
    /** Whether it is selected, as a tab or a row of a list. */
    readonly selected: boolean;
    /** Whether it has the keyboard focus. */
    readonly focused: boolean;
    /** Whether it is scrolled out of its container. */
    readonly clipped: boolean;
    /** The elements in it. Elements that are nested deeper than 60 are children of the deepest one above them. */
    readonly children: readonly Element[];
    /** The number by which tapOnElementByNodeId finds it, on this screen only. */
    readonly nodeId?: number;
}
/** A rectangle on the screen, in pixels from the top left corner. */
export interface Bounds {
    /** The left edge. */
    readonly left: number;
    /** The top edge. */
    readonly top: number;
    /** The right edge. */
    readonly right: number;
    /** The bottom edge. */
    readonly bottom: number;
}
/** The windows on a desktop. */
export interface WindowList {
    /** From the bottom to the top. */
    readonly windows: readonly DesktopWindow[];
}
/** A window on a desktop. */
export interface DesktopWindow {
    /** What activateWindow and close find it by. */
    readonly id: string;
    /** Its title; empty if it has none. */
    readonly title: string;
    /** The program that it belongs to. */
    readonly app: string;
    /** Where it is. */
    readonly bounds?: Bounds;
    /** Whether it is in front and has the keyboard. */
    readonly active: boolean;
}
/** A picture. */
export interface Picture {
    /** Its MIME type: image/png. */
    readonly mime: string;
    /** The file. */
    readonly data: Uint8Array;
}
/** Parameters of Tap: one of ref; text and id; or x and y. */
export interface TapParams {
    /** The element's ref in the last snapshot, such as y778, or its description there. */
    ref?: string | undefined;
    /** The element's full text. */
    text?: string | undefined;
    /** The element's developer-assigned id. */
    id?: string | undefined;
    /** Which match to use, from 0. */
    index?: number | undefined;
    /** Pixels from the left edge; requires y. */
    x?: number | undefined;
    /** Pixels from the top edge; requires x. */
    y?: number | undefined;
    /** Long-press it instead. */
    longPress?: boolean | undefined;
    /** How long to wait, in milliseconds (default 5000). */
    timeoutMs?: number | undefined;
}
/** Parameters of InputText. */
export interface InputTextParams {
    /** The text to type. */
    text: string;
    /** On a phone, hide the keyboard afterwards. Default: true. */
    hideKeyboardAfter?: boolean | undefined;
}
/** Parameters of LaunchApp. */
export interface LaunchAppParams {
    /** The app's package, bundle id or URL (default: the target's app). */
    packageId?: string | undefined;
    /** Alias of packageId. */
    appId?: string | undefined;
    /** How to launch the app. Default: `REINSTALL`. */
    launchMode?: LaunchMode | undefined;
    /** How long the page may take to load, in milliseconds (default 15000 to respond, then 10000 to finish). */
    timeoutMs?: number | undefined;
}
/** Parameters of ClearAppData. */
export interface ClearAppDataParams {
    /** The app's package, bundle id or URL. */
    packageId: string;
}
/** Parameters of IsVisible. */
export interface IsVisibleParams {
    /** The element's full text. */
    text?: string | undefined;
    /** The element's developer-assigned id. */
    id?: string | undefined;
    /** How long to wait for the element, in milliseconds. Default: 0. */
    timeoutMs?: number | undefined;
}
/** Parameters of HasText. */
export interface HasTextParams {
    /** The text. */
    text: string;
}
/** Parameters of GetElementText. */
export interface GetElementTextParams {
    /** The element's id. */
    id: string;
}
/** Parameters of GetElementCount. */
export interface GetElementCountParams {
    /** The element's full text. */
    text?: string | undefined;
    /** The element's developer-assigned id. */
    id?: string | undefined;
}
/** Parameters of CaptureScreen. */
export interface CaptureScreenParams {
    /** Also return a screenshot, with secrets masked. Default: false. */
    picture?: boolean | undefined;
}
/** Parameters of AssertVisible. */
export interface AssertVisibleParams {
    /** The element's ref in the last snapshot, or its description there. */
    ref?: string | undefined;
    /** The element's full text. */
    text?: string | undefined;
    /** The element's developer-assigned id. */
    id?: string | undefined;
    /** How long to wait, in milliseconds (default 5000). */
    timeoutMs?: number | undefined;
    /** The text that the element must have. */
    expectedText?: string | undefined;
}
/** Parameters of WaitUntilVisible. */
export interface WaitUntilVisibleParams {
    /** The element's full text. */
    text: string;
    /** How long to wait, in milliseconds. */
    timeoutMs: number;
}
/** Parameters of AdbShell. */
export interface AdbShellParams {
    /** The command line. */
    command: string;
}
/** Parameters of GrantPermission. */
export interface GrantPermissionParams {
    /** The app's package, bundle id or URL. */
    packageId: string;
    /** The permission, such as android.permission.CAMERA. */
    permission: string;
}
/** Parameters of Pinch. */
export interface PinchParams {
    /** Above 1 zooms in, below 1 zooms out. */
    scale: number;
}
/** Parameters of Swipe. */
export interface SwipeParams {
    /** The direction that the finger moves in. Default: `UP`. */
    direction?: Direction | undefined;
    /** Start the swipe on the element with this text. */
    swipeOnElementText?: string | undefined;
    /** How long the swipe takes, in milliseconds. */
    durationMs?: number | undefined;
    /** How long to wait, in milliseconds (default 5000). */
    timeoutMs?: number | undefined;
}
/** Parameters of Scroll. */
export interface ScrollParams {
    /** The direction that the view moves in. Default: `DOWN`. */
    direction?: Direction | undefined;
    /** How far to scroll, in pixels (default: most of a screen). */
    amount?: number | undefined;
}
/** Parameters of Navigate. */
export interface NavigateParams {
    /** The URL. */
    url: string;
    /** How long the page may take to load, in milliseconds (default 15000 to respond, then 10000 to finish). */
    timeoutMs?: number | undefined;
}
/** Parameters of Click. */
export interface ClickParams {
    /** The CSS selector. */
    selector: string;
    /** How long to wait, in milliseconds (default 5000). */
    timeoutMs?: number | undefined;
}
/** Parameters of Fill. */
export interface FillParams {
    /** The CSS selector. */
    selector: string;
    /** The new value. */
    value: string;
    /** How long to wait, in milliseconds (default 5000). */
    timeoutMs?: number | undefined;
}
/** Parameters of WaitForSelector. */
export interface WaitForSelectorParams {
    /** The CSS selector. */
    selector: string;
    /** How long to wait, in milliseconds (default 5000). */
    timeoutMs?: number | undefined;
}
/** Parameters of EvaluateJs. */
export interface EvaluateJsParams {
    /** A JavaScript expression. A promise is awaited. */
    script: string;
}
/** Parameters of ActivateWindow. */
export interface ActivateWindowParams {
    /** The id of the window, or its title. */
    id: string;
}
/** Parameters of Menu. */
export interface MenuParams {
    /** The names on the way to the item, such as File and Save As. */
    path: readonly string[];
}
/** Parameters of PressKeys. */
export interface PressKeysParams {
    /** The keys, such as Control+Shift+S, F5 or a. */
    keys: string;
}
/** Parameters of SetClipboard. */
export interface SetClipboardParams {
    /** The text. */
    text: string;
}
/** Parameters of Close. */
export interface CloseParams {
    /** The id of the window, or its title. */
    id: string;
}
/** Parameters of Remember. */
export interface RememberParams {
    /** The name to store it under. */
    variable: string;
    /** The value. */
    value: string;
}
/** Parameters of Forget. */
export interface ForgetParams {
    /** The name of the value. */
    variable: string;
}
/** Parameters of CallTool. */
export interface CallToolParams {
    /** The name of the tool. */
    name: string;
    /** Its arguments. */
    args?: Readonly<Record<string, unknown>> | undefined;
}
/** Parameters of AskModel. */
export interface AskModelParams {
    /** The question. */
    prompt: string;
    /** Also send the current screenshot. */
    screen?: boolean | undefined;
    /** At most this many tokens. */
    maxTokens?: number | undefined;
    /** What the model is told first. */
    system?: string | undefined;
}
/** Parameters of WatchEvents. */
export interface WatchEventsParams {
    /** The number of the last event that the caller has; 0 to start with the first. */
    after?: number | undefined;
}
/** Parameters of WatchDevices. */
export interface WatchDevicesParams {
    /** The number of the last list that the caller has; 0 to get the current list at once. */
    after?: number | undefined;
}
/** The commands that every device has. */
export interface TrailblazeCommands {
    /**
     * Tap an element, by its ref in a snapshot, its full text or its id, or tap a point. Waits until it can be
     * tapped.
     * @param x Pixels from the left edge; requires y.
     * @param y Pixels from the top edge; requires x.
     */
    tap(x: number, y: number, more?: Omit<TapParams, 'x' | 'y'>, options?: CallOptions): Promise<ActionResult>;
    /**
     * Tap an element, by its ref in a snapshot, its full text or its id, or tap a point. Waits until it can be
     * tapped.
     */
    tap(params?: TapParams, options?: CallOptions): Promise<ActionResult>;
    /**
     * Type text into the focused field.
     * @param text The text to type.
     */
    inputText(text: string, more?: Omit<InputTextParams, 'text'>, options?: CallOptions): Promise<ActionResult>;
    /** Type text into the focused field. */
    inputText(params: InputTextParams, options?: CallOptions): Promise<ActionResult>;
    /** Type text into the focused field. */
    inputText(text: string, more: Omit<InputTextParams, 'text'>, options?: CallOptions): Promise<ActionResult>;
    /**
     * Launch an app. REINSTALL clears its data first, FORCE_RESTART keeps its data, RESUME brings it to the front.
     * @param packageId The app's package, bundle id or URL (default: the target's app).
     */
    launchApp(packageId: string, more?: Omit<LaunchAppParams, 'packageId'>, options?: CallOptions): Promise<ActionResult>;
    /** Launch an app. REINSTALL clears its data first, FORCE_RESTART keeps its data, RESUME brings it to the front. */
    launchApp(params?: LaunchAppParams, options?: CallOptions): Promise<ActionResult>;
    /** Launch an app. REINSTALL clears its data first, FORCE_RESTART keeps its data, RESUME brings it to the front. */
    launchApp(packageId: string, more: Omit<LaunchAppParams, 'packageId'>, options?: CallOptions): Promise<ActionResult>;
    /**
     * Clear all data of an app.
     * @param packageId The app's package, bundle id or URL.
     */
    clearAppData(packageId: string, options?: CallOptions): Promise<ActionResult>;
    /** Clear all data of an app. */
    clearAppData(params: ClearAppDataParams, options?: CallOptions): Promise<ActionResult>;
    /**
     * Check whether an element is visible. Returns true or false.
     * @param text The element's full text.
     */
    isVisible(text: string, more?: Omit<IsVisibleParams, 'text'>, options?: CallOptions): Promise<boolean>;
    /** Check whether an element is visible. Returns true or false. */
    isVisible(params?: IsVisibleParams, options?: CallOptions): Promise<boolean>;
    /** Check whether an element is visible. Returns true or false. */
    isVisible(text: string, more: Omit<IsVisibleParams, 'text'>, options?: CallOptions): Promise<boolean>;
    /**
     * Check whether text is visible anywhere, also as part of a longer text. Returns true or false.
     * @param text The text.
     */
    hasText(text: string, options?: CallOptions): Promise<boolean>;
    /** Check whether text is visible anywhere, also as part of a longer text. Returns true or false. */
    hasText(params: HasTextParams, options?: CallOptions): Promise<boolean>;
    /**
     * Get the text of an element; null if there is none.
     * @param id The element's id.
     */
    getElementText(id: string, options?: CallOptions): Promise<string | null>;
    /** Get the text of an element; null if there is none. */
    getElementText(params: GetElementTextParams, options?: CallOptions): Promise<string | null>;
    /**
     * Count the elements that match.
     * @param text The element's full text.
     */
    getElementCount(text: string, more?: Omit<GetElementCountParams, 'text'>, options?: CallOptions): Promise<number>;
    /** Count the elements that match. */
    getElementCount(params?: GetElementCountParams, options?: CallOptions): Promise<number>;
    /** Count the elements that match. */
    getElementCount(text: string, more: Omit<GetElementCountParams, 'text'>, options?: CallOptions): Promise<number>;
    /** Capture the current screen: its elements, with refs to tap. */
    captureScreen(params?: CaptureScreenParams, options?: CallOptions): Promise<ScreenState>;
    /**
     * Assert that an element is visible, or becomes visible within the timeout.
     * @param text The element's full text.
     */
    assertVisible(text: string, more?: Omit<AssertVisibleParams, 'text'>, options?: CallOptions): Promise<ActionResult>;
    /** Assert that an element is visible, or becomes visible within the timeout. */
    assertVisible(params?: AssertVisibleParams, options?: CallOptions): Promise<ActionResult>;
    /** Assert that an element is visible, or becomes visible within the timeout. */
    assertVisible(text: string, more: Omit<AssertVisibleParams, 'text'>, options?: CallOptions): Promise<ActionResult>;
    /**
     * Wait until an element with the text is visible; fail if it does not appear.
     * @param text The element's full text.
     * @param timeoutMs How long to wait, in milliseconds.
     */
    waitUntilVisible(text: string, timeoutMs: number, options?: CallOptions): Promise<ActionResult>;
    /** Wait until an element with the text is visible; fail if it does not appear. */
    waitUntilVisible(params: WaitUntilVisibleParams, options?: CallOptions): Promise<ActionResult>;
}
/** The commands of phones and tablets. Other devices have some of them too. */
export interface MaestroCommands {
    /**
     * Run a shell command on the device. Only on android.
     * @param command The command line.
     */
    adbShell(command: string, options?: CallOptions): Promise<ShellResult>;
    /** Run a shell command on the device. Only on android. */
    adbShell(params: AdbShellParams, options?: CallOptions): Promise<ShellResult>;
    /**
     * Grant a permission to an app. Only on android and ios.
     * @param packageId The app's package, bundle id or URL.
     * @param permission The permission, such as android.permission.CAMERA.
     */
    grantPermission(packageId: string, permission: string, options?: CallOptions): Promise<ActionResult>;
    /** Grant a permission to an app. Only on android and ios. */
    grantPermission(params: GrantPermissionParams, options?: CallOptions): Promise<ActionResult>;
    /** Go back. Only on android and ios. */
    pressBack(options?: CallOptions): Promise<ActionResult>;
    /** Go to the home screen. Only on android and ios. */
    pressHome(options?: CallOptions): Promise<ActionResult>;
    /**
     * Swipe in a direction.
     * @param direction The direction that the finger moves in.
     */
    swipe(direction: Direction, more?: Omit<SwipeParams, 'direction'>, options?: CallOptions): Promise<ActionResult>;
    /** Swipe in a direction. */
    swipe(params?: SwipeParams, options?: CallOptions): Promise<ActionResult>;
    /** Swipe in a direction. */
    swipe(direction: Direction, more: Omit<SwipeParams, 'direction'>, options?: CallOptions): Promise<ActionResult>;
    /**
     * Scroll the view in a direction.
     * @param direction The direction that the view moves in.
     */
    scroll(direction: Direction, more?: Omit<ScrollParams, 'direction'>, options?: CallOptions): Promise<ActionResult>;
    /** Scroll the view in a direction. */
    scroll(params?: ScrollParams, options?: CallOptions): Promise<ActionResult>;
    /** Scroll the view in a direction. */
    scroll(direction: Direction, more: Omit<ScrollParams, 'direction'>, options?: CallOptions): Promise<ActionResult>;
    /**
     * Pinch with two fingers. Only on android and ios.
     * @param scale Above 1 zooms in, below 1 zooms out.
     */
    pinch(scale: number, options?: CallOptions): Promise<ActionResult>;
    /** Pinch with two fingers. Only on android and ios. */
    pinch(params: PinchParams, options?: CallOptions): Promise<ActionResult>;
}
/** The commands that only browsers have. */
export interface PlaywrightCommands {
    /**
     * Open a URL. Only on web.
     * @param url The URL.
     */
    navigate(url: string, more?: Omit<NavigateParams, 'url'>, options?: CallOptions): Promise<ActionResult>;
    /** Open a URL. Only on web. */
    navigate(params: NavigateParams, options?: CallOptions): Promise<ActionResult>;
    /** Open a URL. Only on web. */
    navigate(url: string, more: Omit<NavigateParams, 'url'>, options?: CallOptions): Promise<ActionResult>;
    /**
     * Click the element that a CSS selector matches. Only on web.
     * @param selector The CSS selector.
     */
    click(selector: string, more?: Omit<ClickParams, 'selector'>, options?: CallOptions): Promise<ActionResult>;
    /** Click the element that a CSS selector matches. Only on web. */
    click(params: ClickParams, options?: CallOptions): Promise<ActionResult>;
    /** Click the element that a CSS selector matches. Only on web. */
    click(selector: string, more: Omit<ClickParams, 'selector'>, options?: CallOptions): Promise<ActionResult>;
    /**
     * Replace the value of the field that a CSS selector matches. Only on web.
     * @param selector The CSS selector.
     * @param value The new value.
     */
    fill(selector: string, value: string, more?: Omit<FillParams, 'selector' | 'value'>, options?: CallOptions): Promise<ActionResult>;
    /** Replace the value of the field that a CSS selector matches. Only on web. */
    fill(params: FillParams, options?: CallOptions): Promise<ActionResult>;
    /**
     * Wait until a CSS selector matches an element on the page. Only on web.
     * @param selector The CSS selector.
     */
    waitForSelector(selector: string, more?: Omit<WaitForSelectorParams, 'selector'>, options?: CallOptions): Promise<ActionResult>;
    /** Wait until a CSS selector matches an element on the page. Only on web. */
    waitForSelector(params: WaitForSelectorParams, options?: CallOptions): Promise<ActionResult>;
    /** Wait until a CSS selector matches an element on the page. Only on web. */
    waitForSelector(selector: string, more: Omit<WaitForSelectorParams, 'selector'>, options?: CallOptions): Promise<ActionResult>;
    /**
     * Evaluate JavaScript in the page. Only on web.
     * @param script A JavaScript expression. A promise is awaited.
     */
    evaluateJs(script: string, options?: CallOptions): Promise<unknown>;
    /** Evaluate JavaScript in the page. Only on web. */
    evaluateJs(params: EvaluateJsParams, options?: CallOptions): Promise<unknown>;
}
/** The commands that only desktops have. */
export interface DesktopCommands {
    /** List the windows on the desktop, from the bottom to the top. Only on desktop. */
    windows(options?: CallOptions): Promise<WindowList>;
    /**
     * Bring a window to the front, and give it the keyboard. Only on desktop.
     * @param id The id of the window, or its title.
     */
    activateWindow(id: string, options?: CallOptions): Promise<ActionResult>;
    /** Bring a window to the front, and give it the keyboard. Only on desktop. */
    activateWindow(params: ActivateWindowParams, options?: CallOptions): Promise<ActionResult>;
    /**
     * Choose an item of a menu of the window in front, from the menu bar or from a button that opens a menu. Only on
     * desktop.
     * @param path The names on the way to the item, such as File and Save As.
     */
    menu(path: readonly string[], options?: CallOptions): Promise<ActionResult>;
    /**
     * Choose an item of a menu of the window in front, from the menu bar or from a button that opens a menu. Only on
     * desktop.
     */
    menu(params: MenuParams, options?: CallOptions): Promise<ActionResult>;
    /**
     * Press a key or a combination of keys. Only on desktop.
     * @param keys The keys, such as Control+Shift+S, F5 or a.
     */
    pressKeys(keys: string, options?: CallOptions): Promise<ActionResult>;
    /** Press a key or a combination of keys. Only on desktop. */
    pressKeys(params: PressKeysParams, options?: CallOptions): Promise<ActionResult>;
    /** Get the text of the clipboard; null if it has none. Only on desktop. */
    getClipboard(options?: CallOptions): Promise<string | null>;
    /**
     * Put a text on the clipboard. Only on desktop.
     * @param text The text.
     */
    setClipboard(text: string, options?: CallOptions): Promise<ActionResult>;
    /** Put a text on the clipboard. Only on desktop. */
    setClipboard(params: SetClipboardParams, options?: CallOptions): Promise<ActionResult>;
    /**
     * Close a window, as its button for that does. Only on desktop.
     * @param id The id of the window, or its title.
     */
    close(id: string, options?: CallOptions): Promise<ActionResult>;
    /** Close a window, as its button for that does. Only on desktop. */
    close(params: CloseParams, options?: CallOptions): Promise<ActionResult>;
}
/** The values that calls remember. */
export interface TrailblazeMemory {
    /**
     * Remember a value. Later steps can use it as {{variable}}.
     * @param variable The name to store it under.
     * @param value The value.
     */
    remember(variable: string, value: string, options?: CallOptions): Promise<ActionResult>;
    /** Remember a value. Later steps can use it as {{variable}}. */
    remember(params: RememberParams, options?: CallOptions): Promise<ActionResult>;
    /**
     * Forget a remembered value.
     * @param variable The name of the value.
     */
    forget(variable: string, options?: CallOptions): Promise<ActionResult>;
    /** Forget a remembered value. */
    forget(params: ForgetParams, options?: CallOptions): Promise<ActionResult>;
    /** List all remembered values. */
    dumpMemory(options?: CallOptions): Promise<Readonly<Record<string, unknown>>>;
}
/** The session that a call belongs to. */
export interface TrailblazeSession {
    /** Get the session's device, such as its platform and the size of its screen. */
    getSession(options?: CallOptions): Promise<SessionInfo>;
    /** List the tools of the session. */
    listTools(options?: CallOptions): Promise<ToolList>;
    /**
     * Call any tool of the session by its name.
     * @param name The name of the tool.
     * @param args Its arguments.
     */
    callTool(name: string, args?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<ToolResult>;
    /** Call any tool of the session by its name. */
    callTool(params: CallToolParams, options?: CallOptions): Promise<ToolResult>;
    /**
     * Load the tools from the tool files and tool servers again. A server whose own code changed must be restarted
     * first.
     */
    reloadTools(options?: CallOptions): Promise<ReloadResult>;
    /**
     * Ask the model. Only for tools of servers that may sample; the call must name its invocation.
     * @param prompt The question.
     * @param screen Also send the current screenshot.
     */
    askModel(prompt: string, screen?: boolean, more?: Omit<AskModelParams, 'prompt' | 'screen'>, options?: CallOptions): Promise<ModelReply>;
    /** Ask the model. Only for tools of servers that may sample; the call must name its invocation. */
    askModel(params: AskModelParams, options?: CallOptions): Promise<ModelReply>;
    /** Follow the events of the session, from the first one or after a number. */
    watchEvents(params?: WatchEventsParams, options?: CallOptions): AsyncIterableIterator<SessionEvent>;
    /** List the devices of the running program. */
    listDevices(options?: CallOptions): Promise<DeviceList>;
    /** Follow the list of devices: the current list first, then every change. */
    watchDevices(params?: WatchDevicesParams, options?: CallOptions): AsyncIterableIterator<DeviceList>;
}
export declare const TRAILBLAZE_COMMANDS: Readonly<Record<keyof TrailblazeCommands, MethodSpec>>;
export declare const MAESTRO_COMMANDS: Readonly<Record<keyof MaestroCommands, MethodSpec>>;
export declare const PLAYWRIGHT_COMMANDS: Readonly<Record<keyof PlaywrightCommands, MethodSpec>>;
export declare const DESKTOP_COMMANDS: Readonly<Record<keyof DesktopCommands, MethodSpec>>;
export declare const TRAILBLAZE_MEMORY: Readonly<Record<keyof TrailblazeMemory, MethodSpec>>;
export declare const TRAILBLAZE_SESSION: Readonly<Record<keyof TrailblazeSession, MethodSpec>>;
/** The groups of commands that some platforms lack, and the platforms that have them. */
export declare const GROUPS: {
    maestro: {
        methods: Readonly<Record<keyof MaestroCommands, MethodSpec>>;
        platforms: string[];
    };
    playwright: {
        methods: Readonly<Record<keyof PlaywrightCommands, MethodSpec>>;
        platforms: string[];
    };
    desktop: {
        methods: Readonly<Record<keyof DesktopCommands, MethodSpec>>;
        platforms: string[];
    };
};
/** The groups of a client. One is undefined if the device is known to lack it. */
export interface CommandGroups {
    /** The commands of phones and tablets. Other devices have some of them too. */
    readonly maestro: MaestroCommands | undefined;
    /** The commands that only browsers have. */
    readonly playwright: PlaywrightCommands | undefined;
    /** The commands that only desktops have. */
    readonly desktop: DesktopCommands | undefined;
}
