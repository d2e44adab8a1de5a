/** A tool's input, declared with zod or as JSON Schema: the schema that clients see, and the validation of arguments. */
import { type AnySchema, type SchemaOutput, type ShapeOutput, type ZodRawShapeCompat } from '@modelcontextprotocol/sdk/server/zod-compat.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
/** A JSON Schema for an object. */
export type JsonSchema = {
    type: 'object';
    properties?: Record<string, object>;
    required?: string[];
    [keyword: string]: unknown;
};
/** A zod object, the fields of one, or a JSON Schema. */
export type Input = AnySchema | ZodRawShapeCompat | JsonSchema;
/** The type of the arguments of a handler. */
export type Args<I> = [I] extends [undefined] ? Record<string, never> : I extends {
    type: 'object';
    parse?: never;
} ? Record<string, unknown> : I extends AnySchema ? SchemaOutput<I> : I extends ZodRawShapeCompat ? ShapeOutput<I> : never;
export type CheckedInput = {
    schema: JsonSchema;
    /** Returns valid arguments, with zod's defaults and conversions, or a result that describes what is wrong. */
    check(args: Record<string, unknown>): Promise<{
        args: unknown;
    } | {
        refusal: CallToolResult;
    }>;
};
export declare function checkedInput(tool: string, input: Input | undefined): CheckedInput;
