/** A tool's input, declared with zod or as JSON Schema: the schema that clients see, and the validation of arguments. */

import {
  getParseErrorMessage,
  normalizeObjectSchema,
  objectFromShape,
  safeParseAsync,
  type AnySchema,
  type SchemaOutput,
  type ShapeOutput,
  type ZodRawShapeCompat,
} from '@modelcontextprotocol/sdk/server/zod-compat.js';
import { toJsonSchemaCompat } from '@modelcontextprotocol/sdk/server/zod-json-schema-compat.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';

import { isRecord } from './envelope.ts';
import { messageOf } from './errors.ts';
import { error, missingRequiredArgs } from './result.ts';

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
export type Args<I> = [I] extends [undefined]
  ? Record<string, never>
  : I extends { type: 'object'; parse?: never }
    ? Record<string, unknown>
    : I extends AnySchema
      ? SchemaOutput<I>
      : I extends ZodRawShapeCompat
        ? ShapeOutput<I>
        : never;

export type CheckedInput = {
  schema: JsonSchema;
  /** Returns valid arguments, with zod's defaults and conversions, or a result that describes what is wrong. */
  check(args: Record<string, unknown>): Promise<{ args: unknown } | { refusal: CallToolResult }>;
};

export function checkedInput(tool: string, input: Input | undefined): CheckedInput {
  if (input === undefined || (isRecord(input) && Object.keys(input).length === 0)) {
    return zodInput(tool, objectFromShape({}));
  }
  if (isJsonSchema(input)) {
    return jsonSchemaInput(tool, input);
  }
  const zod = normalizeObjectSchema(input);
  if (zod === undefined) {
    throw new TypeError(
      `the input of \`${tool}\` must be an object: a zod object, the fields of one, or a JSON Schema with ` +
        "`type: 'object'`",
    );
  }
  return zodInput(tool, zod);
}

function isJsonSchema(input: Input): input is JsonSchema {
  return (input as { type?: unknown }).type === 'object' && !('_zod' in input) && !('_def' in input);
}

function zodInput(tool: string, zod: AnySchema): CheckedInput {
  // The dialect costs a model tokens and tells it nothing.
  const { $schema: _, ...listed } = toJsonSchemaCompat(zod as never);
  const schema: JsonSchema = { type: 'object', ...listed };
  // By default zod drops arguments that it does not know, so that a misspelt one would seem to be passed.
  const isClosed = isRecord(schema.properties) && schema.additionalProperties === undefined;
  const known = Object.keys(schema.properties ?? {});
  return {
    schema: isClosed ? { ...schema, additionalProperties: false } : schema,
    async check(args) {
      const unknown = isClosed ? Object.keys(args).find((name) => !known.includes(name)) : undefined;
      if (unknown !== undefined) {
        const names = known.length === 0 ? 'it takes none' : `it takes ${known.map((name) => `\`${name}\``).join(', ')}`;
        return { refusal: refusal(tool, [], `unknown argument \`${unknown}\`; ${names}`) };
      }
      const parsed = await safeParseAsync(zod, args);
      if (parsed.success) {
        return { args: parsed.data };
      }
      const issues = (parsed.error as { issues?: { path: PropertyKey[] }[] }).issues ?? [];
      const isMissing = ({ path }: { path: PropertyKey[] }) => path.length === 1 && !(path[0]! in args);
      const missing = issues.every(isMissing) ? issues.map(({ path }) => String(path[0])) : [];
      return { refusal: refusal(tool, missing, getParseErrorMessage(parsed.error)) };
    },
  };
}

function jsonSchemaInput(tool: string, schema: JsonSchema): CheckedInput {
  let validate;
  try {
    validate = new AjvJsonSchemaValidator().getValidator<Record<string, unknown>>(schema as never);
  } catch (thrown) {
    throw new TypeError(`the JSON Schema of \`${tool}\` cannot be used: ${messageOf(thrown)}`);
  }
  return {
    schema,
    async check(args) {
      const checked = validate(args);
      if (checked.valid) {
        return { args };
      }
      const missing = (schema.required ?? []).filter((name) => !(name in args));
      return { refusal: refusal(tool, missing, checked.errorMessage) };
    },
  };
}

function refusal(tool: string, missing: string[], message: string): CallToolResult {
  const said = `invalid arguments for \`${tool}\`: ${message}`;
  return missing.length > 0 ? missingRequiredArgs(missing, said) : error(said);
}
