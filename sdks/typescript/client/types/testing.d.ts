/** A client for unit tests, without Trailblaze: the test answers its calls. */
import { TrailblazeClient, type ClientOptions } from './client.ts';
import { type Element, type ScreenState } from './generated.ts';
export { misspelled } from './names.ts';
/**
 * Answers a call: `name` is that of the method, such as `isVisible`. Returns what the method returns; for an action or assertion
 * nothing, or its message. A boolean or number may be a text, as the tool of the same name returns it. If it throws, the action or
 * assertion has failed.
 */
export type Answer = (name: string, params: Record<string, unknown>) => unknown;
/** Why Trailblaze would refuse a call of a built-in tool: the names and types of its arguments. Other tools are not known here. */
export declare function refusalOf(tool: string, args: Readonly<Record<string, unknown>>): string | undefined;
export declare function fakeClient(answer: Answer, options?: Omit<ClientOptions, 'transport'>): TrailblazeClient;
/** An element of a fake screen: its text, or what it should have. */
export type FakeElement = string | (Omit<Partial<Element>, 'children'> & {
    readonly children?: readonly FakeElement[];
});
/**
 * A screen with these elements, from top to bottom, as the fake of `captureScreen` returns it:
 * `fakeContext({ tools: { captureScreen: () => fakeScreen('Email', { role: 'button', text: 'Sign in', id: 'go' }) } })`
 */
export declare function fakeScreen(...elements: FakeElement[]): ScreenState;
